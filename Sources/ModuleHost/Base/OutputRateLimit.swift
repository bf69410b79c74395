/// A limit on the lines that a module's process may log: so many at once, and so many a second after that.
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
        /// It is shown; before it so many were left out, which was not reported yet.
        case show(afterDropping: Int)
        /// It is left out, the first one since one was shown.
        case dropFirst
        case drop
    }

    mutating func take(at now: ContinuousClock.Instant) -> Verdict {
        // Where lines were left out there is to be room for some before one is shown: else every second one
        // would say how many were left out.
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
