/// A pattern of URLs and the URL that replaces the matching ones: an element of the slatefile's `rewrites`.
package struct RouteRewrite: Hashable, Sendable {
    /// The pattern.
    package internal(set) var from: String
    /// The replacement of a URL that matches the pattern.
    package internal(set) var to: String
}
