import ModuleHostCore

/// The end of a service that runs off the lane, for the code of its module that waits for it.
final class ServiceEnd: Sendable {
    typealias Outcome = Result<Void, any Error>
    private typealias Waiter = CheckedContinuation<Outcome?, Never>

    private enum State {
        /// The service runs. Moves to `awaited` or `ended`.
        case running
        /// The module waits. Moves to `ended`, and back to `running` when its task is cancelled.
        case awaited(Waiter)
        case ended(Outcome)
    }

    private let state = Guarded(State.running)

    /// Notes the end; the first one counts.
    func keep(_ result: Outcome) {
        let waiting = state.withLock { state -> Waiter? in
            if case .ended = state { return nil }
            defer { state = .ended(result) }
            if case .awaited(let waiting) = state { return waiting }
            return nil
        }
        waiting?.resume(returning: result)
    }

    /// Waits for the end, or until the task is cancelled.
    ///
    /// - Parameter onCancel: Called once if the task is cancelled before the end, on the thread that cancels it: the
    ///   thread of the module may be busy.
    /// - Returns: The end; nil if the task was cancelled before.
    nonisolated(nonsending) func orCancellation(
        onCancel: @Sendable () -> Void
    ) async -> Outcome? {
        await withTaskCancellationHandler {
            await wait(isOver: { Task.isCancelled })
        } onCancel: {
            let (runs, waiting) = state.withLock { state -> (Bool, Waiter?) in
                switch state {
                case .running: return (true, nil)
                case .ended: return (false, nil)
                case .awaited(let waiting):
                    state = .running
                    return (true, waiting)
                }
            }
            if runs { onCancel() }
            waiting?.resume(returning: nil)
        }
    }

    /// Waits for the end, also in a task that is cancelled.
    nonisolated(nonsending) func result() async -> Outcome {
        await wait(isOver: { false }) ?? .failure(CancellationError())
    }

    private nonisolated(nonsending) func wait(
        isOver: () -> Bool
    ) async -> Outcome? {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Outcome?? in
                if case .ended(let result) = state { return .some(result) }
                // Under the lock: a later cancellation finds the continuation.
                if isOver() { return .some(nil) }
                state = .awaited(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Work that ends the service when it is dropped without having run.
    final class Guard: Sendable {
        let end: ServiceEnd

        init(of end: ServiceEnd) { self.end = end }

        deinit { end.keep(.failure(CancellationError())) }
    }
}
