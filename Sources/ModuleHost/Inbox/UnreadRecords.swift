/// What this host wrote into the log and has not come to: it need not be made of its text again.
///
/// Belongs to the inbox's thread. Holds little: what does not fit is read like what others wrote.
struct UnreadRecords {
    private enum Limits {
        static let count = 1024
        static let bytes = 4 << 20
    }

    private struct Entry {
        let position: EventPosition
        let record: InboxRecord
        let size: Int
    }

    /// In the order of the log; those before `first` were taken.
    private var entries: [Entry] = []
    private var first = 0
    private var bytes = 0

    /// Keeps a record that was written at `position`, with the size of its line.
    mutating func add(_ record: InboxRecord, at position: EventPosition, size: Int) {
        guard entries.count - first < Limits.count, bytes + size <= Limits.bytes else { return }
        entries.append(Entry(position: position, record: record, size: size))
        bytes += size
    }

    /// The record of an item that was read; those before it are forgotten.
    ///
    /// - Returns: Nil where it is not known.
    mutating func take(for item: InboxItem) -> InboxRecord? {
        while first < entries.count, entries[first].position < item.position { dropFirst() }
        guard first < entries.count, entries[first].position == item.position,
            entries[first].size == item.bytes.count, item.fault == nil
        else { return nil }
        defer { dropFirst() }
        return entries[first].record
    }

    private mutating func dropFirst() {
        bytes -= entries[first].size
        first += 1
        // The room of those that were taken is used again once it is most of it.
        guard first * 2 > entries.count else { return }
        entries.removeFirst(first)
        first = 0
    }
}
