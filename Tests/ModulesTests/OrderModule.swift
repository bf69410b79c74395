import ModuleHostCore

/// A module whose answers come later, as docs/modules.md shows them.
final class OrderModule: RoutedModule {
    struct Order: Decodable, Sendable { var number: Int }

    static var routes: [Route<OrderModule>] {
        [
            Route("price/:number", access: .public, deadline: .seconds(10)) {
                (module, order: Order, call) async throws -> Int in
                if let known = module.prices[order.number] { return known }
                let price = try await Warehouse.price(of: order.number)  // off the lane
                module.prices[order.number] = price  // in the module again
                return price
            },
            Route("approval/:number", access: .public) {
                (module, order: Order, call, reply: Reply<String>) in
                module.waiting[order.number] = reply
            },
            Route("approve/:number", access: .public) { (module, order: Order, call) in
                module.waiting.removeValue(forKey: order.number)?.send("approved")
            },
        ]
    }

    private var prices: [Int: Int] = [:]
    private var waiting: [Int: Reply<String>] = [:]

    init(context: ModuleContext) {}

    func isWaiting(for number: Int) -> Bool { waiting[number] != nil }
}

/// What the module asks for prices.
enum Warehouse {
    struct Unknown: Error, CustomStringConvertible {
        var description: String { "there is no such order" }
    }

    @concurrent
    static func price(of number: Int) async throws -> Int {
        guard number > 0 else { throw Unknown() }
        return number * 3
    }
}
