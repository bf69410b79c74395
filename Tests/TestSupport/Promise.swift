import AppService

/// A value that comes once, and that any number of tasks may await.
package final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case open([CheckedContinuation<Value, Never>])
        case kept(Value)
    }

    private let state = Guarded(State.open([]))

    package init() {}

    /// Gives the value; what comes after the first is dropped.
    package func keep(_ value: Value) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, Never>] in
            guard case .open(let waiting) = state else { return [] }
            state = .kept(value)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// The value, as soon as there is one.
    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let kept = state.withLock { state -> Value? in
                    switch state {
                    case .kept(let value): return value
                    case .open(let waiting):
                        state = .open(waiting + [continuation])
                        return nil
                    }
                }
                if let kept { continuation.resume(returning: kept) }
            }
        }
    }
}
