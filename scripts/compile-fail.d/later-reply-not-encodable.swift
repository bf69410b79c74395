// error: call to global actor 'ReplyMustBeEncodable'-isolated initializer 'init(_:action:access:summary:deadline:when:handler:)' in a synchronous nonisolated context
import ModuleHost

struct Picture: Sendable { var width = 1 }
struct Size: Decodable, Sendable { var width: Int }

// A reply that comes later is `Encodable & Sendable`, too.
final class Shop: RoutedModule {
    static var routes: [Route<Shop>] {
        [
            Route("width") { (m, s: Size, c) async throws in try await m.picture(s).width },
            Route("close") { (m, s: Size, c) async throws in try await m.next?.close() },
            Route("picture") { (m, s: Size, c) async throws in try await m.picture(s) },  // refused
        ]
    }

    var next: Shop?

    init(context: ModuleContext) {}

    nonisolated(nonsending) func picture(_ size: Size) async throws -> Picture { Picture() }
    nonisolated(nonsending) func close() async throws {}
}
