/// An error of the community, without any text of users.
enum CommunityError: Error, Hashable, CustomStringConvertible {
    /// Neither the module's settings nor the app's have a domain.
    case noDomain
    /// The saved state has another content.
    case broken(String)
    /// The saved state could not be read.
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
        case .notRead(let path): "'\(path)' could not be read, so nothing is changed"
        case .message(let topic, let key):
            "message '\(topic)' needs a \"\(key)\" in its payload: a string, not empty"
        case .empty(let name): "'\(name)' cannot be empty"
        case .nobodySignedIn: "cannot post: no user is signed in"
        }
    }
}
