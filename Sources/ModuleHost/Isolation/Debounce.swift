import Dispatch

/// A filter for a repeated condition, which counts as one as long as it is absent for less than a second.
struct Debounce {
    private static let calm: UInt64 = 1_000_000_000

    private(set) var isUnderWay = false
    /// The instant at which its absence was first noted; nil while it is present.
    ///
    /// It is not counted from the last instant of presence: any time without a note may lie between the two.
    private var absent: DispatchTime?

    /// - Returns: Whether the condition begins.
    mutating func note(_ isThere: Bool, at now: DispatchTime) -> Bool {
        if isThere {
            defer { (isUnderWay, absent) = (true, nil) }
            return !isUnderWay
        }
        let start = absent ?? now
        absent = start
        if now.uptimeNanoseconds - start.uptimeNanoseconds > Self.calm { isUnderWay = false }
        return false
    }
}
