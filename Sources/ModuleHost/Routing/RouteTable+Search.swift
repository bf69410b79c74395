extension RouteTable {
    /// Finds the route that answers a URL: rewrites, absolute patterns, the module that the URL names
    /// or else each module in turn, the fallback.
    ///
    /// - Parameters:
    ///   - url: The URL, without its token.
    ///   - mayAnswer: Asked of each candidate, the best first, until it says yes.
    /// - Returns: The route, or nil where none may answer.
    /// - Throws: ``RouteError/rewriteLoop(_:)``.
    package func match(
        _ url: RouteURL, where mayAnswer: ((Index, RouteParameters) -> Bool)? = nil
    ) throws(RouteError) -> Match? {
        let url = rewrites.isEmpty ? url : try rewrites.apply(to: url)
        guard let (variant, first) = search(url, mayAnswer), let variant = variants[Int(variant)],
            let entry = entries[variant.entry]
        else { return nil }
        return Match(
            index: Index(number: variant.entry), entry: entry, url: url,
            parameters: RouteParameters(url, variant.binding, first: first))
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
        path: String, of module: ModuleID,
        where mayAnswer: ((Index, RouteParameters) -> Bool)? = nil
    ) throws(RouteError) -> Match? {
        guard let position = modules.firstIndex(of: module) else { return nil }
        let url: RouteURL
        do throws(URLFault) {
            url = try RouteURL("\(schemes.first ?? "app"):///\(path)")
        } catch {
            throw .malformed(error)
        }
        let found = withSearch(url, first: 0, mayAnswer) { $0.find(from: moduleRoots[position]) }
        guard let found, let variant = variants[Int(found)], let entry = entries[variant.entry]
        else { return nil }
        return Match(
            index: Index(number: variant.entry), entry: entry, url: url,
            parameters: RouteParameters(url, variant.binding, first: 0))
    }

    @inline(__always)
    private func search(
        _ url: RouteURL, _ mayAnswer: ((Index, RouteParameters) -> Bool)?
    ) -> (RouteTrie.VariantIndex, first: Int)? {
        let scheme = scheme(of: url)
        if let scheme,
            let found = withSearch(url, first: 0, mayAnswer, { $0.find(from: scheme.root) })
        {
            return (found, 0)
        }
        if scheme?.isApp == true {
            if let module = module(namedBy: url) {
                let found = withSearch(url, first: 1, mayAnswer) {
                    $0.find(from: moduleRoots[module])
                }
                if let found { return (found, 1) }
            } else {
                let found = withSearch(url, first: 0, mayAnswer) {
                    search -> RouteTrie.VariantIndex? in
                    for root in moduleRoots {
                        if let found = search.find(from: root) { return found }
                    }
                    return nil
                }
                if let found { return (found, 0) }
            }
        }
        guard let fallback, let position = modules.firstIndex(of: fallback) else { return nil }
        return withSearch(url, first: 0, mayAnswer) { $0.find(from: moduleRoots[position]) }
            .map { ($0, 0) }
    }

    private func scheme(of url: RouteURL) -> Scheme? {
        let number = trie.withView { view in
            url.withBytes { bytes in
                name(SegmentBytes(.init(rebasing: bytes.text[..<url.schemeEnd])), schemeNames, view)
            }
        }
        return number < 0 ? nil : schemeTable[Int(number)]
    }

    /// The module whose id is the URL's authority.
    func module(namedBy url: RouteURL) -> Int? {
        guard url.hasAuthority, let authority = url.spans.first else { return nil }
        let number = trie.withView { view in
            url.withBytes { name(SegmentBytes($0.bytes(of: authority)), moduleNames, view) }
        }
        return number < 0 ? nil : Int(number)
    }

    @inline(__always)
    private func name(
        _ name: SegmentBytes, _ root: RouteTrie.NodeIndex, _ view: RouteTrie.View
    ) -> Int32 {
        let node = view.firstChild(name, of: root, folding: true)
        return node < 0 ? RouteTrie.none : view.nodes[Int(node)].route
    }

    @inline(__always)
    private func withSearch<Result>(
        _ url: RouteURL, first: Int, _ mayAnswer: ((Index, RouteParameters) -> Bool)?,
        _ body: (RouteSearch) -> Result
    ) -> Result {
        trie.withView { view in
            url.withBytes { bytes in
                url.spans.withUnsafeBufferPointer { spans in
                    body(
                        RouteSearch(
                            trie: view, bytes: bytes,
                            segments: UnsafeBufferPointer(
                                rebasing: spans[first..<url.segmentCount]),
                            isFirstFolded: first == 0 && url.hasAuthority,
                            mayAnswer: { variant in
                                guard let mayAnswer else { return true }
                                guard let variant = variants[Int(variant)] else { return false }
                                return mayAnswer(
                                    Index(number: variant.entry),
                                    RouteParameters(url, variant.binding, first: first))
                            }))
                }
            }
        }
    }
}
