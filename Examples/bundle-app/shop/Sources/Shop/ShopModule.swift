import ModuleHost

/// The cart of the shop.
public final class ShopModule: RootProvider, RoutedModule {
    struct Item: Decodable, Sendable { var item: String }

    /// The URL that the app opens first.
    public let root: String? = nil
    private var items: [String] = []

    /// Creates the module.
    public init(context: ModuleContext) {}

    /// The calls of the module.
    public static var routes: [Route<ShopModule>] {
        [
            Route(
                "add/:item", action: "add", access: .public, summary: "Puts an item into the cart."
            ) {
                (module, request: Item, call) in
                module.items.append(request.item)
                return module.items
            }
        ]
    }
}
