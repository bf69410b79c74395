/// The rules by which a process that has ended is restarted.
///
/// The terms are those of OTP's supervisors: so many deaths (*intensity*) within a *period*, and it is given
/// up. The delay doubles with each death, so that a child which cannot start does not take a processor;
/// it is spread, so that children which died together do not come back together.
struct RestartPolicy: Sendable {
    struct Limits: Hashable, Sendable {
        /// The delay after the first death.
        var shortestDelay: Duration = .milliseconds(100)
        /// The longest delay.
        var longestDelay: Duration = .seconds(30)
        /// By how much of itself a delay is made longer or shorter.
        var spread = 0.25
        /// The time that a process must have run for the next delay to be the shortest again.
        var health: Duration = .seconds(30)
        /// The number of deaths within ``period`` that is too many.
        var intensity = 5
        var period: Duration = .seconds(30)
    }

    /// The decision after a death.
    enum Verdict: Hashable, Sendable {
        case restart(after: Duration)
        /// So many deaths within ``Limits/period``.
        case giveUp(deaths: Int)
    }

    let limits: Limits
    /// The last deaths, as many as the intensity counts.
    private var deaths: [ContinuousClock.Instant] = []
    private var delay: Duration

    init(_ limits: Limits = Limits()) {
        self.limits = limits
        delay = limits.shortestDelay
    }

    /// Decides on a process that has ended.
    ///
    /// - Parameters:
    ///   - start: When it was started.
    ///   - end: When it ended, at or after `start`.
    ///   - chance: A number from 0 to 1, by which the delay is spread.
    /// - Returns: Whether it is started again, and when.
    mutating func died(
        startedAt start: ContinuousClock.Instant, at end: ContinuousClock.Instant, chance: Double
    ) -> Verdict {
        deaths.append(end)
        deaths.removeAll { $0.duration(to: end) > limits.period }
        guard deaths.count < limits.intensity else { return .giveUp(deaths: deaths.count) }
        if start.duration(to: end) >= limits.health { delay = limits.shortestDelay }
        let spread = delay * (1 - limits.spread + 2 * limits.spread * chance)
        delay = min(delay * 2, limits.longestDelay)
        return .restart(after: min(spread, limits.longestDelay))
    }
}
