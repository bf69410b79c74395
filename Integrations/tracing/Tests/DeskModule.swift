import ModuleHostTracing

/// A main module that posts, answers and fails on demand.
final class DeskModule: RootProvider, RoutedModule, MessageResponder {
    struct Broken: Error {}

    let root: String? = nil
    let topics = ["asked", "told", "broken"]
    private let context: ModuleContext

    init(context: ModuleContext) { self.context = context }

    static var routes: [Route<DeskModule>] {
        [
            Route("trace") { (module, _) in module.context.traceparent ?? "none" },
            Route("fail") { (_, _) -> Int in throw Broken() },
        ]
    }

    func receive(_ message: Message) throws {
        if message.topic == "asked" { try context.post("told") }
        if message.topic == "broken" { throw Broken() }
    }
}

/// Runs a host for the time of a closure.
///
/// - Parameters:
///   - observer: The observer.
///   - modules: The entries of the slatefile; the default has a ``DeskModule`` with the id `x.desk`.
///   - body: The requests to the host.
func run(
    _ observer: SpanObserver,
    _ modules: String =
        #"{ "id": "x.desk", "entry": "ModuleHostTracingTests.DeskModule", "main": true }"#,
    _ body: (AppHost) async throws -> Void
) async throws {
    let host = try AppHost(
        slatefile:
            #"{ "slate": 1, "app": "desk", "schemes": ["slate"], "modules": [\#(modules)] }"#,
        settings: AppHost.Settings(observer: observer)
    ) { _ in }
    let run = Task { try await host.run() }
    try await body(host)
    run.cancel()
    try await run.value
}
