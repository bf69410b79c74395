import AppService

/// Requests to a running host, for the program that embeds it.
///
/// Each but ``modules()``, ``metricsText()`` and ``send(_:payload:id:source:traceparent:)`` waits for READY, and is made on
/// the lane after everything accepted before. Each suspends its task until it is done. Deadlines of the slatefile limit
/// each of them. If the task is cancelled, a request ends at once with `CancellationError`; the host may still carry it out.
extension AppHost {
    /// Opens a URL: modules that claim URLs themselves are called first, then the router.
    ///
    /// - Parameters:
    ///   - url: The URL; a token in it is removed.
    ///   - origin: The caller. `.host` reaches every route. For a caller that the program does not trust, a
    ///     remote origin such as `.control(uid:pid:)` reaches only public routes, and others with a token.
    ///   - token: The caller's token.
    ///   - traceparent: The trace that the call is a part of, as W3C Trace Context has it; an invalid text counts as nil.
    /// - Returns: The reply, also one that comes later.
    /// - Throws: ``RouteError``, ``ParameterError``, or ``HandlerFailure`` with the error of the route's
    ///   handler in words.
    @discardableResult
    public nonisolated(nonsending) func open(
        _ url: String, from origin: Origin = .host, token: String? = nil,
        traceparent: String? = nil
    ) async throws -> HostReply {
        let token = token.map { RouteToken($0) }
        let trace = traceparent.flatMap { TraceContext($0) }
        return try await HostReply(
            answer { open(url, origin: origin, token: token, trace: trace, completion: $0) })
    }

    /// Returns whether a route would answer a URL.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - origin: The caller.
    ///   - token: The caller's token.
    /// - Returns: Whether there is such a route that the caller can reach.
    /// - Throws: ``RouteError`` for a text that is not a URL.
    public nonisolated(nonsending) func canOpen(
        _ url: String, from origin: Origin = .host, token: String? = nil
    ) async throws -> Bool {
        let token = token.map { RouteToken($0) }
        return try await answer { canOpen(url, origin: origin, token: token, completion: $0) }
    }

    /// Calls an action of a module.
    ///
    /// - Parameters:
    ///   - module: The id of the module.
    ///   - action: The action.
    ///   - parameters: The parameters.
    ///   - origin: The caller.
    ///   - token: The caller's token.
    ///   - traceparent: The trace, as for ``open(_:from:token:traceparent:)``.
    /// - Returns: The reply, also one that comes later.
    /// - Throws: As ``open(_:from:token:traceparent:)``.
    @discardableResult
    public nonisolated(nonsending) func call(
        _ module: String, _ action: String, _ parameters: RouteParameters = RouteParameters(),
        from origin: Origin = .host, token: String? = nil, traceparent: String? = nil
    ) async throws -> HostReply {
        let token = token.map { RouteToken($0) }
        let trace = traceparent.flatMap { TraceContext($0) }
        return try await HostReply(
            answer {
                call(
                    module, action, parameters, origin: origin, token: token, trace: trace,
                    completion: $0)
            })
    }

    /// Posts a message on a topic, and waits until every module that listens to it has received it.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - payload: The payload, as JSON; nil for a message that consists of its topic alone.
    ///   - origin: The origin of the message.
    ///   - traceparent: The trace that it is a part of, as W3C Trace Context has it; an invalid text counts as nil.
    /// - Throws: ``EventError`` for an empty topic; ``RouteError/stopped`` if the app ends before.
    public nonisolated(nonsending) func post(
        _ topic: String, _ payload: JSONValue? = nil, from origin: Origin = .host,
        traceparent: String? = nil
    ) async throws {
        try post(
            topic, payload, origin: origin, trace: traceparent.flatMap { TraceContext($0) },
            load: nil)
        try await answer { settle($0) }
    }

