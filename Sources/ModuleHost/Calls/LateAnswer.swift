import AppService

/// The answer to a call whose caller can wait for it, where the route answers later: given exactly once.
///
/// A call job has one on offer; a route that answers at once leaves it unused.
final class LateAnswer: LateCall, PendingWork {
    /// The call, from its beginning to its answer.
    fileprivate struct Call {
        /// The route and the isolation of its module; nil where both are in another process.
        var target: Target?
        var wantsJSON = false
        /// The task of an asynchronous handler.
        var task: Task<Void, Never>?
        /// Notifies another handler that its caller no longer waits.
        var cancel: (@Sendable () -> Void)?
        /// The end of the call at its deadline; nil until ``awaitAnswer()``.
        var alarm: (any Alarm)?
    }

    /// The source of the answer, and how long it may take.
    fileprivate struct Target {
        let route: RouteTable.Entry
        let place: ModulePlace
        /// Nil where the route itself sees to it that the call ends.
        let limit: (time: Duration, end: ContinuousClock.Instant)?

        init(_ route: RouteTable.Entry, at place: ModulePlace, within limit: Duration?) {
            self.route = route
            self.place = place
            self.limit = limit.map { ($0, place.time.now() + $0) }
        }
    }

    private struct State {
        enum Phase { case unused, begun, answered }
        var phase = Phase.unused
        /// Only of a call that has begun.
        var call = Call()
    }

    private let state = Guarded(State())
    /// Called before a module begins to answer later; throws if it is not to.
    let admit: @Sendable (ModuleID) throws -> Void
    private let handler: @Sendable (Result<any Encodable & Sendable, any Error>) -> Void

    /// - Parameters:
    ///   - admit: Called before a module begins to answer later; throws if it is not to.
    ///   - handler: Called once with the answer, on any thread, if a route answers later; else never.
    init(
        admitting admit: @escaping @Sendable (ModuleID) throws -> Void = { _ in },
        _ handler: @escaping @Sendable (Result<any Encodable & Sendable, any Error>) -> Void
    ) {
        self.admit = admit
        self.handler = handler
    }

    /// Whether a route has taken the call, to answer it later.
    var isTaken: Bool {
        state.withLock { $0.phase != .unused }
    }

    // MARK: The call

    /// Notes that a route takes the call; ``awaitAnswer()`` has to follow once its handler has begun.
    ///
    /// On the lane.
    ///
    /// - Parameters:
    ///   - wantsJSON: Whether the reply is to be JSON.
    ///   - limit: The longest time until the answer, from now on; nil where the route itself sees to it that the call ends.
    func begin(
        _ route: RouteTable.Entry, at place: ModulePlace, wantsJSON: Bool, within limit: Duration?
    ) {
        begin(Call(target: Target(route, at: place, within: limit), wantsJSON: wantsJSON))
    }

    private func begin(_ call: Call) {
        state.withLock { $0 = State(phase: .begun, call: call) }
    }

    /// Limits the time until the answer, and lets the unloading of the module end the call, unless it has its
    /// answer, or this was called before.
    ///
    /// After the handler has returned or become overdue, since most answer at once and need neither.
    func awaitAnswer() {
        let target = state.withLock { state in
            state.phase == .begun && state.call.alarm == nil ? state.call.target : nil
        }
        guard let target, let limit = target.limit else { return }
        let time = target.place.time
        let alarm = time.schedule(at: limit.end) { [weak self] in self?.endAtDeadline() }
        guard change({ $0.alarm = alarm }) else { return alarm.cancel() }
        target.place.add(self)
        // It may have got its answer meanwhile.
        if state.withLock({ $0.phase != .begun }) { target.place.remove(self) }
        // A test may have moved its clock since the handler began; the alarm would wait for the next move.
        if time.now() >= limit.end { endAtDeadline() }
    }

    private func endAtDeadline() {
        guard let target, let limit = target.limit else { return }
        end(
            RouteError.noAnswerInTime(
                target.route.route.action, of: target.route.module, limit.time))
    }

    /// Notes that the host of this process takes the call, which limits the time until the answer.
    func beginUpstream() { begin(Call()) }

    /// Takes back ``begin(_:at:wantsJSON:within:)``: the call could not be made.
    func withdraw() {
        _ = take(leaving: .unused)
    }

    func run(_ handler: @escaping LateHandler) {
        guard let place = target?.place else { return }
        place.begin { _ in
            do {
                self.answer(.success(try await handler()))
            } catch {
                self.answer(.failure(HandlerError(error: error)))
            }
        } onCreate: { task in
            if !change({ $0.task = task }) { task.cancel() }
        }
    }

    func whenCancelled(_ body: @escaping @Sendable () -> Void) {
        if !change({ $0.cancel = body }) { body() }
    }

    @discardableResult
    func answer(_ result: Result<any Encodable & Sendable, any Error>) -> Bool {
        guard let call = take(leaving: .answered) else { return false }
        let answer = call.wantsJSON ? call.json(result) : result.withoutWrapper
        call.target?.route.route.count(answer)
        handler(answer)
        return true
    }

    func moduleUnloaded() {
        guard let target else { return }
        end(.unloadedUnanswered(target.route.module))
    }

    /// Ends the call without its handler, which is cancelled.
    func end(_ error: RouteError) {
        guard let call = take(leaving: .answered) else { return }
        call.target?.route.route.countFailure()
        handler(.failure(error))
        call.task?.cancel()
        call.cancel?()
    }

    /// The target of a call that has begun.
    private var target: Target? { state.withLock { $0.call.target } }

    /// Changes the call; false where it has an answer.
    private func change(_ body: (inout Call) -> Void) -> Bool {
        state.withLock { state in
            guard state.phase == .begun else { return false }
            body(&state.call)
            return true
        }
    }

    /// Ends the wait for the answer; nil where it has ended.
    private func take(leaving next: State.Phase) -> Call? {
        let taken = state.withLock { state -> Call? in
            guard state.phase == .begun else { return nil }
            var ended = State(phase: next)
            swap(&state, &ended)
            return ended.call
        }
        guard let alarm = taken?.alarm else { return taken }
        alarm.cancel()
        taken?.target?.place.remove(self)
        return taken
    }
}

extension LateAnswer.Call {
    /// Returns the result for a caller outside of the app.
    fileprivate func json(
        _ result: Result<any Encodable & Sendable, any Error>
    ) -> Result<any Encodable & Sendable, any Error> {
        guard let route = target?.route else { return result }
        do {
            return .success(
                EncodedReply(json: try JSONEncoding.bytes(try result.get()), entry: route))
        } catch let error where error is RouteError || error is ParameterError {
            return .failure(error)
        } catch {
            let error = (error as? HandlerError)?.error ?? error
            return .failure(HandlerFailure(module: route.module, error: DescribedError(error)))
        }
    }
}

extension Result where Success == any Encodable & Sendable, Failure == any Error {
    /// The result with the handler's own error.
    fileprivate var withoutWrapper: Self { mapError { ($0 as? HandlerError)?.error ?? $0 } }
}
