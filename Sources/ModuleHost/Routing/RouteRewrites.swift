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

extension RewriteTarget {
    /// Returns the URL for these values.
    ///
    /// The query of the former URL is kept, except items that the target has itself and items with a name of
    /// the pattern; its fragment is kept, too, unless the target has one.
    fileprivate func url(_ parameters: RouteParameters, from url: RouteURL) throws(RouteURLError)
        -> RouteURL
    {
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
