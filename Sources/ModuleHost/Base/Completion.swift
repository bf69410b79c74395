import AppService

/// A completion handler that is called exactly once, with the first result.
///
/// Any thread may finish it.
final class Completion<Success: Sendable, Failure: Error>: Sendable {
    private struct State {
        /// Nil once it has been called.
        var handler: (@Sendable (Result<Success, Failure>) -> Void)?
        var alarm: (any Alarm)?
        var work: (@Sendable () -> Void)?
    }

    private let state: Guarded<State>
    private let abandoned: Failure

    /// - Parameters:
    ///   - abandoned: The error for the handler if the completion is released without a result.
    ///   - handler: Called once, on the thread that finishes or releases the completion.
    init(
        orAbandoned abandoned: Failure,
        _ handler: @escaping @Sendable (Result<Success, Failure>) -> Void
    ) {
        self.abandoned = abandoned
        state = Guarded(State(handler: handler))
    }

    deinit { finish(.failure(abandoned)) }

    /// Sets an alarm that the first result cancels.
    func set(_ alarm: any Alarm) {
        let isFinished = state.withLock { state in
            if state.handler != nil { state.alarm = alarm }
            return state.handler == nil
        }
        if isFinished { alarm.cancel() }
    }

    /// Sets a closure that the first result calls after the handler: it ends work for this result.
    ///
    /// Calls it at once if there is a result already.
    func whenFinished(_ endWork: @escaping @Sendable () -> Void) {
        let isFinished = state.withLock { state in
            if state.handler != nil { state.work = endWork }
            return state.handler == nil
        }
        if isFinished { endWork() }
    }

    /// Whether the handler has been called.
    var isFinished: Bool { state.withLock { $0.handler == nil } }

    /// Calls the handler, unless it has been called.
    func finish(_ result: Result<Success, Failure>) {
        let pending = state.withLock { state in
            defer { state = State() }
            return state
        }
        pending.alarm?.cancel()
        pending.handler?(result)
        pending.work?()
    }
}
