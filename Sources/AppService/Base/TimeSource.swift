import Dispatch

/// A monotonic clock with one-shot alarms: the source of deadlines, timers and durations.
///
/// Everything in this package that waits for time takes a time source, so that a test can substitute a clock
/// that it advances by hand.
package protocol TimeSource: Sendable {
    /// The current instant. Never goes back; goes on while the machine sleeps.
    func now() -> ContinuousClock.Instant

    /// The current instant as nanoseconds since one that does not change.
    ///
    /// For spans, where ``now()`` would be read often: it takes three times as many instructions.
    func nanoseconds() -> Int

    /// Returns the same to one tick of the kernel, for less: of another origin.
    func coarseNanoseconds() -> Int

    /// Runs `body` once, `delay` from now, unless the alarm is cancelled before.
    ///
    /// - Parameters:
    ///   - delay: How long to wait; zero or less means as soon as possible.
    ///   - body: Runs on a queue that all alarms share, so it must dispatch long work elsewhere.
    /// - Returns: The handle that cancels the alarm. Releasing the handle does not cancel.
    @discardableResult
    func schedule(
        after delay: Duration, _ body: @escaping @Sendable () -> Void
    ) -> any Alarm

    /// Runs `body` once, at an instant, unless the alarm is cancelled before.
    ///
    /// For a deadline that began earlier: a clock that moves between ``now()`` and this call does not move it.
    ///
    /// - Parameters:
    ///   - instant: The instant; one that has passed means as soon as possible.
    ///   - body: As for ``schedule(after:_:)``.
    /// - Returns: The handle that cancels the alarm. Releasing the handle does not cancel.
    @discardableResult
    func schedule(
        at instant: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void
    ) -> any Alarm
}

extension TimeSource {
    package func nanoseconds() -> Int { origin.duration(to: now()).wholeNanoseconds }

    package func coarseNanoseconds() -> Int { nanoseconds() }
}

/// The instant since which nanoseconds are counted where a source of time does not count them itself.
private let origin = ContinuousClock.now

/// A scheduled wake-up that can be cancelled.
package protocol Alarm: Sendable {
    /// Cancels the alarm. Has no effect once its body has begun.
    func cancel()
}

/// The real clock, with alarms on one thread of its own.
///
/// The thread belongs to a serial Dispatch queue, which keeps it from the first alarm on. Timers of Dispatch
/// are not used: their manager thread asks for a nice value below 0, and where the process may not have one,
/// a line about it goes to the system's log.
package final class SystemTimeSource: TimeSource {
    /// The time source that is used where no other is given.
    package static let shared = SystemTimeSource()

    private struct State {
        var alarms = AlarmList()
        var isRunning = false
        var isAsleep = false
        /// The instant until which the thread sleeps; nil means until it is woken.
        ///
        /// It stays where the alarm of this instant is cancelled, so that deadlines which are set and cancelled
        /// one after the other wake the thread once and not each time.
        var wakes: ContinuousClock.Instant?
        /// Whether the thread is to end, or has ended.
        var isOver = false

        /// Returns whether the thread has to be woken for an alarm.
        func isLate(for instant: ContinuousClock.Instant) -> Bool {
            isAsleep && wakes.map { instant < $0 } ?? true
        }
    }

    private let queue = DispatchQueue(label: "appservice.alarms")
    private let wait = TimedWait()
    private let state = Guarded(State())

    package init() {}

    package func now() -> ContinuousClock.Instant { .now }

    package func nanoseconds() -> Int { nanosecondsSinceBoot() }

    package func coarseNanoseconds() -> Int { coarseNanosecondsOfClock() }

    @discardableResult
    package func schedule(
        after delay: Duration, _ body: @escaping @Sendable () -> Void
    ) -> any Alarm {
        schedule(at: .now + max(delay, .zero), body)
    }

    @discardableResult
    package func schedule(
        at instant: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void
    ) -> any Alarm {
        let alarm = SystemAlarm(body, of: self)
        let (isLate, begins) = state.withLock { state in
            guard !state.isOver else { return (false, false) }
            state.alarms.add(alarm, at: instant)
            defer { state.isRunning = true }
            return (state.isLate(for: instant), !state.isRunning)
        }
        if begins { queue.async { self.run() } } else if isLate { wait.ring() }
        return alarm
    }

    /// Ends the thread, which goes back to Dispatch; alarms that are pending do not ring any more, and later
    /// ones neither.
    ///
    /// For a source of one host that ends before its process; not for ``shared``.
    package func end() {
        let dropped = state.withLock { state in
            state.isOver = true
            defer { state.alarms = AlarmList() }
            return state.alarms
        }
        // What the alarms hold ends outside the lock.
        withExtendedLifetime(dropped) {}
        wait.ring()
    }

    fileprivate func noteCancelled() { state.withLock { $0.alarms.noteCancelled() } }

    private func run() {
        while true {
            let now = ContinuousClock.now
            let (due, next, isOver) = state.withLock {
                state -> (SystemAlarm?, ContinuousClock.Instant?, Bool) in
                let due = state.alarms.popDue(at: now)
                if due == nil { state.wakes = state.alarms.next() }
                state.isAsleep = due == nil
                return (due, state.wakes, state.isOver)
            }
            if isOver { return }
            if let due {
                due.takeBody()?()
            } else {
                wait.sleep(for: next.map { now.duration(to: $0) })
            }
        }
    }
}

/// An alarm of the real clock.
final class SystemAlarm: Alarm {
    private let body: Guarded<(@Sendable () -> Void)?>
    private let source: SystemTimeSource

    init(_ body: @escaping @Sendable () -> Void, of source: SystemTimeSource) {
        self.body = Guarded(body)
        self.source = source
    }

    /// Whether the alarm was cancelled, or its body has begun.
    var isOver: Bool { body.withLock { $0 == nil } }

    /// Removes and returns the body; nil for each call but the first.
    func takeBody() -> (@Sendable () -> Void)? { body.withLock { $0.take() } }

    func cancel() {
        if takeBody() != nil { source.noteCancelled() }
    }
}

extension Duration {
    /// The duration in nanoseconds, clamped to the range of `Int` (about 292 years).
    package var wholeNanoseconds: Int {
        // A billion is 2⁹ · 1 953 125: up to an hour, 64 bits are enough after the shift, and a division of
        // 128 bits takes as long as reading the clock.
        if attoseconds >= 0, let part = Int(exactly: attoseconds >> 9) { return part / 1_953_125 }
        return Int(clamping: attoseconds / 1_000_000_000)
    }
}
