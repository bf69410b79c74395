/// Calls from outside of the app: what the control socket asks for.
///
/// From any thread. Each is answered once, on whatever thread; also where the host stops first. They come
/// after what was accepted before, from READY on.
extension Host {
    /// The reply to a call from outside.
    package enum CallReply: Sendable {
        /// The reply of a route, as JSON text.
        case json([UInt8])
        /// A module claimed the URL by itself, and gives no reply.
        case claimed(by: ModuleID)
    }

    package typealias CallCompletion<Reply> = @Sendable (Result<Reply, any Error>) -> Void

    /// Opens a URL: modules that claim URLs by themselves are asked first, then the router.
    ///
    /// - Parameters:
    ///   - url: The URL; a token in it is taken out.
    ///   - origin: Who calls.
    ///   - token: The caller's token, which counts before one of the URL.
    ///   - completion: Gets ``RouteError``, ``ParameterFault`` or ``HandlerFailure`` where it fails.
    package func open(
        _ url: String, origin: Origin, token: RouteToken?,
        completion: @escaping CallCompletion<CallReply>
    ) {
        let answer = Answer(completion)
        do throws(URLFault) {
            let event = try LifecycleEvent.openURL(url, token: token, origin: origin)
            enqueue(.event(event, answer))
        } catch {
            answer.give(.failure(RouteError.malformed(error)))
        }
    }

    /// Finds out whether a route would answer a URL; modules that claim URLs by themselves are not asked.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - origin: Who asks.
    ///   - token: The caller's token.
    ///   - completion: Gets ``RouteError`` for what is not a URL.
    package func canOpen(
        _ url: String, origin: Origin, token: RouteToken?,
        completion: @escaping CallCompletion<Bool>
    ) {
        let caller = Caller(origin: origin, token: token)
        call(completion) { try $0.canOpen(url, for: caller, on: $1) }
    }

    /// Calls an action of a module.
    ///
    /// - Parameters:
    ///   - module: The module's id.
    ///   - action: The action's name.
    ///   - parameters: What the request is made of.
    ///   - origin: Who calls.
    ///   - token: The caller's token.
    ///   - completion: Gets ``RouteError``, ``ParameterFault`` or ``HandlerFailure`` where it fails.
    package func call(
        _ module: String, _ action: String, _ parameters: RouteParameters, origin: Origin,
        token: RouteToken?, completion: @escaping CallCompletion<CallReply>
    ) {
        let caller = Caller(origin: origin, token: token, wantsJSON: true)
        call(completion) {
            CallReply(try $0.perform(module, action, parameters, for: caller, on: $1))
        }
    }

    /// The routes as they are now.
    ///
    /// - Parameter completion: Gets ``RouteError/stopped`` where the host has stopped.
    package func routes(_ completion: @escaping CallCompletion<RouteTable>) {
        call(completion) { dispatcher, thread in
            try dispatcher.asHost(on: thread) { dispatcher.table }
        }
    }

    /// Posts a message.
    ///
    /// - Parameters:
    ///   - topic: What it is about.
    ///   - payload: What it says.
    ///   - origin: Who posts.
    ///   - load: Let go of when the message is delivered.
    /// - Throws: ``EventError`` for an empty topic.
    package func post(
        _ topic: String, _ payload: JSONValue?, origin: Origin, load: InFlight? = nil
    ) throws(EventError) {
        enqueue(.event(try .message(topic: topic, payload: payload, origin: origin)), load: load)
    }

    private func call<Reply: Sendable>(
        _ completion: @escaping CallCompletion<Reply>,
        _ body: @escaping @Sendable (CallDispatcher, LaneThread) throws -> Reply
    ) {
        let answer = Answer(completion)
        onLane { [place = app] app, _ in
            // Before the launch there is nothing to call yet: as all that comes from outside, it waits for READY.
            if app.calls == nil,
                app.isHeld(LaneWork { thread in place.open(on: thread).begin(answer, body) })
            {
                return
            }
            app.begin(answer, body)
        }
    }
}

extension App {
    fileprivate func begin<Reply: Sendable>(
        _ answer: Answer<Reply>,
        _ body: @escaping @Sendable (CallDispatcher, LaneThread) throws -> Reply
    ) {
        guard let calls, !phase.isEnding else { return answer.give(.failure(RouteError.stopped)) }
        let job = CallJob(LaneConfined(calls), answer, body)
        if !isHeld(job) { gate.lane.prepend([job]) }
    }
}

extension Host.CallReply {
    init(_ reply: any Encodable & Sendable) {
        self = .json((reply as? EncodedReply)?.json ?? [])
    }
}
