/// A URL that was parsed and is well-formed: its parts, decoded.
///
/// `scheme://authority/path?query#fragment`. The authority is the first segment; the segments of
/// the path follow, empty ones left out. Each segment, name and value is percent-decoded exactly
/// once, after the URL was cut into them, so that `%2F` never splits.
///
/// The text is kept unchanged; a part without an escape is a range in it. An immutable value, and a class so
/// that passing it on counts only one reference.
public final class RouteURL: Sendable {
    /// The limits of a URL.
    enum Limits {
        static let bytes = 8192
        static let segments = 64
        static let items = 256
    }

    /// The URL as it was written.
    public let text: String
    /// The parts of the URL.
    private let parts: URLReader.Parts

    /// The decoded bytes of all encoded parts, one after the other.
    var decoded: [UInt8] { parts.decoded }
    /// The segments, then name and value of each query item.
    var spans: URLSpans { parts.spans }
    /// The end of the scheme in the text.
    var schemeEnd: Int { parts.schemeEnd }
    /// The end of the path in the text.
    var pathEnd: Int { parts.pathEnd }
    /// The end of the query in the text: the fragment begins there, if there is one.
    var queryEnd: Int { parts.queryEnd }
    /// The number of spans that are segments.
    var segmentCount: Int { parts.segmentCount }
    /// Whether the first segment is an authority.
    var hasAuthority: Bool { parts.hasAuthority }

    /// Parses a URL.
    ///
    /// - Parameter text: The URL: at most 8192 bytes, 64 segments and 256 query items.
    /// - Throws: The first error, with its place.
    public init(_ text: String) throws(RouteURLError) {
        var parts = URLReader.Parts()
        if let error = URLReader.read(text, into: &parts) { throw error }
        self.text = text
        self.parts = parts
    }

    /// Parses a URL from any bytes.
    ///
    /// - Parameter bytes: The URL in UTF-8.
    /// - Throws: The first error, with its place.
    public convenience init(bytes: [UInt8]) throws(RouteURLError) {
        // Before the bytes are searched for invalid UTF-8.
        if bytes.count > Limits.bytes {
            throw RouteURLError(.tooLong(bytes: bytes.count), at: Limits.bytes)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw RouteURLError(.invalidUTF8, at: invalidUTF8Offset(in: bytes) ?? 0)
        }
        try self.init(text)
    }

    /// The scheme, in lower case.
    public var scheme: String { text(0, schemeEnd).lowercased() }

    /// The authority, decoded and as it was written; nil where there is none.
    public var authority: String? { hasAuthority ? string(spans[0]) : nil }

    /// The authority, if there is one, and the segments of the path, decoded.
    public var segments: [String] { (0..<segmentCount).map { string(parts.spans[$0]) } }

    /// The query items, decoded, in order.
    ///
    /// An empty text between two `&` is not an item; an item without `=` has the empty string as its value.
    public var query: [(name: String, value: String)] {
        stride(from: segmentCount, to: parts.spans.count, by: 2).map {
            (string(parts.spans[$0]), string(parts.spans[$0 + 1]))
        }
    }

    /// The fragment as it was written, still encoded; nil where there is none.
    public var fragment: String? {
        queryEnd < text.utf8.count ? text(queryEnd + 1, text.utf8.count) : nil
    }

    /// Scheme, authority and path as they were written: for messages that must not show a value of the query.
    public var withoutQuery: String { text(0, pathEnd) }

    /// Returns the text between two offsets that stand at delimiters.
    func text(_ start: Int, _ end: Int) -> String {
        let utf8 = text.utf8
        let from = utf8.index(utf8.startIndex, offsetBy: start)
        return String(text[from..<utf8.index(from, offsetBy: end - start)])
    }

    func string(_ span: URLSpan) -> String {
        withBytes { $0.text(of: span) }
    }

