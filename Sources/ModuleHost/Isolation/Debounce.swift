import Dispatch

/// A filter for a repeated condition, which counts as one as long as it is absent for less than a second.
struct Debounce {
    private static let calm: UInt64 = 1_000_000_000
    /// The instant at which the condition was last present; nil if it is over.
    private var last: DispatchTime?

    var isUnderWay: Bool { last != nil }

    /// - Returns: Whether the condition begins.
    mutating func note(_ isThere: Bool) -> Bool {
        let now = DispatchTime.now()
        if isThere {
            defer { last = now }
            return last == nil
        }
        if let last, now.uptimeNanoseconds - last.uptimeNanoseconds > Self.calm { self.last = nil }
        return false
    }
}
