import ModuleHost

/// Knows the prices, in a process of its own: if it crashes, the shop goes on.
///
/// The process is started when the first price is asked for.
final class PriceModule: RoutedModule, ConfiguredModule {
    struct Configuration: Decodable, Sendable { var prices: [String: Int] }

    struct Item: Decodable, Sendable { var name: String }

    struct Unknown: Error, CustomStringConvertible {
        let name: String
        var description: String { "there is no '\(name)' in this shop" }
    }

    private let prices: [String: Int]

    init(context: ModuleContext) throws {
        prices = try context.config(Configuration.self).prices
    }

    static var routes: [Route<PriceModule>] {
        [
            Route(
                "price/:name", action: "price", access: .public, summary: "The price of an item."
            ) {
                (module, item: Item, call) in
                guard let price = module.prices[item.name] else { throw Unknown(name: item.name) }
                return price
            }
        ]
    }
}

extension Mediator {
    /// Returns the price of an item.
    func price(of name: String) throws -> Int {
        try perform(
            "com.example.prices", "price", RouteParameters(["name": name]), as: Int.self)
    }
}
