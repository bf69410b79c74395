import ModuleHost

/// A page of the community, as a URL names it.
///
/// `slate://com.mm.community/userInfo?style=1`, or without the module's id `slate://userInfo?style=1`;
/// likewise `slate://com.mm.community/user/mia/posts`. A module claims URLs by itself only while there
/// is no router: typed routes will take the place of this.
enum CommunityPage: Hashable {
    case userInfo(style: String)
    case posts(author: String)

    /// The page that a URL names; nil where it names none.
    init?(_ url: String, of module: ModuleID) {
        guard let parts = URLParts(url), parts.scheme.lowercased() == "slate" else { return nil }
        let isQualified = parts.segments.first?.lowercased() == module.text.lowercased()
        let path = parts.segments.dropFirst(isQualified ? 1 : 0).map(String.init)
        switch path.count {
        case 1 where path[0] == "userInfo":
            self = .userInfo(style: parts.value(of: "style").map(String.init) ?? "1")
        // Nothing is decoded here, so a name that needs it is nobody's.
        case 3 where path[0] == "user" && path[2] == "posts" && !path[1].contains("%"):
            self = .posts(author: path[1])
        default: return nil
        }
    }

    /// Where the page is on the web.
    ///
    /// - Parameter domain: The web site, such as `https://www.example.com`.
    /// - Returns: The page's address on it.
    func address(on domain: String) -> String {
        switch self {
        case .userInfo(let style): "\(domain)/userInfo?style=\(style)"
        case .posts(let author): "\(domain)/user/\(author)/posts"
        }
    }
}
