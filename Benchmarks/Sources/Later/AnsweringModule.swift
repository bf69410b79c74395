public import ModuleHost

/// A module whose routes answer at once, later without a suspension, and when the benchmark lets them.
public final class AnsweringModule: RoutedModule, RootProvider {
    /// - Parameter context: It needs none.
    public init(context: ModuleContext) {}

    /// Nothing to show.
    public var root: String? { nil }

    /// `now`, `later`, and `wait`, which ends when ``Gates`` are opened.
    public static var routes: [Route<AnsweringModule>] {
        [
            Route("now", access: .public) { (module, call) in 1 },
            Route("later", access: .public) { (module, call) async throws -> Int in 1 },
            Route("wait", deadline: .seconds(3600)) { (module, call) async throws -> Int in
                await Gates.pass()
                return 1
            },
        ]
    }
}
