import ModuleHostLogging

final class ShopModule: RootProvider {
    let root: String? = nil
    private let prices: PriceList

    init(context: ModuleContext) {
        prices = PriceList(logger: Logger(label: "prices", log: context.log))
    }
}

extension ShopModule: RoutedModule {
    struct Question: Decodable {
        let fruit: String
    }

    static var routes: [Route<ShopModule>] {
        [
            Route("price/:fruit", summary: "Tells a price in cents.") {
                (module, question: Question, call) in
                module.prices.price(of: question.fruit)
            }
        ]
    }
}
