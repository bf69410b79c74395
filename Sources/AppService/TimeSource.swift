import Dispatch

/// Where deadlines, timers and durations come from: a monotonic clock with one-shot alarms.
///
/// Everything in this package that waits for time takes one of these, so that a test can put a
/// clock in its place that it moves by hand.
package protocol TimeSource: Sendable {
    /// The present instant. Never goes back; goes on while the machine sleeps.
    func now() -> ContinuousClock.Instant

    /// Runs `body` once, `delay` from now, unless the alarm is cancelled before.
    ///
    /// - Parameters:
    ///   - delay: How long to wait; zero or less means as soon as possible.
    ///   - body: Runs on a queue that all alarms share, so it must hand on anything that takes long.
    /// - Returns: A handle to cancel by. Letting go of it does not cancel.
    @discardableResult
    func schedule(
        after delay: Duration, _ body: @escaping @Sendable () -> Void
    ) -> any Alarm
}

/// A wake-up that was asked for and may be called off.
package protocol Alarm: Sendable {
    /// Calls the alarm off. Has no effect once its body has begun.
    func cancel()
}

/// The real clock, with alarms on one Dispatch queue of its own.
///
/// A serial queue and not a global one: any use of a global queue leaves the process with about one
/// wake-up a second for ever.
package final class SystemTimeSource: TimeSource {
    /// The one that everything shares unless told otherwise.
    package static let shared = SystemTimeSource()

    private let queue = DispatchQueue(label: "appservice.alarms")

    package func now() -> ContinuousClock.Instant { .now }

    @discardableResult
    package func schedule(
        after delay: Duration, _ body: @escaping @Sendable () -> Void
    ) -> any Alarm {
        let alarm = DispatchAlarm(queue: queue)
        alarm.start(after: delay, body)
        return alarm
    }
}

private final class DispatchAlarm: Alarm {
    private let timer: Guarded<any DispatchSourceTimer>

    init(queue: DispatchQueue) {
        timer = Guarded(DispatchSource.makeTimerSource(queue: queue))
    }

    /// Its handler holds the alarm, so that nobody else has to; `cancel` breaks that circle.
    func start(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        timer.withLock { timer in
            timer.setEventHandler { [self] in
                body()
                cancel()
            }
            timer.schedule(deadline: .now() + .nanoseconds(max(delay, .zero).wholeNanoseconds))
            timer.activate()
        }
    }

    func cancel() { timer.withLock { $0.cancel() } }
}

extension Duration {
    /// The duration in nanoseconds, held within what an `Int` can say (about 292 years).
    package var wholeNanoseconds: Int { Int(clamping: attoseconds / 1_000_000_000) }
}
