import AppService
import Dispatch

/// A value that comes once, and that any number of tasks and threads may wait for.
package final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case open([@Sendable (Value) -> Void])
        case kept(Value)
    }

    private let state = Guarded(State.open([]))

    package init() {}

    /// Gives the value; what comes after the first is dropped.
    package func keep(_ value: Value) {
        let waiting = state.withLock { state -> [@Sendable (Value) -> Void] in
            guard case .open(let waiting) = state else { return [] }
            state = .kept(value)
            return waiting
        }
        for notify in waiting { notify(value) }
    }

    /// The value; nil as long as there is none.
    package var current: Value? {
        state.withLock { state in
            if case .kept(let value) = state { value } else { nil }
        }
    }

    /// Whether there is a value.
    package var isKept: Bool { current != nil }

    /// The value, as soon as there is one.
    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                then { continuation.resume(returning: $0) }
            }
        }
    }

    /// Waits on this thread until there is a value.
    ///
    /// For a test that another process waits for. A task that awaits gets its next turn behind the first
    /// turns of all tests of the run: later than the other process has patience for, where the machine is
    /// slow.
    package func wait() -> Value {
        let isKept = DispatchSemaphore(value: 0)
        let kept = Guarded(Value?.none)
        then { value in
            kept.withLock { $0 = value }
            isKept.signal()
        }
        while true {
            isKept.wait()
            if let value = kept.withLock({ $0 }) { return value }
        }
    }

    /// Calls a closure with the value, on any thread, as soon as there is one.
    package func then(_ notify: @escaping @Sendable (Value) -> Void) {
        let kept = state.withLock { state -> Value? in
            switch state {
            case .kept(let value): return value
            case .open(let waiting):
                state = .open(waiting + [notify])
                return nil
            }
        }
        if let kept { notify(kept) }
    }
}
