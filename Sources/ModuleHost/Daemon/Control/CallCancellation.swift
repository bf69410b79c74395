import AppService

/// The way to cancel one call of a client, for as long as its handler waits for the result.
final class CallCancellation: Sendable {
    private enum State {
        case waiting
        case cancellable(@Sendable () -> Void)
        case cancelled
        /// The call has its result.
        case done
    }

    private let state = Guarded(State.waiting)

    /// Sets the closure that cancels the call; calls it at once if the client has cancelled the call already.
    func whenCancelled(_ body: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            switch state {
            case .waiting, .cancellable: state = .cancellable(body)
            case .cancelled: return true
            case .done: break
            }
            return false
        }
        if isCancelled { body() }
    }

    /// Cancels the call.
    func cancel() {
        let body = state.withLock { state -> (@Sendable () -> Void)? in
            if case .done = state { return nil }
            defer { state = .cancelled }
            return if case .cancellable(let body) = state { body } else { nil }
        }
        body?()
    }

    /// Notes that the call has its result.
    func end() { state.withLock { $0 = .done } }
}

/// The calls of one connection that can be cancelled, by the ids that its client gave them.
struct CancellableCalls {
    private struct Call {
        let id: RPCID
        /// Released with the call's handler.
        weak var cancellation: CallCancellation?
    }

    private var calls: [Call] = []
    /// The number of calls at which those that are done are removed.
    private var limit = 64

    /// Adds a call.
    mutating func add(_ id: RPCID) -> CallCancellation {
        if calls.count >= limit {
            calls.removeAll { $0.cancellation == nil }
            limit = max(64, calls.count * 2)
        }
        let cancellation = CallCancellation()
        calls.append(Call(id: id, cancellation: cancellation))
        return cancellation
    }

    /// Cancels the calls with an id; has no effect if there is none any more.
    func cancel(_ id: RPCID) {
        for call in calls where call.id == id { call.cancellation?.cancel() }
    }
}
