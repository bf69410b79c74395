// error: cannot convert '@Sendable (Feed, RouteCall) async throws -> Int' to 'nonisolated(nonsending) @Sendable (Feed, RouteCall) async throws -> Int'
import ModuleHost

// An asynchronous handler runs in its module: with a capture list, Swift 6.3 takes it for one that runs anywhere.
final class Feed: RoutedModule {
    static var routes: [Route<Feed>] {
        let limit = 3
        return [
            Route("a") { (module, call) async throws -> Int in module.length + limit },
            Route("b") { [limit] (m, call) async throws -> Int in limit - m.length },  // refused
        ]
    }

    var length = 0

    init(context: ModuleContext) {}
}
