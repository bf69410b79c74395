import ModuleHostMetrics

/// The main module of the app, which counts what is sold.
final class ShopModule: RootProvider, MessageResponder {
    let root: String? = nil
    let topics = ["shop.sold"]
    private var sold = 0

    init(context: ModuleContext) {}

    func receive(_ message: Message) { sold += 1 }
}
