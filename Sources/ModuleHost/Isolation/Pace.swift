import Dispatch

/// How often something may be: so many times at once, so many a second after that.
struct Pace {
    struct Limits: Hashable, Sendable {
        var burst: Int
        var perSecond: Int
    }

    let limits: Limits
    private var left: Double
    private var last = DispatchTime.now()

    init(_ limits: Limits) {
        self.limits = limits
        left = Double(limits.burst)
    }

    /// Notes that it was, so many times.
    mutating func take(_ count: Int) {
        refill()
        left -= Double(count)
    }

    /// How long until it may be again, in milliseconds; 0 for now.
    mutating func pause() -> Int32 {
        refill()
        return left >= 0 ? 0 : Int32(clamping: Int(-left / Double(limits.perSecond) * 1000) + 1)
    }

    private mutating func refill() {
        let now = DispatchTime.now()
        let seconds = Double(now.uptimeNanoseconds - last.uptimeNanoseconds) / 1e9
        left = min(Double(limits.burst), left + seconds * Double(limits.perSecond))
        last = now
    }
}
