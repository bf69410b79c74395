import TestSupport

@testable import ModuleHostCore

/// A module that has up to three events at a time, each until the test keeps the promise of its name.
final class WindowProbe: AsyncRemoteNotificationResponder, AsyncMessageResponder,
    BackgroundResponder, WindowedModule
{
    static let window = 3

    private let context: ModuleContext
    private let probe: Probe
    private let name: String
    private var times: [String: Int] = [:]
    let topics = ["t"]

    init(context: ModuleContext) throws {
        self.context = context
        let name = try context.config(AsyncProbe.Configuration.self).probe
        probe = Probe.named(name) ?? Probe(name)
        self.name = String(context.id.text.dropFirst(2))
    }

    /// At `later` it wants the event again after ten seconds; then it is another one for the test, such as `one again`.
    private func handle(isolation: isolated any Actor) async throws {
        let name = context.event.map { $0.id ?? $0.kind.rawValue } ?? "no event"
        var event = name + (context.event?.isRepeated == true ? " again" : "")
        times[event, default: 0] += 1
        if let count = times[event], count > 1, event.hasSuffix("again") { event += " \(count)" }
        probe.note("\(self.name) \(event)")
        let text = await LateProbe.promise(event, of: probe).value
        probe.note("\(self.name) \(event) \(text)")
        if text == "later" { throw RetryLater(after: .seconds(10)) }
    }

    func didReceiveRemoteNotification(
        _ notification: RemoteNotification, isolation: isolated any Actor
    ) async throws -> FetchResult {
        try await handle(isolation: isolation)
        return .newData
    }

    func receive(_ message: Message, isolation: isolated any Actor) async throws {
        try await handle(isolation: isolation)
    }

    func didEnterBackground() { probe.note("\(name) background") }
}
