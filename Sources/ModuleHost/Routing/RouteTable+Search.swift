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
            entry: variant.entry, url: url,
            parameters: RouteParameters(url, variant.binding, first: found.first))
    }

    /// - Parameters:
    ///   - filter: For patterns that are matched from the first segment on.
    ///   - second: For patterns that are matched from the second on.
    @inline(__always)
    private func find<F: RouteFilter>(
        _ view: RouteTrie.View, _ url: RouteURL, _ bytes: URLBytes,
        _ spans: UnsafeBufferPointer<URLSpan>, _ root: RouteTrie.NodeIndex?, _ filter: F,
        _ second: F
    ) -> Found? {
        var search = RouteSearch(
            trie: view, bytes: bytes,
            segments: UnsafeBufferPointer(rebasing: spans[..<url.segmentCount]),
            isFirstFolded: url.hasAuthority, filter: filter)
        if let root { return search.find(from: root).map { ($0, 0) } }

        let schemeText = UnsafeBufferPointer(rebasing: bytes.text[..<url.schemeEnd])
        let scheme = number(of: SegmentBytes(schemeText), below: schemeNames, view)
        if scheme >= 0 {
            if let found = search.find(from: schemeTable[Int(scheme)].root) { return (found, 0) }
            if schemeTable[Int(scheme)].isApp {
                if url.hasAuthority, let module = module(view, bytes.bytes(of: spans[0])) {
                    search.segments = UnsafeBufferPointer(rebasing: spans[1..<url.segmentCount])
                    search.isFirstFolded = false
                    search.filter = second
                    if let found = search.find(from: moduleRoots[module]) { return (found, 1) }
                    search.segments = UnsafeBufferPointer(rebasing: spans[..<url.segmentCount])
                    search.isFirstFolded = url.hasAuthority
                    search.filter = filter
                } else {
                    for root in moduleRoots {
                        if let found = search.find(from: root) { return (found, 0) }
                    }
                }
            }
        }
        guard let fallbackRoot else { return nil }
        return search.find(from: fallbackRoot).map { ($0, 0) }
    }

    /// The module whose id is the URL's authority.
    func module(namedBy url: RouteURL) -> Int? {
        guard url.hasAuthority, let authority = url.spans.first else { return nil }
        return trie.withView { view in
            url.withBytes { module(view, $0.bytes(of: authority)) }
        }
    }

    @inline(__always)
    private func module(_ view: RouteTrie.View, _ name: UnsafeBufferPointer<UInt8>) -> Int? {
        let number = number(of: SegmentBytes(name), below: moduleNames, view)
        return number < 0 ? nil : Int(number)
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
