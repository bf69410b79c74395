import ModuleHostTracing

/// A module that reserves what is in the cart, in a span of its own.
final class StockModule: MessageResponder {
    let topics = ["cart.changed"]
    private let context: ModuleContext
    private var reserved = 0

    init(context: ModuleContext) { self.context = context }

    func receive(_ message: Message) {
        withSpan("reserve", context: context.serviceContext) { _ in reserved += 1 }
    }
}
