// error: call to global actor 'ReplyMustBeEncodable'-isolated initializer 'init(_:action:access:summary:handler:)' in a synchronous nonisolated context
import ModuleHost

struct Picture: Sendable { var width = 1 }

// A reply that cannot be encoded would be `null`, since Swift may discard the result of a closure of one expression.
final class Shop: RoutedModule {
    static var routes: [Route<Shop>] {
        [
            Route("width") { (module, call) in module.picture().width },
            Route("show") { (module, call) in _ = module.picture() },
            Route("close") { (module, call) in module.next?.close() },
            Route("picture") { (module, call) in module.picture() },  // refused
        ]
    }

    var next: Shop?

    init(context: ModuleContext) {}

    func picture() -> Picture { Picture() }
    func close() {}
}
