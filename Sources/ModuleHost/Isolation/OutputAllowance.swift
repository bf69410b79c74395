/// How many lines a module's process may have logged: so many at once, so many a second after that.
struct OutputAllowance: Sendable {
    struct Limits: Hashable, Sendable {
        var burst = 1000
        var perSecond = 100
    }

    /// What a line costs: the time in which one more may come.
    private let cost: Duration
    /// What all lines cost that may come at once.
    private let most: Duration
    private var left: Duration
    private var last: ContinuousClock.Instant
    /// How many lines were left out and not told of yet.
    private var dropped = 0

    init(_ limits: Limits = Limits(), at now: ContinuousClock.Instant) {
        cost = .seconds(1) / limits.perSecond
        most = cost * limits.burst
        left = most
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
        left = min(most, left + last.duration(to: now))
        last = now
        // Where lines were left out there is to be room for some before one is shown: else every second one
        // would say how many were left out.
        guard left >= (dropped > 0 ? min(.seconds(1), most) : cost) else {
            dropped += 1
            return dropped == 1 ? .dropFirst : .drop
        }
        left -= cost
        return .show(afterDropping: takeDropped())
    }

    /// How many were left out and not told of yet.
    mutating func takeDropped() -> Int {
        defer { dropped = 0 }
        return dropped
    }
}
