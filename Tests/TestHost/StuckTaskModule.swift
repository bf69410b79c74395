import Glibc
public import ModuleHost

/// A module whose asynchronous handler does not return after it was suspended.
public final class StuckTaskModule: RoutedModule {
    /// - Parameter context: It needs none.
    public init(context: ModuleContext) {}

    /// `stick` never returns, and `process` replies with the id of its process.
    public static var routes: [Route<StuckTaskModule>] {
        [
            Route("stick", access: .public) { (module, call) async throws -> Int in
                await Task.yield()
                while true { pause() }
            },
            Route("process", access: .public) { (module, call) in Int(getpid()) },
        ]
    }
}
