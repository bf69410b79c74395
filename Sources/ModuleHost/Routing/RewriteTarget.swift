import AppService

/// The target of a rewrite, or of a failed module's `instead`: a URL with names in it.
///
/// A name stands for a value where `:name` is a whole segment, is followed by a dot in a segment, or is a
/// whole value of the query; `*name` as the last segment stands for the segments of a catch-all.
struct RewriteTarget: Sendable {
    private enum Piece: Sendable {
        case text(String)
        case value(name: String)
        case rest(name: String)
    }

    private var pieces: [Piece] = []
    private(set) var queryNames: [String] = []
    private(set) var hasQuery = false
    let fragment: String

    /// - Parameters:
    ///   - text: The URL.
    ///   - pattern: The pattern that binds the names; nil where they are known with a call alone.
    /// - Throws: ``RouteError/RewriteError``.
    init(_ text: String, of pattern: RoutePattern?) throws(RouteError.RewriteError) {
        let utf8 = text.utf8
        let fragmentStart = utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        let queryStart = utf8[..<fragmentStart].firstIndex(of: UInt8(ascii: "?")) ?? fragmentStart
        fragment = String(text[fragmentStart...])
        for (index, segment) in Self.split(text[..<queryStart], at: "/").enumerated() {
            if index > 0 { append("/") }
            // The first is the scheme, the second the text between the slashes.
            if index > 1 { append(segment: segment) } else { append(String(segment)) }
        }
        if queryStart < fragmentStart {
            hasQuery = true
            append("?")
            let query = text[utf8.index(after: queryStart)..<fragmentStart]
            for (index, item) in Self.split(query, at: "&").enumerated() {
                if index > 0 { append("&") }
                append(item: item)
            }
        }
        if let pattern { try checkNames(pattern) }
        try checkURL()
    }

    private static func split(_ text: Substring, at separator: Unicode.Scalar) -> [Substring] {
        text.utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false)
            .map { Substring($0) }
    }

    private mutating func append(_ text: String) {
        if case .text(let before) = pieces.last {
            pieces[pieces.count - 1] = .text(before + text)
        } else {
            pieces.append(.text(text))
        }
    }

    private mutating func append(segment: Substring) {
        switch segment.utf8.first {
        case UInt8(ascii: ":"):
            let name = Substring(segment.utf8.dropFirst().prefix { $0 != UInt8(ascii: ".") })
            pieces.append(.value(name: String(name)))
            append(String(Substring(segment.utf8.dropFirst(1 + name.utf8.count))))
        case UInt8(ascii: "*"):
            let name = Substring(segment.utf8.dropFirst())
            pieces.append(.rest(name: name.isEmpty ? "*" : String(name)))
        default: append(String(segment))
        }
    }

    private mutating func append(item: Substring) {
        let name = Substring(item.utf8.prefix { $0 != UInt8(ascii: "=") })
        let value = Substring(item.utf8.dropFirst(name.utf8.count + 1))
        if value.utf8.first == UInt8(ascii: ":"), value.utf8.count > 1 {
            append("\(name)=")
            pieces.append(.value(name: String(Substring(value.utf8.dropFirst()))))
        } else {
            append(String(item))
        }
    }

    /// The names that stand for a value, and those that stand for the segments of a catch-all.
    var names: [(name: String, isRest: Bool)] {
        pieces.compactMap { piece in
            switch piece {
            case .text: nil
            case .value(let name): (name, false)
            case .rest(let name): (name, true)
            }
        }
    }

    /// Checks that every form of the pattern binds the names.
    private func checkNames(_ pattern: RoutePattern) throws(RouteError.RewriteError) {
        for (name, isRest) in names {
            let isBound = pattern.variants.allSatisfy { variant in
                isRest
                    ? variant.binding.rest?.name == name
                    : variant.binding.placeholders.contains { $0.name == name }
            }
            if !isBound {
                throw .unboundName(
                    name, nearest: nearestName(to: name, in: pattern.names.filter { $0 != name }))
            }
        }
    }

    /// Checks that the result is a URL.
    private mutating func checkURL() throws(RouteError.RewriteError) {
        do throws(RouteURLError) {
            queryNames = try example.query.map(\.name)
        } catch {
            throw .target(error)
        }
        if queryNames.contains("token") { throw .token }
    }

    /// The URL with an `x` for each name.
    var example: RouteURL {
        get throws(RouteURLError) { try RouteURL(text { _ in ["x"] } + fragment) }
    }

    /// Returns the URL with these values for its names, without the fragment.
    func text(_ values: (String) -> [String]) -> String {
        var bytes: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .text(let text): bytes += text.utf8
            case .value(let name), .rest(let name):
                for (index, value) in values(name).enumerated() {
                    if index > 0 { bytes.append(UInt8(ascii: "/")) }
                    bytes.append(percentEncoding: value.utf8)
                }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
