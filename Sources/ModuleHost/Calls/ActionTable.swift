/// The routes of an app by module and action: where a call by name looks.
///
/// Belongs to the lane. A class, so that who looks something up copies none of its arrays.
final class ActionTable {
    private var trie = RouteTrie()
    private let modules: RouteTrie.NodeIndex
    private var routes: [BoundRoute?] = []

    init() { modules = trie.makeRoot() }

    /// Adds a route under its action.
    ///
    /// - Throws: ``RouteError/repeatedAction(_:of:)`` where the module has one of that name; nothing is
    ///   added then.
    func add(_ route: BoundRoute) throws(RouteError) {
        let node = trie.makeNode(Self.path(of: route.entry), from: modules)
        guard trie.variant(at: node, isRest: false) < 0 else {
            throw .repeatedAction(route.entry.route.action, of: route.entry.module)
        }
        trie.set(Int32(routes.count), at: node, isRest: false)
        routes.append(route)
    }

    /// Removes a route; one that is not there is ignored.
    func remove(_ entry: RouteTable.Entry) {
        guard let node = trie.node(Self.path(of: entry), from: modules) else { return }
        let index = trie.variant(at: node, isRest: false)
        guard index >= 0, routes[Int(index)]?.entry === entry else { return }
        routes[Int(index)] = nil
        trie.set(RouteTrie.none, at: node, isRest: false)
    }

    private static func path(of entry: RouteTable.Entry) -> [RoutePattern.Segment] {
        [.literal(Array(entry.module.text.utf8)), .literal(Array(entry.route.action.utf8))]
    }

    /// The route of an action, or nil.
    ///
    /// Two looks into one hash table, without a copy of either name.
    func find(_ module: String, _ action: String) -> BoundRoute? {
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
                    return index < 0 ? nil : routes[Int(index)]
                }
            }
        }
    }
}
