import AppService

/// How many lines a module's process may have logged: so many at once, so many a second after that.
struct OutputAllowance: Sendable {
    struct Limits: Hashable, Sendable {
        var burst = 1000
        var perSecond = 100
    }

    let limits: Limits
    private var left: Double
    private var last: ContinuousClock.Instant
    /// How many lines were left out and not told of yet.
    private var dropped = 0

    init(_ limits: Limits = Limits(), at now: ContinuousClock.Instant) {
        self.limits = limits
        left = Double(limits.burst)
        last = now
    }

    /// What becomes of a line.
    enum Verdict: Hashable, Sendable {
        /// It is shown; before it so many were left out, which nobody has heard of yet.
        case show(afterDropping: Int)
        /// It is left out, the first one since one was shown.
        case dropFirst
        case drop
    }

    mutating func take(at now: ContinuousClock.Instant) -> Verdict {
        let (seconds, attoseconds) = last.duration(to: now).components
        let elapsed = Double(seconds) + Double(attoseconds) / 1e18
        left = min(Double(limits.burst), left + elapsed * Double(limits.perSecond))
        last = now
        // Where lines were left out there is to be room for some before one is shown: else every second one
        // would say how many were left out.
        guard left >= (dropped > 0 ? Double(min(limits.perSecond, limits.burst)) : 1) else {
            dropped += 1
            return dropped == 1 ? .dropFirst : .drop
        }
        left -= 1
        return .show(afterDropping: takeDropped())
    }

    /// How many were left out and not told of yet.
    mutating func takeDropped() -> Int {
        defer { dropped = 0 }
        return dropped
    }
}
