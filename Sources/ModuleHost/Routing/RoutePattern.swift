/// A pattern of the URLs that a route answers, such as `user/:name/posts`.
///
/// | part | means |
/// |---|---|
/// | `word` | a literal segment, compared after decoding |
/// | `:name` | one segment, bound to `name` |
/// | `:name<int>` | one segment that reads as the type: `int`, `uuid`, `date` |
/// | `:name.html` | one segment that ends in `.html`; the rest, not empty, is bound to `name` |
/// | `*` or `*name`, last | zero or more segments, bound to `name`, or to `*` |
/// | `(…)` | an optional group, 8 at most |
/// | `?name=:name&…`, last | query parameters, for the URI document only |
///
/// A relative pattern belongs to its module; an absolute one begins with `scheme://`, and `scheme://` alone
/// is `scheme://*`. Characters with a meaning in patterns are escaped to stand for themselves: `%3A`, `%2A`,
/// `%28`, `%29`.
public struct RoutePattern: Sendable {
    static let groupLimit = 8

    /// The pattern as it was written.
    public let text: String
    /// The scheme in lower case; nil of a relative pattern.
    public let scheme: String?
    /// The names that the path binds, in order; `*` for a catch-all without a name.
    public let names: [String]
    /// The query parameters that the pattern declares, in order.
    public let queryNames: [String]
    /// The variants of the pattern with its groups expanded: the longest first, each once.
    let variants: [Variant]

    /// Parses a pattern.
    ///
    /// - Parameter text: The pattern.
    /// - Throws: The first error, with its place.
    public init(_ text: String) throws(RoutePatternError) {
        var parser = RoutePatternParser(text)
        try parser.parse()
        self.text = text
        scheme = parser.scheme
        names = parser.names
        queryNames = parser.queryNames
        variants = parser.variants
    }

    /// Whether the pattern begins with a scheme.
    public var isAbsolute: Bool { scheme != nil }

    /// A pattern without groups.
    struct Variant: Sendable {
        let segments: [Segment]
        let binding: RouteBinding
    }

    /// The condition on one segment of a URL; a `rest` stands for all remaining segments.
    enum Segment: Hashable, Sendable {
        case literal([UInt8])
        case placeholder(suffix: [UInt8], SegmentType?)
        case rest

        var isLiteral: Bool {
            if case .literal = self { true } else { false }
        }

        /// Whether it takes any text.
        var takesAny: Bool {
            switch self {
            case .literal: false
            case .placeholder(let suffix, let type): suffix.isEmpty && type == nil
            case .rest: true
            }
        }
    }
}

extension RoutePattern: Hashable, CustomStringConvertible {
    /// Returns whether both are written alike.
    public static func == (one: RoutePattern, other: RoutePattern) -> Bool {
        one.text == other.text
    }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// The pattern as it was written.
    public var description: String { text }
}

/// The binding of the names of a pattern to segments.
///
/// Every part of a pattern but the last takes exactly one segment, so this is known before any URL is
/// matched.
@usableFromInline
final class RouteBinding: Sendable {
    struct Placeholder: Hashable, Sendable {
        let name: String
        /// The segment, counted from the pattern's first.
        let segment: Int
        /// The number of bytes at its end that are not part of the value.
        let suffixCount: Int
        /// The hash of the name, compared first: most names that are looked up are others.
        private let hash: UInt64

        init(name: String, segment: Int, suffixCount: Int) {
            self.name = name
            self.segment = segment
            self.suffixCount = suffixCount
            hash = name.withUTF8Bytes { SegmentBytes($0).exactHash }
        }

        @inline(__always)
        func isNamed(_ other: SegmentBytes, _ otherHash: UInt64) -> Bool {
            hash == otherHash
                && name.withUTF8Bytes { SegmentBytes($0).equals(other, folding: false) }
        }
    }

    let placeholders: [Placeholder]
    /// The placeholder of the catch-all, from its segment on; nil where there is none.
    let rest: Placeholder?

    init(placeholders: [Placeholder], rest: Placeholder?) {
        self.placeholders = placeholders
        self.rest = rest
    }

    /// The names, in the order of the pattern.
    var names: [String] { placeholders.map(\.name) + (rest.map { [$0.name] } ?? []) }
}
