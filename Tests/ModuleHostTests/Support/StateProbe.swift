import TestSupport

@testable import ModuleHostCore

/// A module that takes its time in the background and at the end: until the test keeps the promise of its name and the event,
/// such as `b background`, or it is cancelled.
final class StateProbe: AsyncBackgroundResponder, AsyncTerminationResponder, MessageResponder,
    RootProvider, RoutedModule, ConfiguredModule
{
    typealias Configuration = AsyncProbe.Configuration

    static var routes: [Route<StateProbe>] {
        [Route("event", access: .public) { (module, call) in module.event }]
    }

    let topics = ["t"]
    let root: String? = nil

    private let context: ModuleContext
    private let probe: Probe
    private let name: String

    init(context: ModuleContext) throws {
        self.context = context
        let name = try context.config(Configuration.self).probe
        probe = Probe.named(name) ?? Probe(name)
        self.name = String(context.id.text.dropFirst(2))
    }

    deinit { probe.note("\(name) gone") }

    private var event: String { context.event?.kind.rawValue ?? "no event" }

    private func handle(isolation: isolated any Actor) async throws {
        let entry = "\(name) \(event)"
        probe.note(entry)
        let promise = LateProbe.promise(entry, of: probe)
        // Without a suspension where it is kept already.
        let text = if let text = promise.current { text } else { await Self.value(of: promise) }
        context.place.preconditionIsolated("a handler is where its module is")
        probe.note("\(name) \(event) \(text)")
        if text == "throw" { throw TestError() }
    }

    private static func value(of promise: Promise<String>) async -> String {
        await withTaskCancellationHandler {
            await promise.value
        } onCancel: {
            promise.keep("cancelled")
        }
    }

    func didEnterBackground(isolation: isolated any Actor) async throws {
        try await handle(isolation: isolation)
    }

    func willEnterForeground() { probe.note("\(name) \(event)") }

    func willTerminate(isolation: isolated any Actor) async throws {
        try await handle(isolation: isolation)
    }

    func receive(_ message: Message) {
        probe.note("\(name) \(event)")
        probe.stand("\(name) door")
    }
}
