import Synchronization

/// The place where code waits until all of it is let go.
enum Gates {
    private static let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])
    private static let arrived = Count()

    /// Reserves capacity for `count` waiters, and resets their number to zero.
    static func reserve(_ count: Int) {
        waiting.withLock { $0.reserveCapacity(count) }
        arrived.reset()
    }

    static func pass() async {
        await withCheckedContinuation { continuation in
            waiting.withLock { $0.append(continuation) }
            arrived.add()
        }
    }

    /// Waits until so many wait.
    static func passed(_ count: Int) async { await arrived.reached(count) }

    static func open() {
        let all = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for continuation in all { continuation.resume() }
    }

    /// A number that one waits for.
    final class Count: Sendable {
        private struct State {
            var count = 0
            var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?
        }

        private let state = Mutex(State())

        func reset() { state.withLock { $0 = State() } }

        func add() {
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                state.count += 1
                guard let waiter = state.waiter, waiter.count <= state.count else { return nil }
                state.waiter = nil
                return waiter.continuation
            }
            waiter?.resume()
        }

        func reached(_ count: Int) async {
            await withCheckedContinuation { continuation in
                let isReached = state.withLock { state in
                    if state.count < count { state.waiter = (count, continuation) }
                    return state.count >= count
                }
                if isReached { continuation.resume() }
            }
        }
    }
}