    /// Sends an event to the app, by way of the inbox of a host that has one.
    ///
    /// When this returns the event is on the disk, and will be delivered whatever happens to the program. Does not wait for READY,
    /// but for ``run()``. If the task is cancelled meanwhile, the event may be accepted.
    ///
    /// - Order: Events that a task sends one after the other have their positions in this order.
    /// - Parameters:
    ///   - kind: A kind of event that has a payload, such as `.message`, `.push` or `.openURL`.
    ///   - payload: The payload, as docs/modules.md describes it for the event.
    ///   - id: 1 to 200 bytes that identify the event: a second one with this id is not added.
    ///   - source: Where the event comes from, 1 to 64 bytes; see ``LifecycleEvent/source``.
    ///   - traceparent: The trace that it is a part of, as for ``open(_:from:token:traceparent:)``.
    /// - Returns: Its position, or that it was accepted before.
    /// - Throws: ``SendError``, also by a host without ``Settings/hasInbox``, and by one that has ended.
    @discardableResult
    public nonisolated(nonsending) func send(
        _ kind: EventKind, payload: JSONValue, id: String? = nil, source: String? = nil,
        traceparent: String? = nil
    ) async throws -> EventAcceptance {
        let record = try SendRequest.record(
            kind, payload: payload, id: id, source: source,
            trace: traceparent.flatMap { TraceContext($0) }, from: .host)
        guard let inbox else { throw SendError(.notAccepted(InboxRefusal.none)) }
        return try await answer { completion in
            inbox.submit(
                InboxSubmission(line: record.line, id: id, record: record) {
                    completion(.success($0))
                })
        }.sendOutcome()
    }

    /// Delivers an event, and waits until every module has received it.
    ///
    /// - Parameters:
    ///   - kind: The kind of event; `terminate` is ``stop(because:)``.
    ///   - payload: The payload, if the event takes one.
    ///   - origin: The origin of the event.
    ///   - traceparent: The trace that it is a part of, as for ``post(_:_:from:traceparent:)``; an event without a payload has
    ///     none.
    /// - Returns: False if the event has no meaning in the state of the app, so that no module received it.
    /// - Throws: ``EventError`` for a payload that the event does not take; ``RouteError/stopped`` if the app
    ///   ends before.
    @discardableResult
    public nonisolated(nonsending) func deliver(
        _ kind: EventKind, payload: JSONValue? = nil, from origin: Origin = .host,
        traceparent: String? = nil
    ) async throws -> Bool {
        let event = try LifecycleEvent(kind, payload: payload, origin: origin)
            .traced(by: traceparent.flatMap { TraceContext($0) })
        guard kind != .terminate else {
            stop(because: "\(origin)")
            return true
        }
        return try await answer { deliver(event, completion: $0) } == nil
    }

    /// Returns the modules of the host with their states, in slatefile order, also before READY.
    ///
    /// - Returns: The modules.
    /// - Throws: ``RouteError/stopped`` if the app has ended.
    public nonisolated(nonsending) func modules() async throws -> [HostedModule] {
        try await answer { moduleStatuses($0) }.map { HostedModule($0) }
    }

    /// Returns the metrics of the host and its modules, in the text format of Prometheus.
    ///
    /// - Returns: The text; of a host that is busy for 2 s, without the metrics of modules.
    /// - Throws: ``RouteError/stopped`` if the app has ended.
    public nonisolated(nonsending) func metricsText() async throws -> String {
        let document = try await answer { pending in
            readMetricsDocument { document in
                pending(document.map(Result.success) ?? .failure(RouteError.stopped))
            }
        }
        return String(decoding: document.text, as: UTF8.self)
    }

    /// The state of the app.
    public var state: LifecycleState { currentMetrics.state }

    private nonisolated(nonsending) func answer<Value: Sendable>(
        _ request: (@escaping CompletionHandler<Value>) -> Void
    ) async throws -> Value {
        try Task.checkCancellation()
        let pending = PendingAnswer<Value>()
        request { pending.give($0) }
        return try await withTaskCancellationHandler {
            try await pending.wait()
        } onCancel: {
            pending.give(.failure(CancellationError()))
        }
    }
}

/// The answer to a request: the first one counts.
private final class PendingAnswer<Value: Sendable>: Sendable {
    private typealias Waiting = CheckedContinuation<Value, any Error>

    private enum State {
        case open(Waiting?)
        case given(Result<Value, any Error>)
    }

    private let state = Guarded(State.open(nil))

    func give(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state -> Waiting? in
            guard case .open(let waiting) = state else { return nil }
            state = .given(result)
            return waiting
        }
        waiting?.resume(with: result)
    }

    nonisolated(nonsending) func wait() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let given = state.withLock { state -> Result<Value, any Error>? in
                if case .given(let result) = state { return result }
                state = .open(continuation)
                return nil
            }
            if let given { continuation.resume(with: given) }
        }
    }
}
