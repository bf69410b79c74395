package import AppService

/// A clock that stands still until a test moves it.
///
/// Alarms run on the thread that calls ``advance(by:)``, in the order of their instants; what is
/// due at one instant runs in the order in which it was asked for.
package final class ManualTimeSource: TimeSource {
    private struct Pending {
        let instant: ContinuousClock.Instant
        let body: @Sendable () -> Void
    }

    private struct State {
        var now = ContinuousClock.now
        var pending: [Int: Pending] = [:]
        var nextID = 0
        /// Whether no more alarms are taken.
        var isOver = false
    }

    private let state = Guarded(State())

    private let look = Guarded<(@Sendable () -> Void)?>(nil)

    package init() {}

    /// Called by each thread that looks at the clock, before it sees the time: a place at which a test can
    /// hold a thread up.
    package var onLook: (@Sendable () -> Void)? {
        get { look.withLock { $0 } }
        set { look.withLock { $0 = newValue } }
    }

    package func now() -> ContinuousClock.Instant {
        onLook?()
        return state.withLock { $0.now }
    }

    /// How many alarms have been asked for and neither ran nor were cancelled.
    package var pendingAlarms: Int { state.withLock { $0.pending.count } }

    @discardableResult
    package func schedule(
        after delay: Duration, _ body: @escaping @Sendable () -> Void
    ) -> any Alarm {
        schedule(body) { $0 + max(delay, .zero) }
    }

    @discardableResult
    package func schedule(
        at instant: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void
    ) -> any Alarm {
        schedule(body) { max($0, instant) }
    }

    private func schedule(
        _ body: @escaping @Sendable () -> Void,
        due: (ContinuousClock.Instant) -> ContinuousClock.Instant
    ) -> any Alarm {
        let id = state.withLock { state in
            let id = state.nextID
            state.nextID += 1
            guard !state.isOver else { return id }
            state.pending[id] = Pending(instant: due(state.now), body: body)
            return id
        }
        return ManualAlarm { [weak self] in
            _ = self?.state.withLock { $0.pending.removeValue(forKey: id) }
        }
    }

    /// Moves the clock on, and runs everything that falls due on the way, at its instant.
    package func advance(by duration: Duration) {
        let end = now() + duration
        while let body = nextDue(until: end) { body() }
        state.withLock { $0.now = max($0.now, end) }
    }

    /// Moves the clock on as if the process had been stopped meanwhile: what fell due on the way runs
    /// once, at the end, and sees the new instant.
    package func jump(by duration: Duration) {
        state.withLock { $0.now += duration }
        advance(by: .zero)
    }

    /// Releases every alarm that is pending.
    ///
    /// The clock holds its alarms, and they hold what is to be woken, which holds the clock: a caller
    /// that is done with all of them says so.
    package func dropAlarms() {
        // What the alarms hold may cancel others as it goes, so it goes outside the lock.
        let dropped = state.withLock { state in
            let dropped = state.pending
            state.pending = [:]
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// Releases every alarm that is pending, and every later one.
    package func end() {
        state.withLock { $0.isOver = true }
        dropAlarms()
    }

    /// Lets the clock go on by itself, as fast as the real one, until ``end()``.
    ///
    /// For a stop that no test accompanies any more: its deadlines come to pass.
    package func run() {
        let start = ContinuousClock.now
        SystemTimeSource.shared.schedule(after: Self.step) { [self] in
            guard !state.withLock({ $0.isOver }) else { return }
            advance(by: start.duration(to: .now))
            run()
        }
    }

    /// The time between two movements of a clock that goes by itself.
    private static let step: Duration = .milliseconds(10)

    private func nextDue(until end: ContinuousClock.Instant) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard
                let (id, alarm) = state.pending
                    .min(by: { ($0.value.instant, $0.key) < ($1.value.instant, $1.key) }),
                alarm.instant <= end
            else { return nil }
            state.pending.removeValue(forKey: id)
            state.now = max(state.now, alarm.instant)
            return alarm.body
        }
    }
}

private struct ManualAlarm: Alarm {
    let onCancel: @Sendable () -> Void

    func cancel() { onCancel() }
}
