import TestSupport

@testable import ModuleHostCore

/// A module whose long-running task waits for what the test gives it, one text after the other.
final class RunProbe: RunProbeBase, RunningModule {}

/// The same, with its conformance in an extension.
final class ExtendedRunProbe: RunProbeBase {}

extension ExtendedRunProbe: RunningModule {}

/// A base class whose method is what its subclasses conform with.
class RunProbeBase: Module, ConfiguredModule, TerminationResponder, MemoryWarningResponder,
    LaunchResponder
{
    struct Configuration: Decodable { var probe: String }

    /// The inputs that tasks wait for, by the probe and the module.
    private static let inputs = LockedList<
        (name: String, input: AsyncStream<String>.Continuation)
    >()

    /// Gives the task of a module the next text: `end` returns, `throw` throws, `slow` stands at a door.
    static func give(_ text: String, to module: String, of probe: Probe) {
        inputs.values.last { $0.name == "\(probe.name) \(module)" }?.input.yield(text)
    }

    let context: ModuleContext
    let probe: Probe
    let name: String
    private var count = 0
    private let input: AsyncStream<String>

    required init(context: ModuleContext) throws {
        self.context = context
        let name = try context.config(Configuration.self).probe
        probe = Probe.named(name) ?? Probe(name)
        self.name = String(context.id.text.dropFirst(2))
        let (input, continuation) = AsyncStream<String>.makeStream()
        self.input = input
        Self.inputs.append(("\(name) \(self.name)", continuation))
    }

    deinit { probe.note("\(name) gone") }

    func didFinishLaunching(_ launch: Launch) { probe.note("\(name) launch") }
    func didReceiveMemoryWarning() { probe.note("\(name) memory-warning \(count)") }
    func willTerminate() { probe.note("\(name) terminate") }

    func run(isolation: isolated any Actor) async throws {
        try note("run")
        let (probe, name) = (probe, name)
        let hasEnded = try await withTaskCancellationHandler {
            // A closure has the isolation only if it captures it.
            _ = isolation
            for await text in input {
                try note(text)
                if text == "end" { return true }
                if text == "throw" { throw TestError() }
                probe.stand("\(name) \(text) door")
            }
            return false
        } onCancel: {
            probe.note("\(name) asked to end")
        }
        if hasEnded { return }
        try note("cancelled \(Task.isCancelled)")
        // An orderly end may take some slices.
        await Task.yield()
        try note("ended")
    }

    private func note(_ entry: String) throws {
        context.place.preconditionIsolated("run() is where its module is")
        count += 1
        probe.note("\(name) \(entry)")
    }
}
