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

    /// Returns a URL after the rewrites.
    func rewritten(_ url: RouteURL) throws(RouteError) -> RouteURL {
        try contents.rewrites.apply(to: url)
    }

    /// Returns the id by which a URL names a module, after the rewrites; nil for a short URL.
    func moduleName(in url: RouteURL) throws(RouteError) -> String? {
        let url = try rewritten(url)
        guard contents.schemes.contains(url.scheme), storage.isModuleNamed(by: url) else {
            return nil
        }
        return url.authority
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
        guard contents.rewrites.isEmpty else {
            return match(
                try contents.rewrites.apply(to: url), below: nil, isReachable, mayAnswer)
        }
        return match(url, below: nil, isReachable, mayAnswer)
    }

    /// Searches below one root, or in the order of the dialect.
    func match(
        _ url: RouteURL, below root: RouteTrie.NodeIndex?,
        _ isReachable: (RouteTable.Entry) -> Bool, _ mayAnswer: RouteTable.Filter
    ) -> RouteTable.Match? {
        contents.withView { view in
            url.withBytes { bytes in
                RouteCandidates.withMemory(for: bytes) { memory in
                    search(url, bytes, below: root, view, memory, isReachable, mayAnswer)
                }
            }
        }
    }

    // Never inlined: the compiler copies the innermost closure above for memory on the stack and on the
    // heap, and for URLs of few and of many parts.
    @inline(never)
    private func search(
        _ url: RouteURL, _ bytes: URLBytes, below root: RouteTrie.NodeIndex?,
        _ view: RouteTable.Contents.View, _ memory: RouteCandidates.Memory,
        _ isReachable: (RouteTable.Entry) -> Bool, _ mayAnswer: RouteTable.Filter
    ) -> RouteTable.Match? {
        var candidates = RouteCandidates(bytes, below: root, view, memory)
        // Asked where the answer matters: it takes longer than the search.
        var isMisspelt: Bool?
        while true {
            let index = candidates.next()
            guard index >= 0 else { return nil }
            if candidates.isOfUnnamedModule, bytes.hasAuthority,
                view.variants[Int(index)].takesAnyFirst
            {
                let isExcluded = isMisspelt ?? isMisspeltID(bytes, isReachable)
                isMisspelt = isExcluded
                if isExcluded { continue }
            }
            guard let entry = view.variants[Int(index)].entry else { continue }
            let parameters = RouteParameters(
                url, view.variants[Int(index)].binding, first: candidates.first)
            guard mayAnswer(entry, parameters) else { continue }
            return RouteTable.Match(entry: entry, parameters: parameters)
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
        return contents.withView { view in
            url.withBytes { view.module(at: view.firstName($0[0], $0[0].foldedHash)) >= 0 }
        }
    }
}
