/// The routes of an app by module and action: where a call by name looks.
struct ActionTable {
    private var trie = RouteTrie()
    private var modules = RouteTrie.none
    private var entries: [RouteTable.Entry?] = []

    init() { modules = trie.makeRoot() }

    /// Adds a route under its action.
    ///
    /// - Throws: ``RouteError/repeatedAction(_:of:)`` where the module has one of that name; nothing is
    ///   added then.
    mutating func add(_ entry: RouteTable.Entry) throws(RouteError) {
        let node = trie.makeNode(Self.path(of: entry), from: modules)
        guard trie.variant(at: node, isRest: false) < 0 else {
            throw .repeatedAction(entry.route.action, of: entry.module)
        }
        trie.set(Int32(entries.count), at: node, isRest: false)
        entries.append(entry)
    }

    mutating func remove(_ entry: RouteTable.Entry) {
        guard let node = trie.node(Self.path(of: entry), from: modules) else { return }
        let index = trie.variant(at: node, isRest: false)
        guard index >= 0, entries[Int(index)] === entry else { return }
        entries[Int(index)] = nil
        trie.set(RouteTrie.none, at: node, isRest: false)
    }

    private static func path(of entry: RouteTable.Entry) -> [RoutePattern.Segment] {
        [.literal(Array(entry.module.text.utf8)), .literal(Array(entry.route.action.utf8))]
    }

    /// The route of an action, or nil.
    ///
    /// Two looks into one hash table, without a copy of either name.
    func find(_ module: String, _ action: String) -> RouteTable.Entry? {
        var (module, action) = (module, action)
        return module.withUTF8 { module in
            action.withUTF8 { action in
                trie.withView { view in
                    let node = view.firstChild(
                        SegmentBytes(module), of: modules, folding: false)
                    guard node >= 0 else { return nil }
                    let leaf = view.child(SegmentBytes(action), of: node)
                    guard leaf >= 0 else { return nil }
                    let index = view.nodes[Int(leaf)].route
                    return index < 0 ? nil : entries[Int(index)]
                }
            }
        }
    }
}
