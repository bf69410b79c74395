/// The routes of an app, and which of them answers a URL.
///
/// A value: who changes a copy does not disturb who searches in another. What may not be reached is
/// no candidate: the search asks of each whether it may answer.
package struct RouteTable: Sendable {
    /// A route's place in its table; it stays the same until the route is removed.
    package struct Index: Hashable, Sendable {
        let number: Int
    }

    /// A route of a module: a class, so that to hand one out is to count one reference.
    package final class Entry: Sendable {
        package let index: Index
        package let module: ModuleID
        package let route: AnyRoute
        /// Where it stands in the order of the slatefile.
        let position: Int

        init(index: Index, module: ModuleID, route: AnyRoute, position: Int) {
            self.index = index
            self.module = module
            self.route = route
            self.position = position
        }
    }

    /// The route that answers a URL.
    package struct Match: Sendable {
        package let entry: Entry
        /// What it is called with.
        package let parameters: RouteParameters

        /// The URL after the rewrites.
        package var url: RouteURL? { parameters.url }
    }

    /// One pattern without groups.
    struct Variant: Sendable {
        let entry: Entry
        let binding: RouteBinding
    }

    /// What is known of a scheme.
    struct Scheme: Sendable {
        let root: RouteTrie.NodeIndex
        var isApp: Bool
        /// How many absolute patterns it has, groups expanded.
        var routeCount = 0
    }

    /// The app's schemes, in lower case, the first of which builds URLs.
    package let schemes: [String]
    /// The modules, in the order of the slatefile.
    package private(set) var modules: [ModuleID]
    package let fallback: ModuleID?
    let rewrites: RouteRewrites

    private(set) var entries: [Entry?] = []
    private(set) var variants: [Variant?] = []
    private var removedVariants = 0
    private(set) var trie = RouteTrie()
    /// The nodes below which schemes and modules are found by name.
    private(set) var schemeNames = RouteTrie.none
    private(set) var moduleNames = RouteTrie.none
    private(set) var schemeTable: [Scheme] = []
    private(set) var moduleRoots: [RouteTrie.NodeIndex] = []
    private(set) var fallbackRoot: RouteTrie.NodeIndex?

    /// Creates a table without routes.
    ///
    /// - Parameters:
    ///   - schemes: The app's schemes.
    ///   - modules: The modules, in the order of the slatefile.
    ///   - fallback: The module that answers what nothing else does.
    ///   - rewrites: What is done to URLs before they are matched.
    /// - Throws: ``RouteError`` for a rewrite that cannot be applied.
    package init(
        schemes: [String], modules: [ModuleID], fallback: ModuleID? = nil,
        rewrites: [Slatefile.Rewrite] = []
    ) throws(RouteError) {
        self.init(
            schemes: schemes, modules: modules, fallback: fallback,
            rewrites: try RouteRewrites(rewrites))
    }

    init(schemes: [String], modules: [ModuleID], fallback: ModuleID?, rewrites: RouteRewrites) {
        self.schemes = schemes.map { $0.lowercased() }
        self.modules = modules
        self.fallback = fallback
        self.rewrites = rewrites
        makeRoots()
    }

    private mutating func makeRoots() {
        trie = RouteTrie()
        schemeTable = []
        moduleRoots = []
        schemeNames = trie.makeRoot()
        moduleNames = trie.makeRoot()
        for scheme in schemes { schemeTable[schemeNumber(scheme)].isApp = true }
        fallbackRoot = nil
        for module in modules { makeRoot(of: module) }
    }

    private mutating func makeRoot(of module: ModuleID) {
        let name = trie.makeNode([.literal(Array(module.text.utf8))], from: moduleNames)
        trie.set(Int32(moduleRoots.count), at: name, isRest: false)
        let root = trie.makeRoot()
        moduleRoots.append(root)
        if module == fallback { fallbackRoot = root }
    }

    /// Adds a module, behind the others.
    mutating func append(_ module: ModuleID) {
        modules.append(module)
        makeRoot(of: module)
    }

    private mutating func schemeNumber(_ scheme: String) -> Int {
        let name = trie.makeNode([.literal(Array(scheme.utf8))], from: schemeNames)
        let number = trie.variant(at: name, isRest: false)
        if number >= 0 { return Int(number) }
        schemeTable.append(Scheme(root: trie.makeRoot(), isApp: false))
        trie.set(Int32(schemeTable.count - 1), at: name, isRest: false)
        return schemeTable.count - 1
    }

    // MARK: Routes

    /// The routes, in the order of the slatefile and, of one module, in that of their adding.
    package var routes: [Entry] {
        entries.compactMap { $0 }.sorted {
            ($0.position, $0.index.number) < ($1.position, $1.index.number)
        }
    }

    package subscript(index: Index) -> Entry? {
        entries.indices.contains(index.number) ? entries[index.number] : nil
    }

    /// Adds a route.
    ///
    /// - Throws: ``RouteError/conflict(_:of:with:ofModule:)`` where a route answers the same URLs, in which
    ///   case nothing is added.
    @discardableResult
    package mutating func add(
        _ route: AnyRoute, of module: ModuleID
    ) throws(RouteError) -> Index {
        guard let position = modules.firstIndex(of: module) else {
            throw .unknownModule(module)
        }
        let index = Index(number: entries.count)
        let entry = Entry(index: index, module: module, route: route, position: position)
        let root = root(of: entry)
        for variant in route.pattern.variants {
            let (path, isRest) = Self.path(variant)
            guard let node = trie.node(path, from: root) else { continue }
            let other = trie.variant(at: node, isRest: isRest)
            guard other >= 0, let owner = variants[Int(other)]?.entry
            else { continue }
            throw .conflict(
                route.pattern.text, of: module, with: owner.route.pattern.text,
                ofModule: owner.module)
        }
        entries.append(entry)
        insert(entry, root)
        return index
    }

    /// Removes exactly one route; whatever else its patterns led to stays.
    ///
    /// - Returns: The route, or nil where it was removed before.
    @discardableResult
    package mutating func remove(_ index: Index) -> Entry? {
        guard let entry = self[index] else { return nil }
        entries[index.number] = nil
        let root = root(of: entry)
        for variant in entry.route.pattern.variants {
            let (path, isRest) = Self.path(variant)
            guard let node = trie.node(path, from: root) else { continue }
            variants[Int(trie.variant(at: node, isRest: isRest))] = nil
            trie.set(RouteTrie.none, at: node, isRest: isRest)
            removedVariants += 1
            if let scheme = entry.route.pattern.scheme {
                schemeTable[schemeNumber(scheme)].routeCount -= 1
            }
        }
        // What leads nowhere is left until it is more than what leads somewhere.
        if removedVariants > 64, removedVariants * 2 > variants.count { rebuild() }
        return entry
    }

    /// Removes the route of a module that has this pattern, as it was written.
    @discardableResult
    package mutating func remove(_ pattern: String, of module: ModuleID) -> Entry? {
        let index = entries.firstIndex {
            $0?.module == module && $0?.route.pattern.text == pattern
        }
        return index.flatMap { remove(Index(number: $0)) }
    }

    private mutating func rebuild() {
        makeRoots()
        variants = []
        removedVariants = 0
        for case let entry? in entries { insert(entry, root(of: entry)) }
    }

    private mutating func insert(_ entry: Entry, _ root: RouteTrie.NodeIndex) {
        for variant in entry.route.pattern.variants {
            let (path, isRest) = Self.path(variant)
            let node = trie.makeNode(path, from: root)
            if let scheme = entry.route.pattern.scheme {
                schemeTable[schemeNumber(scheme)].routeCount += 1
            }
            trie.set(Int32(variants.count), at: node, isRest: isRest)
            variants.append(Variant(entry: entry, binding: variant.binding))
        }
    }

    private mutating func root(of entry: Entry) -> RouteTrie.NodeIndex {
        guard let scheme = entry.route.pattern.scheme else { return moduleRoots[entry.position] }
        return schemeTable[schemeNumber(scheme)].root
    }

    private static func path(
        _ variant: RoutePattern.Variant
    ) -> (path: [RoutePattern.Segment], isRest: Bool) {
        variant.segments.last == .rest
            ? (variant.segments.dropLast(), true) : (variant.segments, false)
    }
}
