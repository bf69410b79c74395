extension RouteTable {
    /// The contents of a table.
    struct Contents: Sendable {
        /// One pattern without groups.
        struct Variant: Sendable {
            /// The route; nil where it was removed.
            var entry: Entry?
            let binding: RouteBinding
            /// Whether its first segment is a placeholder or a catch-all that takes any text.
            let takesAnyFirst: Bool
        }

        /// The roots of the names by which a search begins.
        struct Roots: Sendable {
            /// The schemes by name: `route` is the root of a scheme's absolute patterns if it has any, and `rest`
            /// is set if it is one of the app's.
            fileprivate(set) var schemeNames = RouteTrie.none
            /// The node of the app's first scheme.
            fileprivate(set) var firstScheme = RouteTrie.none
            /// The first segments that mean something, in lower case: `route` is the root of the module that has
            /// such an id; `rest` the list of the modules that have a relative pattern with this literal at its
            /// start and, of this node itself, of those that have a pattern without a literal there.
            ///
            /// The next literals of a pattern lead to shorter lists where such a list is long.
            fileprivate(set) var firstNames = RouteTrie.none
            /// The root of the fallback.
            fileprivate(set) var fallback = RouteTrie.none
        }

        let schemes: [String]
        private(set) var modules: [ModuleID] = []
        /// The index of each module in ``modules``.
        private var positions: [ModuleID: Int32] = [:]
        let fallback: ModuleID?
        let rewrites: RouteRewrites

        /// The routes of each module, by its position, in the order in which they were added.
        private(set) var entriesByModule: [[Entry]] = []
        /// The number of routes that were ever added.
        private var added = 0
        private(set) var variants: [Variant] = []
        private var removedVariants = 0
        /// The routes whose patterns begin with a literal or a suffix that has a dot.
        private var dottedStarts = DottedStarts()
        private(set) var trie = RouteTrie()
        private(set) var roots = Roots()
        private(set) var moduleRoots: [RouteTrie.NodeIndex] = []
        /// Lists of modules, by the literals at the start of their patterns.
        private(set) var moduleLists = ModuleLists()
        /// The number of modules in a list for more of which the next literal counts as well.
        private static let longList = 8

        init(
            schemes: [String] = [], modules: [ModuleID] = [], fallback: ModuleID? = nil,
            rewrites: RouteRewrites = RouteRewrites()
        ) {
            self.schemes = schemes
            self.fallback = fallback
            self.rewrites = rewrites
            self.modules.reserveCapacity(modules.count)
            positions.reserveCapacity(modules.count)
            makeRoots()
            trie.reserveCapacity(
                names: modules.count, bytes: modules.reduce(0) { $0 + $1.text.utf8.count })
            moduleRoots.reserveCapacity(modules.count)
            entriesByModule.reserveCapacity(modules.count)
            for module in modules { append(module) }
        }

        private mutating func makeRoots() {
            trie = RouteTrie()
            moduleLists = ModuleLists()
            moduleRoots = []
            roots = Roots()
            roots.schemeNames = trie.makeRoot()
            roots.firstNames = trie.makeRoot()
            for scheme in schemes { trie.set(0, at: name(ofScheme: scheme), isRest: true) }
            roots.firstScheme = schemes.first.map { name(ofScheme: $0) } ?? RouteTrie.none
            for module in modules { makeRoot(of: module) }
        }

        private mutating func makeRoot(of module: ModuleID) {
            let name = firstName(Array(module.text.utf8))
            let root = trie.makeRoot()
            // Of ids that differ in case only, the first is found.
            if trie.variant(at: name, isRest: false) < 0 { trie.set(root, at: name, isRest: false) }
            moduleRoots.append(root)
            if module == fallback { roots.fallback = root }
        }

        mutating func append(_ module: ModuleID) {
            if positions[module] == nil { positions[module] = Int32(modules.count) }
            modules.append(module)
            entriesByModule.append([])
            makeRoot(of: module)
        }

        /// Returns a module's place in the order of the slatefile.
        func position(of module: ModuleID) -> Int? { positions[module].map(Int.init) }

        /// Returns the node of a scheme's name.
        private mutating func name(ofScheme scheme: String) -> RouteTrie.NodeIndex {
            trie.makeNode([.literal(Array(scheme.utf8))], from: roots.schemeNames)
        }

        /// Returns the node of a first segment.
        private mutating func firstName(_ name: [UInt8]) -> RouteTrie.NodeIndex {
            trie.makeNode([.literal(folded(name))], from: roots.firstNames)
        }

        private mutating func root(of entry: Entry) -> RouteTrie.NodeIndex {
            guard let scheme = entry.route.pattern.scheme else {
                return moduleRoots[entry.position]
            }
            let name = name(ofScheme: scheme)
            let root = trie.variant(at: name, isRest: false)
            if root >= 0 { return root }
            let new = trie.makeRoot()
            trie.set(new, at: name, isRest: false)
            return new
        }

        @inline(__always)
        func withView<Result>(_ body: (View) -> Result) -> Result {
            trie.withView { trie in
                variants.withUnsafeBufferPointer { variants in
                    moduleLists.items.withUnsafeBufferPointer { modules in
                        body(
                            View(
                                trie: trie, variants: variants, listedModules: modules, roots: roots
                            ))
                    }
                }
            }
        }

        /// Returns whether a pattern begins with a URL's authority: a relative one, or an absolute one of the
        /// URL's scheme.
        ///
        /// - Parameters:
        ///   - url: The URL, which has an authority.
        ///   - isReachable: Returns whether the caller could reach a route.
        /// - Returns: Whether there is one that the caller could reach.
        func hasPattern(beginningLike url: URLBytes, where isReachable: (Entry) -> Bool) -> Bool {
            let scheme = folded(Array(url.scheme.bytes))
            return dottedStarts.contains(folded(Array(url[0].bytes)), scheme) {
                entry($0).map(isReachable) ?? false
            }
        }

        // MARK: Routes

        /// All routes, in the order of the modules.
        var entries: some Sequence<Entry> { entriesByModule.joined() }

        func entry(_ index: Index) -> Entry? {
            place(of: index).map { entriesByModule[index.position][$0] }
        }

        /// Returns the place of a route among those of its module.
        private func place(of index: Index) -> Int? {
            guard entriesByModule.indices.contains(index.position) else { return nil }
            let entries = entriesByModule[index.position]
            let place = entries.partitioningIndex { $0.index.number >= index.number }
            return place < entries.count && entries[place].index == index ? place : nil
        }

        mutating func add(
            _ route: AnyRoute, of module: ModuleID
        ) throws(RouteError) -> Index {
            guard let position = position(of: module) else {
                throw .unknownModule(module)
            }
            let index = Index(position: position, number: added)
            let entry = Entry(index: index, module: module, route: route, position: position)
            let root = root(of: entry)
            for variant in route.pattern.variants {
                let (path, isRest) = Self.path(variant)
                guard let node = trie.node(path, from: root) else { continue }
                let other = trie.variant(at: node, isRest: isRest)
                guard other >= 0, let owner = variants[Int(other)].entry
                else { continue }
                throw .conflict(
                    route.pattern.text, of: module, with: owner.route.pattern.text,
                    ofModule: owner.module)
            }
            added += 1
            entriesByModule[position].append(entry)
            insert(entry, root)
            return index
        }

        mutating func remove(_ index: Index) -> Entry? {
            guard let place = place(of: index) else { return nil }
            let entry = entriesByModule[index.position].remove(at: place)
            let root = root(of: entry)
            for variant in entry.route.pattern.variants {
                let (path, isRest) = Self.path(variant)
                guard let node = trie.node(path, from: root) else { continue }
                variants[Int(trie.variant(at: node, isRest: isRest))].entry = nil
                trie.set(RouteTrie.none, at: node, isRest: isRest)
                removedVariants += 1
            }
            dottedStarts.remove(entry)
            // Unused nodes are kept until as many routes were removed as a rebuild costs steps.
            if removedVariants > 64, removedVariants * 2 > variants.count + modules.count {
                rebuild()
            }
            return entry
        }

        private mutating func rebuild() {
            makeRoots()
            variants = []
            removedVariants = 0
            dottedStarts = DottedStarts()
            for entry in entries { insert(entry, root(of: entry)) }
        }

        private mutating func insert(_ entry: Entry, _ root: RouteTrie.NodeIndex) {
            dottedStarts.add(entry)
            for variant in entry.route.pattern.variants {
                let (path, isRest) = Self.path(variant)
                let node = trie.makeNode(path, from: root)
                if !entry.route.pattern.isAbsolute { list(entry.position, path) }
                trie.set(Int32(variants.count), at: node, isRest: isRest)
                variants.append(
                    Variant(
                        entry: entry, binding: variant.binding,
                        takesAnyFirst: variant.segments.first?.takesAny ?? false))
            }
        }

        /// Adds a module to a list that each URL for its pattern leads to: the first that is not long of those for
        /// the literals at the start, or the last.
        private mutating func list(_ module: Int, _ path: [RoutePattern.Segment]) {
            var node = roots.firstNames
            if case .literal(let literal) = path.first {
                node = firstName(literal)
                for segment in path.dropFirst() {
                    guard segment.isLiteral, moduleLists.count(at: node) >= Self.longList,
                        !moduleLists.contains(module, at: node)
                    else { break }
                    node = trie.makeNode(segment, from: node, isFirst: false)
                }
            }
            guard !moduleLists.contains(module, at: node) else { return }
            let first = moduleLists.insert(module, moduleRoots[module], at: node)
            trie.set(first, at: node, isRest: true)
        }

        private static func path(
            _ variant: RoutePattern.Variant
        ) -> (path: [RoutePattern.Segment], isRest: Bool) {
            variant.segments.last == .rest
                ? (variant.segments.dropLast(), true) : (variant.segments, false)
        }
    }
}
