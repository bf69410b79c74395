/// The rules by which a process that has ended is restarted.
///
/// The limits are those of OTP's supervisors: after a number of deaths (*intensity*) within a *period*, the
/// process is no longer restarted. The delay doubles with each death, so that a child that cannot start does
/// not use up a processor; it is spread, so that children that died together are not restarted together.
struct RestartPolicy: Sendable {
    struct Limits: Hashable, Sendable {
        /// The delay after the first death.
        var shortestDelay: Duration = .milliseconds(100)
        /// The longest delay.
        var longestDelay: Duration = .seconds(30)
        /// The fraction by which a delay is made longer or shorter.
        var spread = 0.25
        /// The run time after which the next delay is the shortest again.
        var health: Duration = .seconds(30)
        /// The number of deaths within ``period`` after which the process is no longer restarted.
        var intensity = 5
        var period: Duration = .seconds(30)
    }

    /// The decision after a death.
    enum Verdict: Hashable, Sendable {
        case restart(after: Duration)
        /// Stop restarting: there were this many deaths within ``Limits/period``.
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
    ///   - end: The instant of its end, at or after `start`.
    ///   - chance: A number from 0 to 1, by which the delay is spread.
    /// - Returns: Whether it is restarted, and when.
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
