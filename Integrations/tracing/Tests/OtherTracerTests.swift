import InMemoryTracing
import Testing

@testable import ModuleHostTracing
@testable import TracedShop

@Suite("Tracers of other kinds", .timeLimit(.minutes(2)))
struct OtherTracerTests {
    private static let given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    /// Calls, posts and fails with an observer.
    ///
    /// - Returns: The traces that the module had in two calls, with a trace and without.
    private func use(_ observer: SpanObserver) async throws -> [String] {
        var traces: [String] = []
        try await run(observer) { host in
            for trace in [Self.given, nil] {
                try await host.post("asked", traceparent: trace)
                traces += [
                    try await host.call("x.desk", "trace", traceparent: trace).decode(String.self)
                ]
            }
            await #expect(throws: HandlerFailure.self) { try await host.call("x.desk", "fail") }
        }
        return traces
    }

    @Test("without a tracer nothing is kept, and traces stay as they are")
    func none() async throws {
        let observer = SpanObserver(tracer: NoOpTracer())
        #expect(observer.willCall("x.a b", from: .host, traceparent: Self.given) == nil)
        #expect(observer.count == 0)
        #expect(try await use(observer) == [Self.given, "none"])
        #expect(observer.count == 0)
    }

    @Test("the spans of a tracer without a traceparent end, and traces stay as they are")
    func withoutHeader() async throws {
        let tracer = InMemoryTracer()
        let observer = SpanObserver(tracer: tracer)
        #expect(try await use(observer) == [Self.given, "none"])
        #expect(observer.count == 0)
        #expect(tracer.activeSpans.isEmpty)
        let names = tracer.finishedSpans.map(\.operationName)
        #expect(names.count { $0 == "message told" } == 2)
        #expect(names.count { $0 == "call x.desk trace" } == 2)
        // Each end has found its own beginning.
        let failed = tracer.finishedSpans.filter { $0.status?.code == .error }
        #expect(failed.map(\.operationName) == ["call x.desk fail"])
    }

    @Test(
        "a header that a host does not pass on counts as none",
        arguments: [
            "", "b3", given.uppercased(), "01" + given.dropFirst(2), given + "-00",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        ])
    func oddHeader(_ header: String) async throws {
        let tracer = HeaderTracer(header: header)
        let observer = SpanObserver(tracer: tracer)
        #expect(observer.willCall("x.a b", from: .host, traceparent: nil) == nil)
        observer.didCall("x.a b", traceparent: nil, in: .zero, failure: nil)
        #expect(observer.count == 0)
        #expect(tracer.memory.finishedSpans.count == 1)
    }

    @Test("calls of one target that overlap end by their traces")
    func overlap() throws {
        let tracer = MemoryTracer()
        let observer = SpanObserver(tracer: tracer)
        let traces = (0..<3).map { _ in
            observer.willCall("x.a b", from: .host, traceparent: Self.given)
        }
        #expect(Set(traces).count == 3)
        for trace in [traces[2], traces[0], traces[1]] {
            observer.didCall("x.a b", traceparent: trace, in: .zero, failure: trace)
        }
        #expect(observer.count == 0)
        for span in tracer.memory.finishedSpans {
            #expect(span.status?.message?.contains(span.spanID) == true)
        }
    }

    @Test("without a traceparent the oldest span of a target ends first")
    func oldestFirst() {
        let tracer = InMemoryTracer()
        let observer = SpanObserver(tracer: tracer)
        for _ in 0..<2 { _ = observer.willCall("x.a b", from: .host, traceparent: nil) }
        observer.didCall("x.a b", traceparent: nil, in: .zero, failure: nil)
        #expect(tracer.finishedSpans.map(\.spanID) == ["span-1"])
        #expect(observer.count == 1)
        observer.didCall("x.a c", traceparent: nil, in: .zero, failure: nil)
        #expect(observer.count == 1)
    }

    @Test("a span that a host left open ends with the observer")
    func leftOpen() throws {
        let tracer = MemoryTracer()
        var observer: SpanObserver? = SpanObserver(tracer: tracer)
        _ = observer?.willCall("x.a b", from: .host, traceparent: nil)
        #expect(tracer.memory.finishedSpans.isEmpty)
        observer = nil
        let span = try tracer.memory.span("call x.a b")
        #expect(span.status == SpanStatus(code: .error, message: "the host ended before"))
    }
}

/// A tracer that writes one header, whatever the span.
private struct HeaderTracer: Tracer {
    let header: String
    let memory = InMemoryTracer()

    func startSpan<Instant: TracerInstant>(
        _ name: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file: String, line: UInt
    ) -> InMemorySpan {
        memory.startSpan(
            name, context: context(), ofKind: kind, at: instant(), function: function, file: file,
            line: line)
    }

    func forceFlush() {}

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {}

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        injector.inject(header, forKey: "traceparent", into: &carrier)
    }
}
