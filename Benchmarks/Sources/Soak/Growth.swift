/// The growth of a process's memory, and whether it goes on or was a step.
///
/// While the disk keeps the host waiting, events gather in memory. What the allocator needed for the longest wait so far
/// it keeps, so that RSS rises by a step whenever a longer one comes. A leak grows in most minutes.
struct Growth: CustomStringConvertible {
    /// The mean of the second minute: in the first one the host touches its code.
    private let second: Int
    private let last: Int
    /// The median growth from one minute to the next.
    private let median: Int
    private let steps: Int

    /// - Parameter means: The mean of each minute in kilobytes; at least three, else the result is nil.
    init?(ofMinutes means: [Int]) {
        guard means.count >= 3, let last = means.last else { return nil }
        let growths = zip(means.dropFirst(), means.dropFirst(2)).map { $1 - $0 }.sorted()
        (second, self.last) = (means[1], last)
        (median, steps) = (growths[growths.count / 2], growths.count)
    }

    /// The problem with the growth; nil if there is none.
    ///
    /// Without a leak, RSS ended at most 3.8 % above the second minute; with growing tables of ids, 6.7 to 9.7 %.
    var problem: String? {
        if median * steps * 100 > second * 2 {
            "RSS grew from minute to minute"
        } else if (last - second) * 100 > second * 6 {
            "RSS grew by more than 6 % after the second minute"
        } else {
            nil
        }
    }

    var description: String {
        "RSS: \(second) kB in the second minute, \(last) kB in the last; the median growth a minute is \(median) kB"
    }
}
