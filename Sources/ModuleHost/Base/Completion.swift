import AppService

/// A completion handler that is called exactly once, with the first result.
///
/// Any thread may finish it.
final class Completion<Success: Sendable, Failure: Error>: Sendable {
    private struct State {
        /// Nil once it has been called.
        var handler: (@Sendable (Result<Success, Failure>) -> Void)?
        var alarm: (any Alarm)?
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

    /// Calls the handler, unless it has been called.
    func finish(_ result: Result<Success, Failure>) {
        let pending = state.withLock { state in
            defer { state = State() }
            return state
        }
        pending.alarm?.cancel()
        pending.handler?(result)
    }
}
