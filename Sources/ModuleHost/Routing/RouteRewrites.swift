/// The slatefile's rewrites, which are applied to URLs before they are matched.
///
/// Of several that match a URL, the most specific is applied, as among routes.
struct RouteRewrites: Sendable {
    /// The largest number of rewrites applied to one URL.
    static let limit = 8

    private struct Rule: Sendable {
        let target: RewriteTarget
        let binding: RouteBinding
    }

    private var trie = RouteTrie()
    private var roots: [String: RouteTrie.NodeIndex] = [:]
    private var rules: [Rule] = []

    var isEmpty: Bool { rules.isEmpty }

    init() {}

    init(_ rewrites: [RouteRewrite]) throws(RouteError) {
        for rewrite in rewrites { try add(rewrite) }
    }

    mutating func add(_ rewrite: RouteRewrite) throws(RouteError) {
        func invalid(_ error: RouteError.RewriteError) -> RouteError {
            .rewrite(from: rewrite.from, to: rewrite.to, error)
        }
        let pattern: RoutePattern
        do throws(RoutePatternError) {
            pattern = try RoutePattern(rewrite.from)
        } catch {
            throw .pattern(error)
        }
        guard let scheme = pattern.scheme else { throw invalid(.relative) }
        let root = roots[scheme] ?? trie.makeRoot()
        roots[scheme] = root
        let target: RewriteTarget
        do throws(RouteError.RewriteError) {
            target = try RewriteTarget(rewrite.to, of: pattern)
        } catch {
            throw invalid(error)
        }
        for variant in pattern.variants {
            let isRest = variant.segments.last == .rest
            let path = isRest ? variant.segments.dropLast() : variant.segments
            let node = trie.makeNode(path, from: root)
            guard trie.variant(at: node, isRest: isRest) < 0 else { throw invalid(.repeated) }
            trie.set(Int32(rules.count), at: node, isRest: isRest)
            rules.append(Rule(target: target, binding: variant.binding))
        }
    }

    /// Returns the error of a rewrite whose URLs do not end, with an `x` for each name; nil where they end.
    func circle(from rewrite: RouteRewrite) -> RouteError? {
        guard let pattern = try? RoutePattern(rewrite.from),
            let target = try? RewriteTarget(rewrite.to, of: pattern),
            let url = try? target.example
        else { return nil }
        do throws(RouteError) {
            _ = try apply(to: url)
            return nil
        } catch {
            if case .rewriteLoop = error { return error }
            return nil
        }
    }

    /// Applies the rewrites to a URL.
    ///
    /// - Throws: ``RouteError/rewriteLoop(_:)`` where the rewrites do not end, and
    ///   ``RouteError/malformed(_:)`` where the result exceeds the limits of a URL.
    func apply(to url: RouteURL) throws(RouteError) -> RouteURL {
        var url = url
        var seen = [url.withoutQuery]
        while let rule = rule(for: url) {
            if seen.count > Self.limit { throw .rewriteLoop(seen) }
            do throws(RouteURLError) {
                url = try rule.target.url(RouteParameters(url, rule.binding, first: 0), from: url)
            } catch {
                throw .malformed(error)
            }
            seen.append(url.withoutQuery)
        }
        return url
    }

    private func rule(for url: RouteURL) -> Rule? {
        guard let root = roots[url.scheme] else { return nil }
        let found = trie.withView { view in
            url.withBytes { bytes in
                RouteSearch.with(view, bytes) { search in
                    search.begin(at: root)
                    return search.next()
                }
            }
        }
        return found < 0 ? nil : rules[Int(found)]
    }
}

/// The target of a rewrite: a URL with names in it.
///
/// A name stands for a value where `:name` is a whole segment, is followed by a dot in a segment, or is a
/// whole value of the query; `*name` as the last segment stands for the segments of a catch-all.
private struct RewriteTarget: Sendable {
    private enum Piece: Sendable {
        case text(String)
        case value(name: String)
        case rest(name: String)
    }

    private var pieces: [Piece] = []
    private var queryNames: [String] = []
    private var hasQuery = false
    private var fragment: String

    init(_ text: String, of pattern: RoutePattern) throws(RouteError.RewriteError) {
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
        try check(pattern)
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

    /// Checks that every form of the pattern binds the names, and that the result is a URL.
    private mutating func check(_ pattern: RoutePattern) throws(RouteError.RewriteError) {
        for piece in pieces {
            let name: String
            let isRest: Bool
            switch piece {
            case .text: continue
            case .value(let value): (name, isRest) = (value, false)
            case .rest(let rest): (name, isRest) = (rest, true)
            }
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

    private func text(_ values: (String) -> [String]) -> String {
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

    /// Returns the URL for these values.
    ///
    /// The query of the former URL is kept, except items that the target has itself and items with a name of
    /// the pattern; its fragment is kept, too, unless the target has one.
    func url(_ parameters: RouteParameters, from url: RouteURL) throws(RouteURLError) -> RouteURL {
        var text = text { parameters.values(of: $0) ?? [] }
        let bound = parameters.boundNames
        var hasQuery = hasQuery
        for (item, written) in zip(url.query, url.writtenItems) {
            if queryNames.contains(where: { isSameText($0, item.name) })
                || bound.contains(where: { isSameText($0, item.name) })
            {
                continue
            }
            text += (hasQuery ? "&" : "?") + written
            hasQuery = true
        }
        text += fragment.isEmpty ? url.fragment.map { "#\($0)" } ?? "" : fragment
        return try RouteURL(text)
    }
}
