public import ModuleHostCore
public import Tracing

/// An observer that makes a span of each event that a host delivers, and of each call from outside.
///
/// ```swift
/// let host = try AppHost(
///     slatefileAt: path, settings: AppHost.Settings(observer: SpanObserver())
/// ) { … }
/// ```
///
/// The parent of a span is the `traceparent` of the event or call. A call without one is a child of `ServiceContext.current`. What
/// modules do with the event or in the call is a part of the span, in other processes, too.
///
/// - Thread: Any. The tracer must not block: it is called on the thread that runs all modules.
/// - Order: A span ends when each module that received the event has handled it, or when the call has its answer.
/// - Cost: Nothing is kept of a span that does not record. Others are kept until they end, and those that a host has left open
///   end with the observer.
/// - Privacy: Spans have no payloads and no parameters. The status of a failed call is the error of the module in its words.
public final class SpanObserver: DeliveryObserver {
    /// The facts by which the end of a span finds its beginning.
    ///
    /// The `traceparent` is that of the span, which no other one has. With a tracer that writes none it is that of the event or
    /// call, and the oldest span of the same name ends first.
    private struct Key: Hashable {
        let name: String
        let id: String?
        let traceparent: String?
    }

    private let given: (any Tracer)?
    /// The spans that have yet to end, oldest first.
    private let open = Guarded<[Key: [any Span]]>([:])

    /// Creates an observer.
    ///
    /// - Parameter tracer: The tracer; nil for that of the program, `InstrumentationSystem.tracer`, which is asked for at each event
    ///   and may be chosen later.
    public init(tracer: (any Tracer)? = nil) { given = tracer }

    deinit {
        for span in open.withLock({ $0.values.flatMap { $0 } }) {
            span.setStatus(SpanStatus(code: .error, message: "the host ended before"))
            span.end()
        }
    }

    /// The number of spans that have yet to end.
    var count: Int { open.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    // MARK: Events

    /// Begins the span of an event.
    ///
    /// - Parameter event: The event.
    /// - Returns: The `traceparent` of the span; nil where the tracer writes none.
    public func willDeliver(_ event: LifecycleEvent) -> String? {
        // The lane's thread may be that of any task: its context is not that of the event.
        begin(
            Self.name(of: event.kind, event.topic), id: event.id,
            event.id == nil ? .internal : .consumer, in: .topLevel, event.traceparent
        ) { attributes in
            attributes["hostd.event.kind"] = event.kind.rawValue
            attributes["hostd.event.topic"] = event.topic
            attributes["hostd.event.id"] = event.id
            attributes["hostd.event.position"] = event.position?.description
            attributes["hostd.origin"] = "\(event.origin)"
        }
    }

    /// Ends the span of an event.
    ///
    /// - Parameter delivery: The delivery.
    public func didDeliver(_ delivery: Delivery) {
        end(Self.name(of: delivery.event, delivery.topic), id: delivery.id, delivery.traceparent) {
            span in
            span.updateAttributes { attributes in
                attributes["hostd.modules.delivered"] = delivery.delivered
                attributes["hostd.modules.failed"] = delivery.failed
                attributes["hostd.modules.unresponsive"] = delivery.unresponsive
                attributes["hostd.slowest"] = delivery.slowest?.text
                attributes["hostd.claimed_by"] = delivery.claimedBy?.text
                attributes["hostd.fetch_result"] = delivery.fetchResult?.rawValue
            }
            guard delivery.failed > 0 else { return nil }
            return delivery.failed == 1 ? "a module failed" : "\(delivery.failed) modules failed"
        }
    }

    private static func name(of kind: EventKind, _ topic: String?) -> String {
        topic.map { "\(kind.rawValue) \($0)" } ?? kind.rawValue
    }

    // MARK: Calls

    /// Begins the span of a call.
    ///
    /// - Parameters:
    ///   - target: The target.
    ///   - origin: The origin of the call.
    ///   - traceparent: The trace that the call is a part of; nil for that of `ServiceContext.current`.
    /// - Returns: The `traceparent` of the span; nil where the tracer writes none.
    public func willCall(_ target: String, from origin: Origin, traceparent: String?) -> String? {
        begin(
            Self.name(of: target), .server, in: ServiceContext.current ?? .topLevel, traceparent
        ) { attributes in
            attributes["hostd.target"] = target
            attributes["hostd.origin"] = "\(origin)"
        }
    }

    /// Ends the span of a call.
    ///
    /// - Parameters:
    ///   - target: The target.
    ///   - traceparent: The trace of the span.
    ///   - duration: The time until the answer.
    ///   - failure: The failure, which becomes the status; nil for a reply.
    public func didCall(
        _ target: String, traceparent: String?, in duration: Duration, failure: String?
    ) {
        end(Self.name(of: target), traceparent) { _ in failure }
    }

    private static func name(of target: String) -> String {
        target.contains("://") ? "open \(target)" : "call \(target)"
    }

    // MARK: Spans

    private func begin(
        _ name: String, id: String? = nil, _ kind: SpanKind, in context: ServiceContext,
        _ traceparent: String?, attributes: (inout SpanAttributes) -> Void
    ) -> String? {
        let tracer = given ?? InstrumentationSystem.tracer
        var parent = context
        tracer.extract(traceparent, into: &parent)
        let span = tracer.startAnySpan(name, context: parent, ofKind: kind)
        let own = tracer.traceparent(of: span.context)
        guard span.isRecording else {
            span.end()
            return own
        }
        span.updateAttributes(attributes)
        let key = Key(name: name, id: id, traceparent: own ?? traceparent)
        open.withLock { $0[key, default: []].append(span) }
        return own
    }

    /// - Parameter finish: Returns the message of the failure; nil for none.
    private func end(
        _ name: String, id: String? = nil, _ traceparent: String?,
        finish: (any Span) -> String?
    ) {
        let key = Key(name: name, id: id, traceparent: traceparent)
        let span = open.withLock { open -> (any Span)? in
            guard var spans = open[key] else { return nil }
            let first = spans.removeFirst()
            open[key] = spans.isEmpty ? nil : spans
            return first
        }
        guard let span else { return }
        if let failure = finish(span) {
            span.setStatus(SpanStatus(code: .error, message: failure))
        }
        span.end()
    }
}
