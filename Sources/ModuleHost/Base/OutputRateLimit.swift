/// A limit on the lines that a module's process may log: a burst, and a number of lines a second after that.
struct OutputRateLimit: Sendable {
    private let limits: TokenBucket.Limits
    private var bucket: TokenBucket
    /// The number of dropped lines that no shown line has reported yet.
    private var dropped = 0

    init(
        _ limits: TokenBucket.Limits = .init(burst: 1000, perSecond: 100),
        at now: ContinuousClock.Instant
    ) {
        self.limits = limits
        bucket = TokenBucket(limits, at: now)
    }

    /// The decision about a line.
    enum Verdict: Hashable, Sendable {
        /// Show the line; the number of lines dropped before it is not reported yet.
        case show(afterDropping: Int)
        /// Drop the line, which is the first dropped one since a line was shown.
        case dropFirst
        case drop
    }

    mutating func take(at now: ContinuousClock.Instant) -> Verdict {
        // After dropped lines, there must be room for several before one is shown: otherwise every second
        // line would report how many were dropped.
        guard bucket.holds(dropped > 0 ? limits.perSecond : 1, at: now) else {
            dropped += 1
            return dropped == 1 ? .dropFirst : .drop
        }
        bucket.take(1, at: now)
        return .show(afterDropping: takeDropped())
    }

    /// Returns the number of dropped lines that were not reported yet, and counts from 0 again.
    mutating func takeDropped() -> Int {
        defer { dropped = 0 }
        return dropped
    }
}
