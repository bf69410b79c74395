import ModuleHost

/// What keeps the community from its work, without a word of what users wrote.
enum CommunityError: Error, Hashable, CustomStringConvertible {
    /// Neither the module's settings nor the app's have a domain.
    case noDomain
    /// The saved state is something else.
    case broken(String)
    /// The saved state could not be read at start-up.
    case notRead(String)
    /// A message lacks a member of its payload.
    case message(topic: String, needs: String)
    /// Somebody posts, and nobody is signed in.
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
        case .nobodySignedIn: "message 'user.posted' comes from nobody: no user is signed in"
        }
    }
}

/// A web site as settings give it: `https://www.example.com`.
struct WebSite: Decodable, Hashable, Sendable {
    /// The address, without a slash at the end.
    let address: String

    /// Reads a web site from settings.
    ///
    /// - Parameter decoder: Where to read from.
    /// - Throws: Where it is no string, or no address on the web.
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        let text = try value.decode(String.self)
        let scheme = URLParts(text)?.scheme.lowercased()
        guard scheme == "https" || scheme == "http", URLParts(text)?.segments.isEmpty == false
        else {
            throw DecodingError.dataCorruptedError(
                in: value, debugDescription: "a web site is given as https://www.example.com")
        }
        address = text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}
