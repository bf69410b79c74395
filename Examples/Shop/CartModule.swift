import ModuleHost

/// Keeps the cart of the user who has signed in, on the disk too.
final class CartModule: RoutedModule, MessageResponder, BackgroundResponder {
    struct Item: Decodable, Sendable { var name: String }

    struct Cart: Codable, Equatable, Sendable {
        var user: String
        var items: [String]
        var total: Int
    }

    struct NobodySignedIn: Error, CustomStringConvertible {
        var description: String { "sign in first: shop://login/NAME" }
    }

    let topics = ["user.signed-in"]
    private let context: ModuleContext
    private var cart: Cart?

    init(context: ModuleContext) { self.context = context }

    static var routes: [Route<CartModule>] {
        [
            Route("add/:name", access: .public, summary: "Puts an item into the cart.") {
                (module, item: Item, call) in
                try module.add(item.name)
            },
            Route("cart", access: .public, summary: "The cart.") { (module, call) in
                guard let cart = module.cart else { throw NobodySignedIn() }
                return cart
            },
        ]
    }

    func receive(_ message: Message) throws {
        guard let session = try message.payload?.decode(LoginModule.Session.self) else { return }
        cart = Cart(user: session.user, items: [], total: 0)
    }

    private func add(_ name: String) throws -> Cart {
        guard var cart else { throw NobodySignedIn() }
        // A call of a module in another process is a call like any other.
        cart.total += try context.mediator.price(of: name)
        cart.items.append(name)
        self.cart = cart
        return cart
    }

    func didEnterBackground() throws {
        guard let cart else { return }
        let lines = cart.items.map { "\($0)\n" }.joined()
        try writeFile(lines.utf8, to: "\(context.stateDirectory)/cart.txt")
    }
}
