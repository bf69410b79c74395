/// Calls from outside the app, as requested through the control socket.
///
/// From any thread. Each is completed once, on any thread; also where the host stops before. They are made
/// after everything accepted before, from READY on.
extension AppHost {
    /// The reply to a call from outside.
    package enum CallReply: Sendable {
        /// The reply of a route, as JSON text.
        case json([UInt8])
        /// A module claimed the URL itself, and gives no reply.
        case claimed(by: ModuleID)
    }

    package typealias CompletionHandler<Reply> = @Sendable (Result<Reply, any Error>) -> Void

    /// Opens a URL: modules that claim URLs themselves are called first, then the router.
    ///
    /// - Parameters:
    ///   - url: The URL; a token in it is removed.
    ///   - origin: The origin of the call.
    ///   - token: The caller's token, which takes precedence over one in the URL.
    ///   - trace: The trace that the call is a part of.
    ///   - completion: Receives ``RouteError``, ``ParameterError`` or ``HandlerFailure`` on failure.
    /// - Returns: Cancels the call, from any thread. One that has begun loses only its answer.
    @discardableResult
    package func open(
        _ url: String, origin: Origin, token: RouteToken?, trace: TraceContext? = nil,
        completion: @escaping CompletionHandler<CallReply>
    ) -> @Sendable () -> Void {
        let (trace, noting) = begin(Self.target(of: url), origin, trace, completion)
        let pending = CallCompletion(noting)
        do throws(RouteURLError) {
            let event = try LifecycleEvent.openURL(url, token: token, origin: origin)
                .traced(by: trace)
            enqueue(.event(event, pending))
        } catch {
            let error = error.naming(slatefile.schemes.first)
            pending.finish(.failure(RouteError.malformed(error)))
        }
        return { [weak pending] in pending?.finish(.failure(RouteError.cancelled)) }
    }

    /// Finds out whether a route would answer a URL; modules that claim URLs themselves are not called.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - origin: The origin of the request.
    ///   - token: The caller's token.
    ///   - completion: Receives ``RouteError`` for a text that is not a URL.
    package func canOpen(
        _ url: String, origin: Origin, token: RouteToken?,
        completion: @escaping CompletionHandler<Bool>
    ) {
        openness(of: url, origin: origin, token: token) { completion($0.map(\.isOpen)) }
    }

    /// As ``canOpen(_:origin:token:completion:)``, with the failed module whose `instead` would be opened.
    func openness(
        of url: String, origin: Origin, token: RouteToken?,
        completion: @escaping CompletionHandler<CallDispatcher.Openness>
    ) {
        let caller = Caller(origin: origin, token: token)
        call(CallCompletion(completion)) { try $0.openness(of: url, for: caller, on: $1) }
    }

    /// Calls an action of a module.
    ///
    /// - Parameters:
    ///   - module: The module's id.
    ///   - action: The action's name.
    ///   - parameters: The parameters from which the request is decoded.
    ///   - origin: The origin of the call.
    ///   - token: The caller's token.
    ///   - trace: The trace that the call is a part of.
    ///   - completion: Receives ``RouteError``, ``ParameterError`` or ``HandlerFailure`` on failure.
    /// - Returns: Cancels the call, from any thread. One that has begun loses only its answer.
    @discardableResult
    package func call(
        _ module: String, _ action: String, _ parameters: RouteParameters, origin: Origin,
        token: RouteToken?, trace: TraceContext? = nil,
        completion: @escaping CompletionHandler<CallReply>
    ) -> @Sendable () -> Void {
        let (trace, noting) = begin("\(module) \(action)", origin, trace, completion)
        let pending = CallCompletion(noting)
        let later = LateAnswer { [stopping] in
            pending.finish($0.map(CallReply.init).explained(by: stopping))
        }
        let caller = Caller(origin: origin, token: token, wantsJSON: true, later: later)
        call(pending, trace: trace, later: later) {
            CallReply(try $0.perform(module, action, parameters, for: caller, on: $1))
        }
        return { [weak pending] in pending?.finish(.failure(RouteError.cancelled)) }
    }

    /// Reads the current routes.
    ///
    /// - Parameter completion: Receives ``RouteError/stopped`` where the host has stopped.
    package func routes(_ completion: @escaping CompletionHandler<RouteTable>) {
        call(CallCompletion(completion)) { dispatcher, thread in
            try dispatcher.asHost(on: thread) { dispatcher.table }
        }
    }