    /// Calls a closure with the bytes of the parts.
    @inline(__always)
    func withBytes<Result>(_ body: (URLBytes) -> Result) -> Result {
        text.withUTF8Bytes { text in
            parts.decoded.withUnsafeBufferPointer { decoded in
                parts.spans.withUnsafeBufferPointer { spans in
                    body(
                        URLBytes(
                            text: text, decoded: decoded, spans: spans, schemeEnd: parts.schemeEnd,
                            segmentCount: parts.segmentCount, hasAuthority: parts.hasAuthority))
                }
            }
        }
    }
}

extension RouteURL: CustomStringConvertible {
    /// The URL as it was written.
    public var description: String { text }
}

/// A part of a URL: a range in its text, or in the decoded bytes.
struct URLSpan: Hashable, Sendable {
    private let first: UInt16
    private let last: UInt16
    private static let decodedFlag: UInt16 = 0x8000

    @inline(__always)
    init(_ start: Int, _ end: Int, isDecoded: Bool = false) {
        first = UInt16(truncatingIfNeeded: start) | (isDecoded ? Self.decodedFlag : 0)
        last = UInt16(truncatingIfNeeded: end)
    }

    var isDecoded: Bool { first & Self.decodedFlag != 0 }
    var start: Int { Int(first & ~Self.decodedFlag) }
    var end: Int { Int(last) }

    /// Returns the range without its last bytes.
    func dropLast(_ count: Int) -> URLSpan { URLSpan(start, end - count, isDecoded: isDecoded) }
}

/// The parts of a URL in order: a list that allocates nothing for the number of parts of most URLs.
struct URLSpans: Sendable, RandomAccessCollection {
    private static let fewCount = 16

    private var few = InlineArray<16, URLSpan>(repeating: URLSpan(0, 0))
    /// All of them, once there are more than a few.
    private var many: [URLSpan] = []
    private(set) var count = 0

    @inline(__always)
    mutating func append(_ span: URLSpan) {
        if count < Self.fewCount { few[count] = span } else { appendToMany(span) }
        count &+= 1
    }

    private mutating func appendToMany(_ span: URLSpan) {
        if many.isEmpty {
            many.reserveCapacity(4 * Self.fewCount)
            for index in few.indices { many.append(few[index]) }
        }
        many.append(span)
    }

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    @inline(__always)
    subscript(index: Int) -> URLSpan { count <= Self.fewCount ? few[index] : many[index] }

    @inline(__always)
    func withUnsafeBufferPointer<Result>(
        _ body: (UnsafeBufferPointer<URLSpan>) -> Result
    ) -> Result {
        if count > Self.fewCount { return many.withUnsafeBufferPointer(body) }
        return few.span.withUnsafeBufferPointer {
            body(UnsafeBufferPointer(rebasing: $0[..<count]))
        }
    }
}

/// The bytes of a URL, borrowed, and its parts.
struct URLBytes {
    let text: UnsafeBufferPointer<UInt8>
    let decoded: UnsafeBufferPointer<UInt8>
    let spans: UnsafeBufferPointer<URLSpan>
    /// The end of the scheme in the text.
    let schemeEnd: Int
    /// The number of spans that are segments.
    let segmentCount: Int
    /// Whether the first segment is an authority.
    let hasAuthority: Bool

    var scheme: SegmentBytes {
        SegmentBytes(UnsafeBufferPointer(rebasing: text[..<schemeEnd]))
    }

    @inline(__always)
    func bytes(of span: URLSpan) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: (span.isDecoded ? decoded : text)[span.start..<span.end])
    }

    func text(of span: URLSpan) -> String { String(decoding: bytes(of: span), as: UTF8.self) }

    /// The bytes of one part.
    @inline(__always)
    subscript(index: Int) -> SegmentBytes { SegmentBytes(bytes(of: spans[index])) }
}

extension String {
    /// Calls a closure with the text in UTF-8.
    ///
    /// By its span: `withContiguousStorageIfAvailable` counts a reference to the text.
    @inline(__always)
    func withUTF8Bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        utf8.span.withUnsafeBufferPointer(body)
    }
}
