extension RouteTable {
    /// A function that decides whether a candidate may answer.
    package typealias Filter = (Entry, RouteParameters) -> Bool

    /// Finds the route that answers a URL: rewrites, absolute patterns, the module that the URL names
    /// or else each module in turn, the fallback.
    ///
    /// - Parameter url: The URL, without its token.
    /// - Returns: The route, or nil where there is none.
    /// - Throws: ``RouteError/rewriteLoop(_:)``.
    package func match(_ url: RouteURL) throws(RouteError) -> Match? {
        try match(url) { _, _ in true }
    }

    /// Finds the route that answers a URL, of those that may.
    ///
    /// - Parameters:
    ///   - url: The URL, without its token.
    ///   - isReachable: Returns whether the caller could reach a route with some parameters; called only for
    ///     routes whose patterns begin with an authority that has a dot and is not the id of a module.
    ///   - mayAnswer: Called for each candidate, the best first, until it returns true.
    /// - Returns: The route, or nil where none may answer.
    /// - Throws: ``RouteError/rewriteLoop(_:)``.
    package func match(
        _ url: RouteURL, reachable isReachable: (Entry) -> Bool = { _ in true },
        where mayAnswer: Filter
    ) throws(RouteError) -> Match? {
        try storage.match(url, isReachable, mayAnswer)
    }

    /// Finds a route of one module by a path, whatever the URLs that lead there.
    ///
    /// - Parameters:
    ///   - path: The path below the module, as in a URL, such as `userInfo?style=1`.
    ///   - module: The module.
    ///   - mayAnswer: Called for each candidate, the best first, until it returns true.
    /// - Returns: The route, or nil where none may answer.
    /// - Throws: ``RouteError/malformed(_:)`` for a path that is not valid in a URL.
    package func match(
        path: String, of module: ModuleID, where mayAnswer: Filter = { _, _ in true }
    ) throws(RouteError) -> Match? {
        guard let position = contents.position(of: module) else { return nil }
        do throws(RouteURLError) {
            let url = try RouteURL("\(schemes.first ?? "app"):///\(path)")
            return storage.match(
                url, below: contents.moduleRoots[position], { _ in true }, mayAnswer)
        } catch {
            throw .malformed(error)
        }
    }
}

// On the storage and not on its contents: a closure then keeps one reference instead of a dozen.
extension RouteTable.Storage {
    func match(
        _ url: RouteURL, _ isReachable: (RouteTable.Entry) -> Bool, _ mayAnswer: RouteTable.Filter
    ) throws(RouteError) -> RouteTable.Match? {
        let url = contents.rewrites.isEmpty ? url : try contents.rewrites.apply(to: url)
        return match(url, below: nil, isReachable, mayAnswer)
    }

    /// Searches below one root, or in the order of the dialect.
    func match(
        _ url: RouteURL, below root: RouteTrie.NodeIndex?,
        _ isReachable: (RouteTable.Entry) -> Bool, _ mayAnswer: RouteTable.Filter
    ) -> RouteTable.Match? {
        var match: RouteTable.Match?
        contents.withView { view in
            url.withBytes { bytes in
                let search = RouteSearch(
                    trie: view.trie, url: bytes, segmentCount: url.segmentCount,
                    isFirstFolded: url.hasAuthority)
                // The captures of this closure are retained again for every segment on the way, so none of
                // them is counted. The URL outlives the closure: the caller has it.
                let variants = view.variants
                let url = Unmanaged.passUnretained(url)
                _ = find(search, view, root, isReachable) { found in
                    guard let variant = variants[Int(found.variant)] else { return false }
                    let candidate = RouteTable.Match(
                        entry: variant.entry,
                        parameters: RouteParameters(
                            url.takeUnretainedValue(), variant.binding, first: found.first))
                    guard mayAnswer(candidate.entry, candidate.parameters) else { return false }
                    match = candidate
                    return true
                }
            }
        }
        return match
    }

