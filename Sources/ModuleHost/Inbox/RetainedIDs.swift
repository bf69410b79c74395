/// The ids of the events in the log, with the position of each.
///
/// The ids are represented by hashes of 64 bits, computed with a key of this process, so that no sender can
/// make two of them collide. Two that collide by chance, once in some million logs of a million ids, are
/// distinguished, since the record itself is read; the later one of the two is not stored then. A record
/// repeats another where an earlier one of the log has the same id and is itself a record: a rejected line
/// does not exclude a correct one with its id.
///
/// Not safe to share between threads: one owner.
package struct RetainedIDs {
    private typealias Hash = Int

    /// The first position of each id.
    private var first: [Hash: EventPosition] = [:]
    /// The other positions of ids that the log has more than once, in ascending order.
    private var others: [Hash: ArraySlice<EventPosition>] = [:]
    /// The ids of each segment.
    private var hashes: [UInt32: [Hash]] = [:]

    package init() {}

    /// The number of different ids.
    package var count: Int { first.count }

    /// The number of ids for which there is room.
    var capacity: Int { first.capacity }

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
            insert(id, at: item.position)
        }
    }

    /// Notes that the record at `position` has the id.
    ///
    /// Positions may arrive in any order, and more than once.
    package mutating func insert(_ id: String, at position: EventPosition) {
        var id = id
        id.withUTF8 { insert($0, at: position) }
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
        var text = id
        let hash = text.withUTF8 { Self.hash(of: $0) }
        while let place = first[hash], position.map({ place < $0 }) ?? true {
            if let item = try reader.read(at: place), item.position == place, item.error == nil,
                let record = try? InboxRecord(parsing: item.bytes), record.id == id
            {
                return place
            }
            // The record was rejected, or removed: the next one is the first.
            promote(hash)
        }
        return nil
    }

    /// Removes the ids of the segments below `number`, which are being removed.
    package mutating func removeSegments(below number: UInt32) {
        for segment in hashes.keys where segment < number {
            for hash in hashes.removeValue(forKey: segment) ?? [] {
                while let place = first[hash], place.segment < number { promote(hash) }
            }
        }
        first.shrink()
        others.shrink()
    }

    private mutating func promote(_ hash: Hash) {
        first[hash] = others[hash]?.first
        others[hash]?.removeFirst()
        if others[hash]?.isEmpty == true { others[hash] = nil }
    }

    private mutating func insert(_ id: some Collection<UInt8>, at position: EventPosition) {
        let hash = Self.hash(of: id)
        guard let place = first[hash] else {
            first[hash] = position
            hashes[position.segment, default: []].append(hash)
            return
        }
        if place == position { return }
        first[hash] = min(place, position)
        if others[hash, default: []].insert(growing: max(place, position)) {
            hashes[position.segment, default: []].append(hash)
        }
    }

    private static func hash(of id: some Collection<UInt8>) -> Hash {
        var hasher = Hasher()
        let isDone: Void? = id.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isDone == nil { for byte in id { hasher.combine(byte) } }
        return hasher.finalize()
    }
}

extension Dictionary {
    /// Gives back the room of a larger size, which a dictionary keeps.
    ///
    /// Not while a third of it is used: where one segment is removed for each that is begun, it would be copied
    /// for each.
    fileprivate mutating func shrink() {
        guard count < capacity / 3 else { return }
        var small = Dictionary(minimumCapacity: count)
        for (key, value) in self { small[key] = value }
        self = small
    }
}

extension ArraySlice<EventPosition> {
    /// Inserts into an ascending list; at the end in constant time.
    ///
    /// - Returns: False where it is there already.
    fileprivate mutating func insert(growing position: EventPosition) -> Bool {
        var place = endIndex
        while place > startIndex, self[place - 1] >= position {
            if self[place - 1] == position { return false }
            place -= 1
        }
        insert(position, at: place)
        return true
    }
}
