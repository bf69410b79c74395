import ModuleHostTracing

/// The main module of the app, which says when its cart has changed.
final class CartModule: RootProvider, RoutedModule {
    let root: String? = nil
    private let context: ModuleContext
    private var items = 0

    init(context: ModuleContext) { self.context = context }

    static var routes: [Route<CartModule>] {
        [Route("add") { (module, _) in try module.add() }]
    }

    private func add() throws -> Int {
        items += 1
        try context.post("cart.changed")
        return items
    }
}
