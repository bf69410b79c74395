import InMemoryTracing
import ModuleHostTesting
import ModuleHostTracing
import Testing

@testable import TracedShop

/// The spans that have ended, by name.
extension InMemoryTracer {
    func span(_ name: String) throws -> FinishedInMemorySpan {
        let all = finishedSpans.filter { $0.operationName == name }
        return try #require(
            all.first,
            "\(name) is not among \(finishedSpans.map(\.operationName))")
    }
}

@Suite("Spans of a host", .timeLimit(.minutes(2)))
struct SpanTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let sender = "00f067aa0ba902b7"
    private static let given = "00-\(trace)-\(sender)-01"

    /// The tracer of the program, for all tests.
    private static let program: MemoryTracer = {
        let tracer = MemoryTracer()
        InstrumentationSystem.bootstrap(tracer)
        return tracer
    }()

    private let tracer = MemoryTracer()

    private func text(_ span: FinishedInMemorySpan, _ attribute: String) -> String? {
        guard case .string(let text) = span.attributes.get(attribute) else { return nil }
        return text
    }

    @Test("an event is a child of its sender's span, and the parent of what it sets off")
    func events() async throws {
        try await run(SpanObserver(tracer: tracer)) { host in
            try await host.post("asked", traceparent: Self.given)
        }
        let (asked, told) = (
            try tracer.memory.span("message asked"), try tracer.memory.span("message told")
        )
        #expect([asked.traceID, told.traceID] == [Self.trace, Self.trace])
        #expect([asked.parentSpanID, told.parentSpanID] == [Self.sender, asked.spanID])
        #expect([asked.kind, told.kind] == [.internal, .internal])
        #expect(text(asked, "hostd.event.topic") == "asked")
        #expect(text(told, "hostd.origin") == "x.desk")
        #expect(asked.attributes.get("hostd.modules.delivered") == .int64(1))
        #expect(asked.status == nil)
        #expect(tracer.memory.activeSpans.isEmpty)
        // An event of the host is a trace of its own.
        #expect(try tracer.memory.span("launch").parentSpanID == nil)
    }

    @Test("a durable event is consumed, and has its id and position")
    func durable() async throws {
        let host = try await TestHost(
            modules: [DeskModule.self],
            TestHost.Settings(isDurable: true, observer: SpanObserver(tracer: tracer)))
        try await host.deliver(.push, #"{"aps": {"badge": 3}, "secret": "s3cret"}"#, id: "order-17")
        #expect(await host.stop() == .stopped)
        let push = try tracer.memory.span("push")
        #expect(push.kind == .consumer)
        #expect(text(push, "hostd.event.id") == "order-17")
        #expect(text(push, "hostd.event.position")?.hasPrefix("1:") == true)
        var all = ""
        dump(push, to: &all)
        #expect(all.contains("order-17") && !all.contains("s3cret"))
    }

    @Test(
        "a call is a child of the caller's span, or of its traceparent, and the parent of what it sets off"
    )
    func calls() async throws {
        let shop = """
            { "id": "x.cart", "entry": "TracedShop.CartModule", "main": true },
            { "id": "x.stock", "entry": "TracedShop.StockModule" }
            """
        let memory = Self.program.memory
        try await run(SpanObserver(), shop) { host in
            try await withSpan("request") { _ in _ = try await host.call("x.cart", "add") }
        }
        let names = ["request", "call x.cart add", "message cart.changed", "reserve"]
        let spans = try names.map { try memory.span($0) }
        #expect(spans.map(\.parentSpanID) == [nil] + spans.dropLast().map(\.spanID))
        #expect(spans.map(\.kind) == [.internal, .server, .internal, .internal])
        #expect(Set(spans.map(\.traceID)).count == 1)

        try await run(SpanObserver()) { host in
            try await withSpan("other") { _ in
                _ = try await host.call("x.desk", "trace", traceparent: Self.given)
                try await host.post("told", traceparent: ServiceContext.current?.traceparent)
            }
        }
        #expect(try memory.span("call x.desk trace").parentSpanID == Self.sender)
        #expect(try memory.span("message told").parentSpanID == memory.span("other").spanID)
    }

    @Test("failures of modules and calls are the status, without parameters")
    func failures() async throws {
        try await run(SpanObserver(tracer: tracer)) { host in
            try await host.post("broken")
            await #expect(throws: HandlerFailure.self) { try await host.call("x.desk", "fail") }
            await #expect(throws: RouteError.self) {
                try await host.open("slate://x.desk/no?secret=1")
            }
            try await host.call("x.desk", "trace")
        }
        let memory = tracer.memory
        #expect(
            try memory.span("message broken").status
                == SpanStatus(code: .error, message: "a module failed"))
        #expect(
            try memory.span("message broken").attributes.get("hostd.modules.failed") == .int64(1))
        let failed = try #require(try memory.span("call x.desk fail").status)
        #expect(failed.code == .error)
        #expect(failed.message?.hasPrefix("x.desk: ") == true)
        #expect(
            try memory.span("open slate://x.desk").status
                == SpanStatus(code: .error, message: "no such route"))
        #expect(try memory.span("call x.desk trace").status == nil)
    }

    @Test("the traces of modules are those of the spans")
    func own() async throws {
        var trace = ""
        try await run(SpanObserver(tracer: tracer)) { host in
            trace = try await host.call("x.desk", "trace", traceparent: Self.given)
                .decode(String.self)
        }
        let span = try tracer.memory.span("call x.desk trace")
        #expect(trace == "00-\(Self.trace)-\(span.spanID)-01")
    }
}