    /// Posts a message.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - payload: The payload.
    ///   - origin: The origin of the message.
    ///   - trace: The trace that it is a part of.
    ///   - load: Released when the message is delivered.
    /// - Throws: ``EventError`` for an empty topic.
    package func post(
        _ topic: String, _ payload: JSONValue?, origin: Origin, trace: TraceContext? = nil,
        load: consuming InFlight? = nil
    ) throws(EventError) {
        let event = try LifecycleEvent.message(topic: topic, payload: payload, origin: origin)
        enqueue(.event(event.traced(by: trace)), load: load)
    }

    /// Reports the beginning of a call to the observer.
    ///
    /// - Returns: The trace of what modules do in the call, and a completion that reports its end, and adds the call to the record
    ///   if that keeps it.
    private func begin(
        _ target: @autoclosure @escaping @Sendable () -> String, _ origin: Origin,
        _ trace: TraceContext?, _ completion: @escaping CompletionHandler<CallReply>
    ) -> (TraceContext?, CompletionHandler<CallReply>) {
        let (ring, observer) = (ring, observer.deliveries)
        guard ring != nil || observer != nil else { return (trace, completion) }
        let own = observer?.willCall(target(), from: origin, traceparent: trace?.text)
        let trace = (TraceContext(own, within: trace) ?? trace)?.begun()
        let began = time.now()
        return (
            trace,
            { [time] result in
                let duration = began.duration(to: time.now())
                let failure = CallFailure(result)
                observer?.didCall(
                    target(), traceparent: trace?.text, in: duration, failure: failure?.text)
                if let ring, ring.keeps(duration, failed: failure?.isOfModule == true, trace) {
                    ring.add(
                        .called(
                            HostRecord.Call(
                                target: target(), caller: "\(origin)", duration: duration,
                                failure: failure?.text, trace: trace?.place)))
                }
                completion(result)
            }
        )
    }

    private static func target(of url: String) -> String {
        (try? RouteURL(url))?.target ?? "an invalid URL"
    }

    private func call<Reply: Sendable>(
        _ completion: CallCompletion<Reply>, trace: TraceContext? = nil,
        later: LateAnswer? = nil,
        _ body: @escaping CallChannel.Call<Reply>
    ) {
        gate.lane.enqueue(
            CallFromOutside(
                CallJob(through: gate, trace: trace, later: later, completion, body), of: app))
    }
}

extension RouteURL {
    /// The part that names the module, as the record has it: what follows may be a parameter.
    var target: String { "\(scheme)://\(authority ?? "")" }
}

/// The failure of a call, as the record and the observer have it.
private struct CallFailure {
    /// The error without its details, which may name parameters; that of a handler is the module's own.
    let text: String
    /// Whether the module has failed, and not the caller: one who calls what is not there must not fill the record.
    let isOfModule: Bool

    /// Nil for a call that did not fail.
    init?(_ result: Result<some Any, any Error>) {
        guard case .failure(let error) = result else { return nil }
        (text, isOfModule) =
            switch RPCError(ofCall: error).code {
            case .failed where error is HandlerFailure: ("\(error)", true)
            case .overdue: ("no answer in time", true)
            case .notFound: ("no such route", false)
            case .notPermitted: ("not permitted", false)
            case .badParameter: ("a parameter is wrong", false)
            case .malformedURL: ("not a valid URL", false)
            case .unavailable: ("the module is not available", false)
            case .notRunning: ("the app stops", false)
            case .cancelled: ("the caller has cancelled it", false)
            case let code: ("error \(code.rawValue)", [.failed, .internalError].contains(code))
            }
    }
}

extension Result where Failure == any Error {
    /// Returns the result of a call, whose module may have been unloaded by a stop before it answered.
    func explained(by stop: HostStop) -> Self {
        guard case .failure(RouteError.unavailable(let module, _)) = self, stop.isAsked else {
            return self
        }
        return .failure(RouteError.stoppedUnanswered(module))
    }
}

/// A call from outside.
private final class CallFromOutside: LaneJob {
    private let app: LaneConfined<App>
    private let job: CallJob

    init(_ job: CallJob, of app: LaneConfined<App>) {
        self.job = job
        self.app = app
    }

    func run(on thread: LaneThread, after slot: UInt16) {
        guard slot == 0 else { return job.run(on: thread, after: slot) }
        let app = app.open(on: thread)
        // Before the launch nothing can be called: as everything from outside, it waits for READY.
        if app.isHeld(self) { return }
        guard let calls = app.calls, !app.phase.isEnding else { return job.abandon() }
        job.run(by: calls, on: thread, listedAs: self)
    }

    var isDroppable: Bool { job.isDroppable }

    var trace: TraceContext? { job.trace }

    func abandon() { job.abandon() }

    func abandonInHand() { job.abandonInHand() }
}

extension AppHost.CallReply {
    init(_ reply: any Encodable & Sendable) {
        self = .json((reply as? EncodedReply)?.json ?? [])
    }
}
