extension RouteTable {
    /// Asked of a candidate: whether it may answer.
    package typealias Filter = (Entry, RouteParameters) -> Bool

    /// Finds the route that answers a URL: rewrites, absolute patterns, the module that the URL names
    /// or else each module in turn, the fallback.
    ///
    /// - Parameters:
    ///   - url: The URL, without its token.
    ///   - mayAnswer: Asked of each candidate, the best first, until it says yes.
    /// - Returns: The route, or nil where none may answer.
    /// - Throws: ``RouteError/rewriteLoop(_:)``.
    package func match(_ url: RouteURL, where mayAnswer: Filter? = nil) throws(RouteError) -> Match?
    {
        let url = rewrites.isEmpty ? url : try rewrites.apply(to: url)
        return match(url, below: nil, mayAnswer)
    }

    /// Finds a route of one module by a path, whatever the URLs that lead there.
    ///
    /// - Parameters:
    ///   - path: The path below the module, as in a URL, such as `userInfo?style=1`.
    ///   - module: The module.
    ///   - mayAnswer: Asked of each candidate, the best first, until it says yes.
    /// - Returns: The route, or nil where none may answer.
    /// - Throws: ``RouteError/malformed(_:)`` for a path that no URL can have.
    package func match(
        path: String, of module: ModuleID, where mayAnswer: Filter? = nil
    ) throws(RouteError) -> Match? {
        guard let position = modules.firstIndex(of: module) else { return nil }
        do throws(URLFault) {
            let url = try RouteURL("\(schemes.first ?? "app"):///\(path)")
            return match(url, below: moduleRoots[position], mayAnswer)
        } catch {
            throw .malformed(error)
        }
    }

    private typealias Found = (variant: RouteTrie.VariantIndex, first: Int)

    /// The search below one root, or in the order of the dialect.
    private func match(
        _ url: RouteURL, below root: RouteTrie.NodeIndex?, _ mayAnswer: Filter?
    ) -> Match? {
        let found: Found? = trie.withView { view in
            url.withBytes { bytes in
                url.spans.withUnsafeBufferPointer { spans in
                    guard let mayAnswer else {
                        return find(view, url, bytes, spans, root, EveryRoute(), EveryRoute())
                    }
                    return variants.withUnsafeBufferPointer { variants in
                        find(
                            view, url, bytes, spans, root,
                            AskedRoute(variants: variants, url: url, first: 0, ask: mayAnswer),
                            AskedRoute(variants: variants, url: url, first: 1, ask: mayAnswer))
                    }
                }
            }
        }
        guard let found, let variant = variants[Int(found.variant)] else { return nil }
        return Match(
            entry: variant.entry,
            parameters: RouteParameters(url, variant.binding, first: found.first))
    }

    /// The search; `filter` is for patterns that are matched from the first segment on, `second` for
    /// those from the second on.
    @inline(__always)
    private func find<F: RouteFilter>(
        _ view: RouteTrie.View, _ url: RouteURL, _ bytes: URLBytes,
        _ spans: UnsafeBufferPointer<URLSpan>, _ root: RouteTrie.NodeIndex?, _ filter: F,
        _ second: F
    ) -> Found? {
        let search = RouteSearch(
            trie: view, bytes: bytes,
            segments: UnsafeBufferPointer(rebasing: spans[..<url.segmentCount]),
            isFirstFolded: url.hasAuthority, filter: filter)
        if let root { return search.find(from: root).map { ($0, 0) } }

        let schemeText = UnsafeBufferPointer(rebasing: bytes.text[..<url.schemeEnd])
        let scheme = number(of: SegmentBytes(schemeText), below: schemeNames, view)
        let hash = search.firstHash
        if scheme >= 0 {
            let scheme = schemeTable[Int(scheme)]
            if scheme.routeCount > 0, let found = search.find(from: scheme.root, hash) {
                return (found, 0)
            }
            if scheme.isApp, let module = module(view, url, bytes, hash) {
                var inner = search
                inner.segments = UnsafeBufferPointer(rebasing: spans[1..<url.segmentCount])
                inner.isFirstFolded = false
                inner.filter = second
                if let found = inner.find(from: moduleRoots[module]) { return (found, 1) }
            } else if scheme.isApp {
                for root in moduleRoots {
                    if let found = search.find(from: root, hash) { return (found, 0) }
                }
            }
        }
        guard let fallbackRoot else { return nil }
        return search.find(from: fallbackRoot, hash).map { ($0, 0) }
    }

    /// The module whose id is the URL's authority.
    func module(namedBy url: RouteURL) -> Int? {
        trie.withView { view in
            url.withBytes { bytes in
                guard let authority = url.spans.first else { return nil }
                return module(view, url, bytes, SegmentBytes(bytes.bytes(of: authority)).foldedHash)
            }
        }
    }

    @inline(__always)
    private func module(
        _ view: RouteTrie.View, _ url: RouteURL, _ bytes: URLBytes, _ firstHash: UInt64
    ) -> Int? {
        guard url.hasAuthority else { return nil }
        let name = SegmentBytes(bytes.bytes(of: url.spans[0]))
        let node = view.firstChild(name, firstHash, of: moduleNames)
        return node < 0 ? nil : Int(view.nodes[Int(node)].route)
    }

    @inline(__always)
    private func number(
        of name: SegmentBytes, below root: RouteTrie.NodeIndex, _ view: RouteTrie.View
    ) -> Int32 {
        let node = view.firstChild(name, of: root, folding: true)
        return node < 0 ? RouteTrie.none : view.nodes[Int(node)].route
    }
}

/// Asks the caller of each candidate.
private struct AskedRoute: RouteFilter {
    let variants: UnsafeBufferPointer<RouteTable.Variant?>
    let url: RouteURL
    let first: Int
    let ask: RouteTable.Filter

    func mayAnswer(_ variant: RouteTrie.VariantIndex) -> Bool {
        guard let variant = variants[Int(variant)] else { return false }
        return ask(variant.entry, RouteParameters(url, variant.binding, first: first))
    }
}
