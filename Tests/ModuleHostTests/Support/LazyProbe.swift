import AppService
import ModuleHostCore

/// A service of the tests' own.
protocol Greeting: Sendable {
    func greet(_ name: String) -> String
}

/// A module with a route, topics and an event, which notes what it receives in its probe and does what the test wants.
final class LazyProbe: RoutedModule, ConfiguredModule, TopicListener, MessageResponder,
    RemoteNotificationResponder, LaunchResponder, ActivationResponder, BackgroundResponder,
    TerminationResponder
{
    struct Configuration: Decodable { var probe: String }

    static let topics = ["lazy.one", "news.*"]

    static var routes: [Route<LazyProbe>] {
        [
            Route("touch/:number", action: "touch", access: .public) {
                (module, request: CallProbe.Number, _) in
                try module.note("touch")
                return request.number
            },
            Route("later", access: .public, deadline: .seconds(600)) {
                (module, request: NoRequest, _, reply: Reply<String>) in
                module.reply = reply
                try module.note("later")
            },
        ]
    }

    struct NoRequest: Decodable {}

    let context: ModuleContext
    let name: String
    var reply: Reply<String>?
    var held: [ModuleHold] = []
    private let probe: Probe?

    init(context: ModuleContext) throws {
        self.context = context
        probe = Probe.named(try context.config(Configuration.self).probe)
        name = String(context.id.text.split(separator: ".").last ?? "")
        try note("init")
    }

    deinit { probe?.note("\(name) deinit") }

    private func note(_ what: String) throws { try probe?.actLazily("\(name) \(what)", self) }

    func didFinishLaunching(_ launch: Launch) throws { try note("launch") }
    func didBecomeActive() throws { try note("activate") }
    func didEnterBackground() throws { try note("background") }
    func willTerminate() throws { try note("terminate") }
    func receive(_ message: Message) throws { try note(message.topic) }
    func didReceiveRemoteNotification(_ notification: RemoteNotification) throws -> FetchResult {
        try note("push")
        return .noData
    }
}

/// A module with a service alone.
final class LazyService: ServiceProvider, ConfiguredModule {
    struct Configuration: Decodable { var probe: String }

    private struct Greeter: Greeting {
        func greet(_ name: String) -> String { "hello \(name)" }
    }

    static var services: [Any.Type] { [(any Greeting).self] }

    init(context: ModuleContext) throws {
        let name = String(context.id.text.split(separator: ".").last ?? "")
        try Probe.named(try context.config(Configuration.self).probe)?.actLazily(
            "\(name) init", nil)
        try context.services.register((any Greeting).self) { Greeter() }
    }
}

/// A module that only works.
final class LazyRunner: RoutedModule, RunningModule, ConfiguredModule {
    struct Configuration: Decodable { var probe: String }

    static var routes: [Route<LazyRunner>] {
        [Route("touch", access: .public) { (_, _) in "touched" }]
    }

    private let probe: Probe?
    private let stream = AsyncStream<Void>.makeStream()

    init(context: ModuleContext) throws {
        probe = Probe.named(try context.config(Configuration.self).probe)
    }

    func run(isolation: isolated any Actor) async throws {
        probe?.note("run begins")
        for await _ in stream.stream {}
        probe?.note("run ends")
    }
}
