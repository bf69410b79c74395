/// The records that this host has written into the log and not read yet: they need not be parsed again.
///
/// Belongs to the inbox's thread. Has a small capacity: records that do not fit are read like those of other
/// programs.
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

    /// The records in the order of the log.
    private var entries = Deque<Entry>()
    private var bytes = 0

    /// Keeps a record that was written at `position`, with the size of its line.
    mutating func add(_ record: InboxRecord, at position: EventPosition, size: Int) {
        guard entries.count < Limits.count, bytes + size <= Limits.bytes else { return }
        entries.append(Entry(position: position, record: record, size: size))
        bytes += size
    }

    /// Returns the record of an item that was read; those before it are removed.
    ///
    /// - Returns: Nil where it is not known.
    mutating func take(for item: InboxItem) -> InboxRecord? {
        while let entry = entries.first, entry.position < item.position { dropFirst() }
        guard let entry = entries.first, entry.position == item.position,
            entry.size == item.bytes.count, item.error == nil
        else { return nil }
        dropFirst()
        return entry.record
    }

    private mutating func dropFirst() { bytes -= entries.popFirst()?.size ?? 0 }
}
