import ModuleHost

/// An error of the community, without any text of users.
enum CommunityError: Error, Hashable, CustomStringConvertible {
    /// Neither the module's settings nor the app's have a domain.
    case noDomain
    /// The saved state has another content.
    case broken(String)
    /// The saved state could not be read at start-up.
    case notRead(String)
    /// A message lacks a member of its payload.
    case message(topic: String, needs: String)
    /// A call has no name or no text.
    case empty(String)
    /// A post was sent while no user is signed in.
    case nobodySignedIn

    var description: String {
        switch self {
        case .noDomain:
            "no \"domain\": give one in this module's config or the app's, "
                + "such as \"https://www.example.com\""
        case .broken(let path):
            "'\(path)' is not what this module saved; put '\(path).bak' in its place, or remove it"
        case .notRead(let path): "'\(path)' could not be read at start-up, so nothing is changed"
        case .message(let topic, let key):
            "message '\(topic)' needs a \"\(key)\" in its payload: a string, not empty"
        case .empty(let name): "'\(name)' cannot be empty"
        case .nobodySignedIn: "cannot post: no user is signed in"
        }
    }
}

/// A web site from the settings, such as `https://www.example.com`.
struct WebSite: Decodable, Hashable, Sendable {
    /// The address, without a slash at the end.
    let address: String

    /// Reads a web site from settings.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: An error where it is not a string, or not an address on the web.
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        let text = try value.decode(String.self)
        guard let url = try? RouteURL(text), ["https", "http"].contains(url.scheme),
            url.authority != nil, url.query.isEmpty, url.fragment == nil
        else {
            throw DecodingError.dataCorruptedError(
                in: value, debugDescription: "a web site is given as https://www.example.com")
        }
        address =
            url.withoutQuery.hasSuffix("/")
            ? String(url.withoutQuery.dropLast()) : url.withoutQuery
    }

    /// Returns the address of a page.
    ///
    /// - Parameters:
    ///   - path: The page's path, with names for the values to fill in, as in a route's pattern.
    ///   - values: Their values; those without a place in the path go into the query.
    /// - Returns: The address, with all values encoded.
    /// - Throws: ``RouteError`` for a value that cannot be part of a path: one that is empty, `.` or `..`.
    func address(of path: String, _ values: [String: String]) throws -> String {
        // The first segment of an absolute pattern is its authority.
        let base = "x://x"
        let pattern = try RoutePattern("\(base)/\(path)")
        let url = try pattern.url(RouteParameters(values), queryNames: Array(values.keys))
        return address + url.dropFirst(base.count)
    }
}
