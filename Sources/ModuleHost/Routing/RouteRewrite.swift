/// A pattern of URLs and the URL that replaces those that match: an element of the slatefile's `rewrites`.
public struct RouteRewrite: Hashable, Sendable {
    /// The pattern.
    public internal(set) var from: String
    /// The replacement of a URL that matches the pattern.
    public internal(set) var to: String
}
