import InMemoryTracing
import Testing

@testable import ModuleHostTracing
@testable import TracedShop

/// A module that answers `slow` when another module has received `open`.
final class SlowModule: AsyncMessageResponder {
    static let door = Guarded<AsyncStream<Void>.Continuation?>(nil)

    let topics = ["slow"]
    private let context: ModuleContext

    init(context: ModuleContext) { self.context = context }

    func receive(_ message: Message, isolation: isolated any Actor) async throws {
        let (opened, door) = AsyncStream<Void>.makeStream()
        Self.door.withLock { $0 = door }
        try context.post("open")
        for await _ in opened {}
        throw DeskModule.Broken()
    }
}

/// A main module that opens the door.
final class DoorModule: RootProvider, MessageResponder {
    let root: String? = nil
    let topics = ["open"]

    init(context: ModuleContext) {}

    func receive(_ message: Message) { SlowModule.door.withLock { $0?.finish() } }
}

@Suite("Spans of events that are answered later", .serialized, .timeLimit(.minutes(2)))
struct LateAnswerTests {
    /// - Returns: The names of the spans that ended with messages.
    private func messages(of observer: SpanObserver, in tracer: InMemoryTracer) async throws
        -> [String]
    {
        let modules = """
            { "id": "x.door", "entry": "ModuleHostTracingTests.DoorModule", "main": true },
            { "id": "x.slow", "entry": "ModuleHostTracingTests.SlowModule" }
            """
        try await run(observer, modules) { try await $0.post("slow") }
        let slow = try tracer.span("message slow")
        #expect(slow.status == SpanStatus(code: .error, message: "a module failed"))
        #expect(try tracer.span("message open").status == nil)
        #expect(observer.count == 0)
        return tracer.finishedSpans.map(\.operationName).filter { $0.hasPrefix("message") }
    }

    @Test("an event that a later one overtakes has an end of its own")
    func overtaken() async throws {
        let tracer = MemoryTracer()
        let names = try await messages(of: SpanObserver(tracer: tracer), in: tracer.memory)
        #expect(names == ["message open", "message slow"])
        let (slow, open) = (
            try tracer.memory.span("message slow"), try tracer.memory.span("message open")
        )
        #expect(open.parentSpanID == slow.spanID)
    }

    @Test("also with a tracer that writes no traceparent")
    func withoutHeader() async throws {
        let tracer = InMemoryTracer()
        let names = try await messages(of: SpanObserver(tracer: tracer), in: tracer)
        #expect(names == ["message open", "message slow"])
    }
}
