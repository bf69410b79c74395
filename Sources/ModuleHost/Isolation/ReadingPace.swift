import Dispatch

/// How fast what a process says is read, in lines: so many at once, so many a second after that.
///
/// Whoever says more waits in its write.
struct ReadingPace {
    struct Limits: Hashable, Sendable {
        var burst = 20_000
        var perSecond = 20_000
    }

    let limits: Limits
    private var left: Double
    private var last = DispatchTime.now()

    init(_ limits: Limits) {
        self.limits = limits
        left = Double(limits.burst)
    }

    /// Notes that so much was read.
    mutating func take(_ count: Int) {
        refill()
        left -= Double(count)
    }

    /// How long to wait before more is read, in milliseconds; 0 not to wait.
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