    @inline(__always)
    private func find(
        _ search: RouteSearch, _ view: RouteTable.Contents.View, _ root: RouteTrie.NodeIndex?,
        _ isReachable: (RouteTable.Entry) -> Bool, _ mayAnswer: RouteSearch.Filter
    ) -> RouteSearch.Found? {
        let hash = search.firstHash
        if let root { return search.find(from: root, hash, mayAnswer) }

        let scheme = view.trie.firstChild(
            search.url.scheme, of: contents.schemeNames, folding: true)
        if scheme >= 0 {
            let scheme = view.trie.nodes[Int(scheme)]
            if scheme.route >= 0, let found = search.find(from: scheme.route, hash, mayAnswer) {
                return found
            }
            if scheme.rest >= 0 {
                let module = search.isFirstFolded ? module(search.url[0], hash, view.trie) : nil
                guard let module else {
                    // The fallback is among the modules: another search in it would find nothing.
                    return search.isFirstFolded && isMisspeltID(search.url, isReachable)
                        ? findBeginning(search, view, hash, mayAnswer)
                        : findInModules(search, view, hash, mayAnswer)
                }
                var inner = search
                inner.first = 1
                inner.isFirstFolded = false
                let found = inner.find(from: module, inner.firstHash, mayAnswer)
                if let found { return found }
            }
        }
        guard let fallbackRoot = contents.fallbackRoot else { return nil }
        return search.find(from: fallbackRoot, hash, mayAnswer)
    }

    /// Searches module by module, and only in those that have a pattern for the first segment.
    @inline(__always)
    private func findInModules(
        _ search: RouteSearch, _ view: RouteTable.Contents.View, _ hash: UInt64,
        _ mayAnswer: RouteSearch.Filter
    ) -> RouteSearch.Found? {
        var literal = RouteTrie.none
        if search.segmentCount > 0 {
            let name = view.trie.firstChild(search.url[0], hash, of: contents.firstLiterals)
            if name >= 0 { literal = view.trie.nodes[Int(name)].route }
        }
        var open = view.trie.nodes[Int(contents.firstLiterals)].rest
        // Two lists in the order of the slatefile, merged.
        while true {
            let one = view.module(literal)
            let other = view.module(open)
            let isOne = (one?.position ?? .max) < (other?.position ?? .max)
            guard let next = isOne ? one : other else { return nil }
            if let one, one.position == next.position { literal = one.next }
            if let other, other.position == next.position { open = other.next }
            if let found = search.find(from: next.root, hash, mayAnswer) { return found }
        }
    }

    /// Searches for a pattern that begins with the authority, which can only be meant as the id of a module.
    private func findBeginning(
        _ search: RouteSearch, _ view: RouteTable.Contents.View, _ hash: UInt64,
        _ mayAnswer: RouteSearch.Filter
    ) -> RouteSearch.Found? {
        findInModules(search, view, hash) { found in
            view.variants[Int(found.variant)]?.takesAnyFirst == false && mayAnswer(found)
        }
    }

    /// Returns whether an authority that is not the id of a module can only be meant as one: it has a dot, and
    /// no pattern that the caller could reach begins with it.
    private func isMisspeltID(
        _ url: URLBytes, _ isReachable: (RouteTable.Entry) -> Bool
    ) -> Bool {
        url[0].bytes.contains(UInt8(ascii: "."))
            && !contents.hasPattern(beginningLike: url, where: isReachable)
    }

    /// Returns whether a URL's authority can only be meant as the id of a module, and is not one.
    func isModuleMisspelt(
        by url: RouteURL, where isReachable: (RouteTable.Entry) -> Bool
    ) -> Bool {
        guard url.hasAuthority, contents.schemes.contains(url.scheme), !isModuleNamed(by: url)
        else { return false }
        return url.withBytes { isMisspeltID($0, isReachable) }
    }

    /// Returns whether the URL's authority is a module's id.
    func isModuleNamed(by url: RouteURL) -> Bool {
        guard url.hasAuthority else { return false }
        return contents.trie.withView { view in
            url.withBytes { module($0[0], $0[0].foldedHash, view) != nil }
        }
    }

    /// Returns the root of the module that has this id.
    @inline(__always)
    private func module(
        _ name: SegmentBytes, _ hash: UInt64, _ view: RouteTrie.View
    ) -> RouteTrie.NodeIndex? {
        let node = view.firstChild(name, hash, of: contents.moduleNames)
        return node < 0 ? nil : view.nodes[Int(node)].route
    }
}
