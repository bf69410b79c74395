/// Entries of the record, each behind the one in which it happened.
///
/// An entry stands below the delivery or call that it happened in, and the delivery of an event that a module has sent below the sending.
/// An entry whose cause the record has not kept stands on the first level.
struct CauseTree {
    /// The entries, with the number of those above each.
    let rows: [(entry: HostRecord, depth: Int)]

    /// - Parameter entries: The entries in the order in which they were added: a delivery stands behind what happened in it.
    init(_ entries: [HostRecord]) {
        var (spans, sendings): ([UInt64: Int], [EventPosition: Int]) = ([:], [:])
        for (index, entry) in entries.enumerated() {
            if let span = entry.trace?.id, span != 0 { spans[span] = index }
        }
        var below = [[Int]](repeating: [], count: entries.count)
        var top: [Int] = []
        for (index, entry) in entries.enumerated() {
            var cause = entry.trace.flatMap { spans[$0.parent] }
            switch entry.fact {
            case .sent(let sending): sendings[sending.position] = index
            // The sending is before it: a later one is of another inbox.
            case .delivered(let delivery):
                cause = delivery.position.flatMap { sendings[$0] } ?? cause
            default: break
            }
            if let cause, cause != index { below[cause].append(index) } else { top.append(index) }
        }
        var rows: [(entry: HostRecord, depth: Int)] = []
        var isPlaced = [Bool](repeating: false, count: entries.count)
        // A damaged file may have entries that are below each other: they follow the others.
        for index in top + entries.indices {
            var rest = [(index, 0)]
            while let (index, depth) = rest.popLast() {
                guard !isPlaced[index] else { continue }
                isPlaced[index] = true
                rows.append((entries[index], depth))
                rest += below[index].reversed().map { ($0, depth + 1) }
            }
        }
        self.rows = rows
    }
}
