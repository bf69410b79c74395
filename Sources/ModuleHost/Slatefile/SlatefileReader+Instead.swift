/// URLs that are opened instead of failed modules.
extension SlatefileReader {
    mutating func instead(_ node: Int) -> InsteadURL? {
        guard let text = url(node) else { return nil }
        do throws(RouteError.RewriteError) {
            return try InsteadURL(text)
        } catch {
            report(.instead(error), at: node)
            return nil
        }
    }

    /// Reports URLs that lead back to the module that they stand in for, also by way of others.
    mutating func checkInstead(of slatefile: Slatefile) {
        // A rewrite that cannot be applied is reported.
        guard !insteadNodes.isEmpty, let rewrites = try? RouteRewrites(slatefile.rewrites) else {
            return
        }
        let urls = slatefile.insteadURLs
        // By id in lower case: the module to which the URL of each leads.
        var next: [String: ModuleID] = [:]
        let ids = Dictionary(
            urls.keys.map { ($0.text.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        for (module, instead) in urls {
            guard let example = instead.example, let url = try? rewrites.apply(to: example),
                slatefile.schemes.contains(url.scheme),
                let target = url.authority.flatMap({ ids[$0.lowercased()] })
            else { continue }
            next[module.text] = target
        }
        let nodes = Dictionary(insteadNodes, uniquingKeysWith: { first, _ in first })
        var visited: Set<ModuleID> = []
        for (module, _) in insteadNodes {
            var chain: [ModuleID] = []
            var places: [ModuleID: Int] = [:]
            var id: ModuleID? = module
            while let current = id, !visited.contains(current) {
                if let start = places[current], let node = nodes[current] {
                    let circle = chain[start...] + [current]
                    report(.insteadInCircle(circle.map(\.text)), at: node)
                    break
                }
                places[current] = chain.count
                chain.append(current)
                id = next[current.text]
            }
            visited.formUnion(chain)
        }
    }
}

extension Slatefile {
    /// The `instead` of each enabled module that has one.
    var insteadURLs: [ModuleID: InsteadURL] {
        var urls: [ModuleID: InsteadURL] = [:]
        for module in modules where module.isEnabled {
            if let instead = module.instead { urls[module.id] = instead }
        }
        return urls
    }
}
