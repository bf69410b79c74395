/// Alarms in the order of their instants: a binary heap, whose cancelled alarms are dropped when they reach
/// the top, or when they are the greater part.
struct AlarmList {
    struct Entry {
        let instant: ContinuousClock.Instant
        /// The serial number, which orders alarms of one instant: the first scheduled is the first to ring.
        let number: UInt64
        let alarm: SystemAlarm

        fileprivate func isBefore(_ other: Self) -> Bool {
            (instant, number) < (other.instant, other.number)
        }
    }

    private var heap: [Entry] = []
    private var scheduled: UInt64 = 0
    private var cancelled = 0

    var count: Int { heap.count }

    /// Adds an alarm.
    mutating func add(_ alarm: SystemAlarm, at instant: ContinuousClock.Instant) {
        heap.append(Entry(instant: instant, number: scheduled, alarm: alarm))
        scheduled += 1
        rise(heap.count - 1)
    }

    /// Notes that one of the alarms was cancelled.
    mutating func noteCancelled() {
        cancelled += 1
        guard cancelled > 32, cancelled > heap.count / 2 else { return }
        heap.removeAll { $0.alarm.isOver }
        // A sorted array is a heap.
        heap.sort { $0.isBefore($1) }
        cancelled = 0
    }

    /// The instant of the next alarm; nil where there is none.
    mutating func next() -> ContinuousClock.Instant? {
        dropCancelled()
        return heap.first?.instant
    }

    /// Removes and returns an alarm that is due.
    mutating func popDue(at now: ContinuousClock.Instant) -> SystemAlarm? {
        dropCancelled()
        guard let first = heap.first, first.instant <= now else { return nil }
        removeFirst()
        return first.alarm
    }

    private mutating func dropCancelled() {
        while heap.first?.alarm.isOver == true {
            removeFirst()
            cancelled = max(0, cancelled - 1)
        }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < heap.count && heap[child].isBefore(heap[least]) { least = child }
            guard least != index else { return }
            heap.swapAt(index, least)
            index = least
        }
    }

    private mutating func rise(_ start: Int) {
        var index = start
        while index > 0, heap[index].isBefore(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }
}
