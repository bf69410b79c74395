/// A limit on how often something happens: a burst, and a number of times a second after that.
struct TokenBucket: Sendable {
    struct Limits: Hashable, Sendable {
        /// The number of tokens that a full bucket holds.
        var burst: Int
        /// The number of tokens that are added each second.
        var perSecond: Int
    }

    /// The time in which a token is added: tokens are counted as time, which is exact.
    private let cost: Duration
    private let capacity: Duration
    private var level: Duration
    private var last: ContinuousClock.Instant

    /// Creates a full bucket.
    init(_ limits: Limits, at now: ContinuousClock.Instant) {
        cost = .seconds(1) / limits.perSecond
        capacity = cost * limits.burst
        level = capacity
        last = now
    }

    /// Returns whether the bucket has at least `count` tokens, or is full.
    mutating func holds(_ count: Int, at now: ContinuousClock.Instant) -> Bool {
        refill(at: now)
        return level >= min(cost * count, capacity)
    }

    /// Takes tokens; where there are fewer, the bucket goes into debt.
    mutating func take(_ count: Int, at now: ContinuousClock.Instant) {
        refill(at: now)
        level -= cost * count
    }

    /// Returns the milliseconds until the bucket has no debt, rounded up; 0 for none.
    mutating func pause(at now: ContinuousClock.Instant) -> Int32 {
        refill(at: now)
        return level >= .zero ? 0 : Int32(clamping: -level.wholeNanoseconds / 1_000_000 + 1)
    }

    private mutating func refill(at now: ContinuousClock.Instant) {
        level = min(capacity, level + last.duration(to: now))
        last = now
    }
}
