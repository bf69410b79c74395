/// The ids of the events in the log, with the position of each.
///
/// An id is represented by 40 bits of a hash that is computed with a key of this process. Two ids with one hash are
/// distinguished, since the record itself is read: in a log of a million ids one look-up in a million reads
/// another record for this reason. Without the key, a sender cannot choose ids that collide. A record repeats
/// another where an earlier one of the log has the same id and is itself a record: a rejected line does not
/// exclude a correct one with its id.
///
/// Whether a record with a known id is the same event is decided by the earlier record, which is read anyway: there is no
/// fingerprint of its contents here that two events could share.
///
/// Eight bits of the hash select one of 256 tables. A look-up searches that one, however long the log is; a table that
/// becomes full moves its own ids only.
///
/// Not safe to share between threads: one owner.
package struct RetainedIDs {
    private static let tableCount = 256

    /// Empty until the first id comes.
    private var tables: [IDTable] = []
    /// The next table whose removed ids give their memory back.
    private var nextToClear = 0
    /// The segments below it are removed; a table may still have ids of theirs.
    private var firstKept: UInt32 = 0
    /// The segments of which there are ids.
    private var (oldest, newest): (UInt32, UInt32) = (.max, 0)
    private let makeHash: @Sendable (UnsafeRawBufferPointer) -> UInt64

    /// The first record of the log with an id.
    package struct Original {
        package let position: EventPosition
        package let record: InboxRecord
    }

    package init() {
        self.init { bytes in
            var hasher = Hasher()
            hasher.combine(bytes: bytes)
            return UInt64(truncatingIfNeeded: hasher.finalize())
        }
    }

    /// Creates a set of ids with another hash: tests substitute one that collides.
    init(hash: @escaping @Sendable (UnsafeRawBufferPointer) -> UInt64) {
        makeHash = hash
    }

    /// The number of records with an id.
    var count: Int { tables.reduce(0) { $0 + $1.count(from: start) } }

    /// The size of the tables in bytes.
    var size: Int { tables.reduce(0) { $0 + $1.size } }

    /// Adds the ids of all existing lines.
    ///
    /// - Parameter folder: The inbox.
    /// - Throws: ``InboxError/unusable(_:)``.
    package mutating func scan(_ folder: InboxFolder) throws(InboxError) {
        let reader = try InboxReader(folder)
        while true {
            let items = try reader.next(atMost: 4096)
            if items.isEmpty { return }
            insert(from: items)
        }
    }

    /// Adds the ids of lines.
    ///
    /// Fast: only the id of a line is read.
    mutating func insert(from items: [InboxItem]) {
        for item in items {
            guard item.error == nil, let id = IDScanner.id(in: item.bytes) else { continue }
            insert(id.withUnsafeBytes(makeHash), at: item.position)
        }
    }

    /// Notes that the record at `position` has the id.
    ///
    /// Positions may arrive in any order, and more than once. Those in removed segments have no effect.
    package mutating func insert(_ id: String, at position: EventPosition) {
        insert(hash(of: id), at: position)
    }

    /// Notes that the record at `position` has the id, and returns the first earlier record with that id.
    ///
    /// As ``insert(_:at:)`` and then ``original(of:before:in:)``; one search of a table where the record was noted
    /// before and is the first with its id, which it nearly always is.
    mutating func insert(
        _ id: String, at position: EventPosition, findingOriginalIn reader: InboxReader
    ) throws(InboxError) -> Original? {
        let hash = hash(of: id)
        let (table, part) = Self.slot(of: hash)
        if !tables.isEmpty, tables[table].first(part, from: start) == position { return nil }
        insert(hash, at: position)
        return try original(of: id, hash, before: position, in: reader)
    }

    /// Returns the first earlier record with the same id as the one at `position`.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - position: The position of the record; nil for one that is still to be written.
    ///   - reader: Checks whether the line at a position is a record.
    /// - Returns: The record; nil where the one at `position` is the first with its id.
    /// - Throws: ``InboxError/unusable(_:)``.
    package mutating func original(
        of id: String, before position: EventPosition?, in reader: InboxReader
    ) throws(InboxError) -> Original? {
        try original(of: id, hash(of: id), before: position, in: reader)
    }

    private mutating func original(
        of id: String, _ hash: UInt64, before position: EventPosition?, in reader: InboxReader
    ) throws(InboxError) -> Original? {
        guard !tables.isEmpty else { return nil }
        let (table, hash) = Self.slot(of: hash)
        var lowest = start
        while let candidate = tables[table].first(hash, from: lowest) {
            if let position, candidate >= position { return nil }
            let item = try reader.read(at: candidate)
            if let item, item.position == candidate, item.error == nil,
                let record = try? InboxRecord(parsing: item.bytes)
            {
                if record.id?.utf8.elementsEqual(id.utf8) == true {
                    return Original(position: candidate, record: record)
                }
            } else {
                // Rejected, or removed: not read again.
                tables[table].remove(hash, at: candidate)
            }
            guard let next = EventPosition(rawValue: candidate.rawValue &+ 1) else { break }
            lowest = next
        }
        return nil
    }

    /// Removes the id of a line that was rejected.
    mutating func remove(_ id: String, at position: EventPosition) {
        guard !tables.isEmpty else { return }
        let (table, hash) = Self.slot(of: hash(of: id))
        tables[table].remove(hash, at: position)
    }

    /// Removes the ids of the segments below `number`, which are being removed.
    ///
    /// Their memory is given back by clearing a part of the tables each time, with as many ids as four segments
    /// have (8 ms for four segments of 120 000 ids): all tables are cleared once while a quarter of the log is removed.
    package mutating func removeSegments(below number: UInt32) {
        firstKept = max(firstKept, number)
        guard oldest < firstKept else { return }
        let total = max(Int(newest) + 1, Int(firstKept)) - Int(oldest)
        let removed = Int(firstKept - oldest)
        let share = (4 * Self.tableCount * removed + total - 1) / total
        oldest = firstKept
        for _ in 0..<min(Self.tableCount, share) {
            tables[nextToClear].removeAll(below: start)
            nextToClear = (nextToClear + 1) % Self.tableCount
        }
    }

    private mutating func insert(_ hash: UInt64, at position: EventPosition) {
        guard position.segment >= firstKept else { return }
        if tables.isEmpty { tables = Array(repeating: IDTable(), count: Self.tableCount) }
        (oldest, newest) = (min(oldest, position.segment), max(newest, position.segment))
        let (table, hash) = Self.slot(of: hash)
        tables[table].insert(hash, at: position, keepingFrom: start)
    }

    /// The position from which ids are kept.
    private var start: EventPosition { EventPosition(segment: firstKept, offset: 0) }

    private static func slot(of hash: UInt64) -> (table: Int, hash: IDTable.Hash) {
        (Int(hash >> 56), IDTable.Hash(truncatingIfNeeded: hash))
    }

    private func hash(of id: String) -> UInt64 {
        var id = id
        return id.withUTF8 { makeHash(UnsafeRawBufferPointer($0)) }
    }
}
