import ModuleHostCore
import TestSupport

/// Keeps the latest prices of a stream, as docs/modules.md shows it.
final class TickerModule: RunningModule, RoutedModule {
    struct Price: Sendable {
        var symbol: String
        var value: Int
    }

    struct Symbol: Decodable {
        var symbol: String
    }

    /// The stream that the next module reads.
    static let input = LockedList<AsyncStream<Price>.Continuation>()

    private let prices: AsyncStream<Price>
    private var latest: [String: Int] = [:]

    init(context: ModuleContext) {
        let (prices, input) = AsyncStream<Price>.makeStream()
        self.prices = prices
        Self.input.append(input)
    }

    static var routes: [Route<TickerModule>] {
        [
            Route("price/:symbol", access: .public) { (module, request: Symbol, call) in
                module.latest[request.symbol]
            }
        ]
    }

    func run(isolation: isolated any Actor) async throws {
        for await price in prices {  // waits off the lane
            latest[price.symbol] = price.value  // in the module
        }
    }
}
