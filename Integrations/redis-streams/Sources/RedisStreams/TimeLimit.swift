import Dispatch
import Synchronization

/// Work that has no time limit of its own, such as looking for the address of a host name, and is left behind after one.
enum TimeLimit {
    private enum State {
        case running
        case done(UInt)
        case abandoned
    }

    /// Returns the result of work, or nil after a time.
    ///
    /// - Parameters:
    ///   - limit: The time for which the caller waits.
    ///   - queue: The queue on which the work is done; work that was left behind earlier is done first.
    ///   - work: Returns a pointer as a number.
    ///   - release: Releases the result of work that was left behind.
    static func run(
        within limit: DispatchTimeInterval, on queue: DispatchQueue,
        _ work: @escaping @Sendable () -> UInt, release: @escaping @Sendable (UInt) -> Void
    ) -> UInt? {
        let end = DispatchSemaphore(value: 0)
        let state = Box()
        queue.async {
            let result = work()
            let isAbandoned = state.value.withLock { state in
                if case .abandoned = state { return true }
                state = .done(result)
                return false
            }
            if isAbandoned { release(result) }
            end.signal()
        }
        _ = end.wait(timeout: DispatchTime.now() + limit)
        return state.value.withLock { state in
            if case .done(let result) = state { return result }
            state = .abandoned
            return nil
        }
    }

    private final class Box: Sendable {
        let value = Mutex(State.running)
    }
}
