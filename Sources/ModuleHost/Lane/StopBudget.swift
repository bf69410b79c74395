import AppService
import Synchronization

/// The division of the time of a stop, so that modules that do not return leave the others time for the
/// shutdown events.
///
/// A third of `deadlines.stopAll` is reserved for each of the steps `resign-active`, `background` and
/// `terminate`. Time that a step does not use is left to those after it; events accepted before the stop take
/// their time from the first. A module gets half of the rest of its step, after ``share`` is set aside for
/// each module after it, and ``minimum`` at least.
struct StopBudget: Sendable {
    /// The least time that a module gets, and the whole time of a module that was overdue in this stop
    /// before.
    static let minimum: Duration = .milliseconds(20)
    /// The time set aside for each module that is yet to be notified.
    ///
    /// The minimum, and the time that the watchdog takes to detect its end. No more than half of a third in
    /// all, so that in an app of many modules a slow one still gets the rest.
    private static let share: Duration = .milliseconds(25)

    private let end: ContinuousClock.Instant
    private let third: Duration
    /// The number of thirds that are reserved for later steps.
    private var stepsToCome = 2
    /// Whether a module was overdue in this stop: then there may be more of them.
    var hasOverdueModules = false

    /// - Parameters:
    ///   - end: The instant at which the time of the stop is over.
    ///   - limit: The total time of the stop.
    init(end: ContinuousClock.Instant, limit: Duration) {
        self.end = end
        third = limit / 3
    }

    /// Begins the step of an event of the stop, before the modules receive it.
    mutating func reach(_ event: EventKind) {
        switch event {
        case .background: stepsToCome = 1
        case .terminate: stepsToCome = 0
        default: break
        }
    }

    /// Returns the time that a module may take which is entered at an instant.
    ///
    /// - Parameters:
    ///   - slot: The module's slot.
    ///   - count: How many modules are yet to be notified after it.
    ///   - now: The instant.
    /// - Returns: The time, from then on.
    func timeLimit(
        of slot: ModuleSlot?, before count: Int, at now: ContinuousClock.Instant
    ) -> Duration {
        if slot?.wasOverdueInStop.load(ordering: .relaxed) == true { return Self.minimum }
        let left = rest(at: now)
        return max(Self.minimum, (left - min(Self.share * count, third / 2)) / 2)
    }

    /// Returns the time that the process of a module gets: all of them have a step at the same time.
    func share(of slot: ModuleSlot, at now: ContinuousClock.Instant) -> Duration {
        let wasOverdue = slot.wasOverdueInStop.load(ordering: .relaxed)
        return wasOverdue ? Self.minimum : restOfStep(at: now)
    }

    /// Returns the time that all processes together have for the step: of the last one a half, so that the rest is left to release
    /// the modules.
    func restOfStep(at now: ContinuousClock.Instant) -> Duration {
        max(Self.minimum, stepsToCome == 0 ? rest(at: now) / 2 : rest(at: now))
    }

    private func rest(at now: ContinuousClock.Instant) -> Duration {
        now.duration(to: end - third * stepsToCome)
    }

    /// Returns the interval of the watchdog: a tenth of the shortest time that a module may get now.
    func tick(at now: ContinuousClock.Instant, atMost usual: Duration) -> Duration {
        let shortest =
            hasOverdueModules ? Self.minimum : timeLimit(of: nil, before: 0, at: now)
        return min(usual, shortest / 10)
    }
}
