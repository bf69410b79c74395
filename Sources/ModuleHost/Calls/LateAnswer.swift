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
        /// Notifies the handler that its caller no longer waits.
        var cancel: (@Sendable () -> Void)?
        /// Ends the call at its deadline.
        var alarm: (any Alarm)?
    }

    /// The source of the answer, and how long it may take.
    fileprivate struct Target {
        let route: RouteTable.Entry
        let place: ModulePlace
        let limit: Duration
    }

    private enum State {
        case unused
        case begun(Call)
        case answered
    }

    private let state = Guarded(State.unused)
    private let handler: @Sendable (Result<any Encodable & Sendable, any Error>) -> Void

    /// - Parameter handler: Called once with the answer, on any thread, if a route answers later; else never.
    init(_ handler: @escaping @Sendable (Result<any Encodable & Sendable, any Error>) -> Void) {
        self.handler = handler
    }

    /// Whether a route has taken the call, to answer it later.
    var isTaken: Bool {
        state.withLock { if case .unused = $0 { false } else { true } }
    }

    // MARK: The call

    /// Notes that a route takes the call; ``limitTime()`` has to follow once its handler has begun.
    ///
    /// On the lane.
    ///
    /// - Parameters:
    ///   - route: The route.
    ///   - place: The isolation of its module.
    ///   - wantsJSON: Whether the reply is to be JSON.
    ///   - limit: The longest time until the answer.
    func begin(
        _ route: RouteTable.Entry, at place: ModulePlace, wantsJSON: Bool, within limit: Duration
    ) {
        let target = Target(route: route, place: place, limit: limit)
        state.withLock { $0 = .begun(Call(target: target, wantsJSON: wantsJSON)) }
        place.add(self)
    }

    /// Sets the alarm that ends the call at its deadline, unless it has one or its answer.
    ///
    /// After the handler has returned or become overdue, since most answer at once and need no alarm.
    func limitTime() {
        guard case .begun(let call) = state.withLock(\.self), call.alarm == nil,
            let target = call.target
        else { return }
        let alarm = target.place.time.schedule(after: target.limit) { [weak self] in
            self?.end(
                RouteError.noAnswerInTime(
                    target.route.route.action, of: target.route.module, target.limit))
        }
        if !change({ $0.alarm = alarm }) { alarm.cancel() }
    }

    /// Notes that the host of this process takes the call, which limits the time until the answer.
    func beginUpstream() { state.withLock { $0 = .begun(Call()) } }

    /// Takes back ``begin(_:at:wantsJSON:within:_:)``: the call could not be made.
    func withdraw() {
        _ = take(leaving: .unused)
    }

    func run(_ handler: @escaping LateHandler) {
        guard case .begun(let call) = state.withLock(\.self), let place = call.target?.place else {
            return
        }
        place.begin { _ in
            do {
                self.answer(.success(try await handler()))
            } catch {
                self.answer(.failure(HandlerError(error: error)))
            }
        } onCreate: { task in
            whenCancelled { task.cancel() }
        }
    }

    func whenCancelled(_ body: @escaping @Sendable () -> Void) {
        if !change({ $0.cancel = body }) { body() }
    }

    @discardableResult
    func answer(_ result: Result<any Encodable & Sendable, any Error>) -> Bool {
        guard let call = take(leaving: .answered) else { return false }
        handler(call.wantsJSON ? call.json(result) : result.withoutWrapper)
        return true
    }

    func moduleUnloaded() {
        guard case .begun(let call) = state.withLock(\.self), let target = call.target else {
            return
        }
        end(
            RouteError.unavailable(
                target.route.module, because: "it was unloaded before it answered"))
    }

    /// Ends the call without its handler, which is cancelled.
    func end(_ error: RouteError) {
        guard let call = take(leaving: .answered) else { return }
        handler(.failure(error))
        call.cancel?()
    }

    /// Changes the call; false where it has an answer.
    private func change(_ body: (inout Call) -> Void) -> Bool {
        state.withLock { state in
            guard case .begun(var call) = state else { return false }
            body(&call)
            state = .begun(call)
            return true
        }
    }

    /// Ends the wait for the answer; nil where it has ended.
    private func take(leaving next: State) -> Call? {
        let call = state.withLock { state -> Call? in
            guard case .begun(let call) = state else { return nil }
            state = next
            return call
        }
        call?.alarm?.cancel()
        call?.target?.place.remove(self)
        return call
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
