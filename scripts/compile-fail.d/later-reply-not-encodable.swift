// error: call to global actor 'ReplyMustBeEncodable'-isolated initializer 'init(_:action:access:summary:deadline:when:handler:)' in a synchronous nonisolated context
import ModuleHost

struct Picture: Sendable { var width = 1 }
struct Size: Decodable, Sendable { var width: Int }

// A reply that comes later is `Encodable & Sendable`, too.
final class Shop: RoutedModule {
    static var routes: [Route<Shop>] {
        [
            Route("width") { (module, size: Size, call) async throws in
                try await module.picture(size).width
            },
            Route("close") { (module, size: Size, call) async throws in
                try await module.next?.close()
            },
            Route("picture") { (module, size: Size, call) async throws in
                try await module.picture(size)
            },  // refused
        ]
    }

    var next: Shop?

    init(context: ModuleContext) {}

    nonisolated(nonsending) func picture(_ size: Size) async throws -> Picture { Picture() }
    nonisolated(nonsending) func close() async throws {}
}
