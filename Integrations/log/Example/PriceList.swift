import Logging

// A library as people have them: it takes a logger, and does not know of ModuleHost.

/// The prices of a shop.
struct PriceList {
    let logger: Logger

    /// Returns the price of a fruit, in cents.
    func price(of fruit: String) -> Int {
        logger.info("price asked for", metadata: ["fruit": "\(fruit)"])
        return fruit.count * 10
    }
}
