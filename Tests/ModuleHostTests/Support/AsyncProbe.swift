import TestSupport

@testable import ModuleHostCore

/// A module that handles events asynchronously: each when the test keeps the promise of its name.
final class AsyncProbe: AsyncRemoteNotificationResponder, AsyncLocalNotificationResponder,
    AsyncMessageResponder, URLResponder, BackgroundResponder, TerminationResponder, RoutedModule,
    ConfiguredModule
{
    struct Configuration: Decodable {
        var probe: String
        /// Without a meaning.
        var root: String?
    }

    static var routes: [Route<AsyncProbe>] {
        [
            Route("event", access: .public) { (module, call) in
                module.probe.note(
                    "\(module.name) called in \(module.context.event?.id ?? "no event")")
                return module.context.event?.id ?? "no event"
            }
        ]
    }

    /// Lets the handler of an event go on: it returns at `end`, and throws at `throw`.
    static func give(_ text: String, to event: String, of probe: Probe) {
        LateProbe.promise(event, of: probe).keep(text)
    }

    let context: ModuleContext
    let probe: Probe
    let name: String
    let topics = ["t"]

    init(context: ModuleContext) throws {
        self.context = context
        let name = try context.config(Configuration.self).probe
        probe = Probe.named(name) ?? Probe(name)
        self.name = String(context.id.text.dropFirst(2))
    }

    deinit { probe.note("\(name) gone") }

    /// What a test names an event by.
    private var event: String { context.event.map { $0.id ?? $0.kind.rawValue } ?? "no event" }

    private func handle(isolation: isolated any Actor) async throws {
        let event = event
        probe.note("\(name) \(event)\(context.event?.isRepeated == true ? " again" : "")")
        if event == "at-once" { return }
        let text = await LateProbe.promise(event, of: probe).value
        context.place.preconditionIsolated("a handler is where its module is")
        probe.note("\(name) \(self.event) \(Task.isCancelled ? "cancelled" : text)")
        if text.hasPrefix("stand") { probe.stand("\(name) door") }
        if text.hasSuffix("twice") {
            _ = await LateProbe.promise("\(event) once more", of: probe).value
        }
        if text == "call" { try call("x.d", "event") }
        if text == "act" { try call("x.b", "act") }
        if text == "throw" { throw TestError() }
    }

    /// Not the asynchronous form.
    private func call(_ module: String, _ action: String) throws {
        _ = try context.mediator.perform(module, action)
    }

    func didReceiveRemoteNotification(
        _ notification: RemoteNotification, isolation: isolated any Actor
    ) async throws -> FetchResult {
        try await handle(isolation: isolation)
        return .newData
    }

    func didReceiveLocalNotification(
        _ notification: LocalNotification, isolation: isolated any Actor
    ) async throws {
        try await handle(isolation: isolation)
    }

    func receive(_ message: Message, isolation: isolated any Actor) async throws {
        try await handle(isolation: isolation)
    }

    func open(_ url: String, options: OpenURLOptions) throws -> Bool {
        probe.note("\(name) url")
        probe.stand("\(name) url door")
        return url != "t://declined"
    }

    func didEnterBackground() { probe.note("\(name) background") }
    func willTerminate() { probe.note("\(name) terminate") }
}
