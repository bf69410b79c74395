import AppService

/// The times at which processes are to be visited, in milliseconds of any clock.
///
/// To set a time takes as long as the logarithm of their number.
struct VisitTimes {
    private struct Entry {
        var due: UInt64
        /// The earliest of its times in the heap that counts: it is not after ``due``, and leads to it.
        var listed: UInt64
    }

    private static let processBits: UInt64 = 24

    private var entries: [Int32: Entry] = [:]
    /// Times, with the process in the lowest bits.
    private var heap = KeyHeap()

    /// The number of times in the heap, among them those that were replaced and have not come yet.
    var count: Int { heap.count }

    /// The time of the next visit, or an earlier one at which there is none any more.
    var first: UInt64? { heap.first.map { $0 >> Self.processBits } }

    /// Sets the time of the next visit.
    ///
    /// - Parameter due: The time; nil for none.
    mutating func set(_ process: Int32, _ due: UInt64?) {
        guard let due else { return remove(process) }
        if let entry = entries[process], entry.listed <= due {
            entries[process]?.due = due
        } else {
            list(process, due)
        }
    }

    mutating func remove(_ process: Int32) { entries[process] = nil }

    /// Removes the times that have come.
    ///
    /// - Parameter body: Called with each process that is to be visited.
    mutating func takeDue(at now: UInt64, _ body: (Int32) -> Void) {
        while let first = heap.first, first >> Self.processBits <= now {
            _ = heap.pop()
            let process = Int32(truncatingIfNeeded: first & (1 << Self.processBits - 1))
            guard let entry = entries[process], entry.listed == first >> Self.processBits else {
                continue
            }
            if entry.due <= now {
                remove(process)
                body(process)
            } else {
                list(process, entry.due)
            }
        }
    }

    private mutating func list(_ process: Int32, _ due: UInt64) {
        entries[process] = Entry(due: due, listed: due)
        heap.push(due << Self.processBits | UInt64(process))
    }
}
