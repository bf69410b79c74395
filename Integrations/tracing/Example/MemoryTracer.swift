import InMemoryTracing
import ModuleHostTracing

/// A tracer that keeps its spans in memory, with ids and a header as W3C Trace Context has them.
struct MemoryTracer: Tracer {
    let memory = InMemoryTracer(
        idGenerator: InMemoryTracer.IDGenerator(
            nextTraceID: { hexadecimal() + hexadecimal() }, nextSpanID: { hexadecimal() }),
        recordInjections: false, recordExtractions: false)

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
    ) where Extract.Carrier == Carrier {
        guard let header = extractor.extract(key: "traceparent", from: carrier) else { return }
        let fields = header.split(separator: "-").map(String.init)
        guard fields.count == 4 else { return }
        context.inMemorySpanContext = InMemorySpanContext(
            traceID: fields[1], spanID: fields[2], parentSpanID: nil)
    }

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let span = context.inMemorySpanContext else { return }
        injector.inject(
            "00-\(span.traceID)-\(span.spanID)-01", forKey: "traceparent", into: &carrier)
    }

    /// Prints the spans that have ended, each below its parent.
    func printSpans(under parent: String? = nil, depth: Int = 0) {
        for span in memory.finishedSpans where span.parentSpanID == parent {
            print(String(repeating: "  ", count: depth) + span.operationName, "(\(span.kind))")
            printSpans(under: span.spanID, depth: depth + 1)
        }
    }
}

/// Sixteen random digits that are not all 0.
private func hexadecimal() -> String {
    let digits = String(UInt64.random(in: 1 ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
