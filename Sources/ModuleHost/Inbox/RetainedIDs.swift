/// The ids of the events in the log, with the position of each.
///
/// An id is represented by a hash of 32 bits, computed with a key of this process. Two ids with one hash are
/// distinguished, since the record itself is read. In a log of a million ids one look-up in 4300 reads another
/// record for this reason. Without the key, a sender cannot choose ids that collide. A record repeats another
/// where an earlier one of the log has the same id and is itself a record: a rejected line does not exclude a
/// correct one with its id.
///
/// Each segment has a table of its own, which is removed as a whole with the segment. A look-up searches all of them: 128
/// for a log of 1 GiB, in 6 µs.
///
/// Not safe to share between threads: one owner.
package struct RetainedIDs {
    /// The ids of each segment, in ascending order.
    private var tables: [SegmentIDs] = []
    private let makeHash: @Sendable (UnsafeRawBufferPointer) -> SegmentIDs.Hash

    package init() {
        self.init { bytes in
            var hasher = Hasher()
            hasher.combine(bytes: bytes)
            return SegmentIDs.Hash(truncatingIfNeeded: hasher.finalize())
        }
    }

    /// Creates a set of ids with another hash: tests substitute one that collides.
    init(hash: @escaping @Sendable (UnsafeRawBufferPointer) -> SegmentIDs.Hash) {
        makeHash = hash
    }

    /// The number of records with an id.
    var count: Int { tables.reduce(0) { $0 + $1.count } }

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
    /// Positions may arrive in any order, and more than once.
    package mutating func insert(_ id: String, at position: EventPosition) {
        insert(hash(of: id), at: position)
    }

    /// Returns the position of an earlier record with the same id as the one at `position`.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - position: The position of the record; nil for one that is still to be written.
    ///   - reader: Checks whether the line at a position is a record.
    /// - Returns: The first such position; nil where the record is the first with its id.
    /// - Throws: ``InboxError/unusable(_:)``.
    package mutating func original(
        of id: String, before position: EventPosition?, in reader: InboxReader
    ) throws(InboxError) -> EventPosition? {
        let hash = hash(of: id)
        for index in tables.indices {
            let segment = tables[index].segment
            if let position, segment > position.segment { return nil }
            var lowest: UInt32 = 0
            while let offset = tables[index].first(hash, from: lowest) {
                let place = EventPosition(segment: segment, offset: offset)
                if let position, place >= position { return nil }
                let item = try reader.read(at: place)
                if let item, item.position == place, item.error == nil,
                    let record = try? InboxRecord(parsing: item.bytes)
                {
                    if record.id == id { return place }
                } else {
                    // Rejected, or removed: not read again.
                    tables[index].remove(hash, at: offset)
                }
                guard offset < .max else { break }
                lowest = offset + 1
            }
        }
        return nil
    }

    /// Removes the ids of the segments below `number`, which are being removed.
    package mutating func removeSegments(below number: UInt32) {
        tables.removeFirst(tables.partitioningIndex { $0.segment >= number })
    }

    private mutating func insert(_ hash: SegmentIDs.Hash, at position: EventPosition) {
        let segment = position.segment
        // Mostly the newest.
        let isNewest = tables.last.map { $0.segment == segment } ?? false
        let place =
            isNewest ? tables.count - 1 : tables.partitioningIndex { $0.segment >= segment }
        if place == tables.count || tables[place].segment != segment {
            tables.insert(SegmentIDs(of: segment), at: place)
        }
        tables[place].insert(hash, at: position.offset)
    }

    private func hash(of id: String) -> SegmentIDs.Hash {
        var id = id
        return id.withUTF8 { makeHash(UnsafeRawBufferPointer($0)) }
    }
}
