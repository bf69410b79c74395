/// Ids of records: the hash of each, and where the record begins.
///
/// A table with open addressing, whose slots have 12 bytes. With these, an id takes 13.3 to 16 bytes, unless there are
/// more than four records with it; those of removed segments take them until they are cleared.
struct IDTable {
    typealias Hash = UInt32

    /// The hash in each slot, or a ``Mark``.
    ///
    /// A record is in the first slot, counted from ``home(of:)``, that was empty when it was added.
    private var hashes: ContiguousArray<UInt32> = []
    /// The position in each slot, as its raw value.
    private var positions: ContiguousArray<UInt64> = []
    /// The number of slots that are not empty.
    private var used = 0
    /// The positions of further records with one hash, in ascending order, so that an id that the log has a
    /// thousand times does not fill a thousand slots in a row.
    private var others: [Hash: ArraySlice<UInt64>] = [:]

    /// A value instead of a hash; no record has these.
    private enum Mark {
        static let empty: UInt32 = 0
        /// The record was removed.
        static let removed: UInt32 = 1
    }

    /// The largest number of slots with the same hash.
    private static let slotLimit = 4

    /// The number of records from `lowest` on.
    func count(from lowest: EventPosition) -> Int {
        others.values.reduce(hashes.indices.count { holds($0, from: lowest.rawValue) }) {
            $0 + $1.count { $0 >= lowest.rawValue }
        }
    }

    /// The size of the table in bytes; without what the allocator adds to each list.
    var size: Int {
        hashes.count * (MemoryLayout<UInt32>.stride + MemoryLayout<UInt64>.stride)
            + others.capacity
            * (MemoryLayout<Hash>.stride + MemoryLayout<ArraySlice<UInt64>>.stride)
            + others.values.reduce(0) { $0 + $1.count * MemoryLayout<UInt64>.stride }
    }

    /// Adds a record; has no effect where it is there already.
    ///
    /// - Parameter lowest: The lowest position that is kept where the table needs more slots.
    mutating func insert(
        _ hash: Hash, at position: EventPosition, keepingFrom lowest: EventPosition
    ) {
        // A search ends at an empty slot: a tenth of them stay empty.
        if (used + 1) * 10 > hashes.count * 9 { resize(from: lowest.rawValue) }
        let (hash, position) = (Self.stored(hash), position.rawValue)
        var isThere = false
        var same = 0
        let end = visit(hash) {
            same += 1
            isThere = isThere || positions[$0] == position
        }
        if isThere { return }
        if same >= Self.slotLimit || !others.isEmpty && others[hash] != nil {
            others[hash, default: []].insert(ascending: position)
        } else {
            hashes[end] = hash
            positions[end] = position
            used += 1
        }
    }

    /// Returns the lowest position, from `lowest` on, of a record with this hash.
    func first(_ hash: Hash, from lowest: EventPosition) -> EventPosition? {
        guard !hashes.isEmpty else { return nil }
        let (hash, lowest) = (Self.stored(hash), lowest.rawValue)
        var found: UInt64?
        _ = visit(hash) {
            let position = positions[$0]
            if position >= lowest { found = min(found ?? position, position) }
        }
        if !others.isEmpty, let more = others[hash] {
            let index = more.partitioningIndex { $0 >= lowest }
            if index < more.endIndex { found = min(found ?? more[index], more[index]) }
        }
        return found.flatMap(EventPosition.init(rawValue:))
    }

    /// Removes a record.
    mutating func remove(_ hash: Hash, at position: EventPosition) {
        let (hash, position) = (Self.stored(hash), position.rawValue)
        var slot: Int?
        _ = visit(hash) { if positions[$0] == position { slot = $0 } }
        if let slot {
            hashes[slot] = Mark.removed
        } else {
            others[hash]?.remove(ascending: position)
            if others[hash]?.isEmpty == true { others[hash] = nil }
        }
    }

    /// Removes all records below `lowest`, and gives their memory back.
    mutating func removeAll(below lowest: EventPosition) {
        guard !hashes.isEmpty else { return }
        others = others.compactMapValues { positions in
            let left = positions[positions.partitioningIndex { $0 >= lowest.rawValue }...]
            return left.isEmpty ? nil : ArraySlice(Array(left))
        }
        resize(from: lowest.rawValue)
    }

    // MARK: Slots

    private static func stored(_ hash: Hash) -> Hash { max(Mark.removed + 1, hash) }

    private func home(of hash: Hash) -> Int { Int((UInt64(hash) * UInt64(hashes.count)) >> 32) }

    private func holds(_ index: Int, from lowest: UInt64) -> Bool {
        hashes[index] > Mark.removed && positions[index] >= lowest
    }

    /// Calls `body` with the index of each slot of this hash.
    ///
    /// - Returns: The empty slot where the search ends.
    @inline(__always)
    private func visit(_ hash: Hash, _ body: (_ index: Int) -> Void) -> Int {
        var index = home(of: hash)
        while hashes[index] != Mark.empty {
            if hashes[index] == hash { body(index) }
            index = index + 1 == hashes.count ? 0 : index + 1
        }
        return index
    }

    /// Moves the records in slots, from `lowest` on, to as many slots that three of four are used.
    private mutating func resize(from lowest: UInt64) {
        let former = self
        used = former.hashes.indices.count { former.holds($0, from: lowest) }
        let count = max(8, (used + 1) * 4 / 3)
        hashes = ContiguousArray(repeating: Mark.empty, count: count)
        positions = ContiguousArray(repeating: 0, count: count)
        for index in former.hashes.indices where former.holds(index, from: lowest) {
            let end = visit(former.hashes[index]) { _ in }
            hashes[end] = former.hashes[index]
            positions[end] = former.positions[index]
        }
    }
}

extension ArraySlice<UInt64> {
    /// Inserts into an ascending list, unless it is there; at the end in constant time.
    fileprivate mutating func insert(ascending value: UInt64) {
        guard let last, last >= value else { return append(value) }
        let index = partitioningIndex { $0 >= value }
        if self[index] != value { insert(value, at: index) }
    }

    /// Removes from an ascending list; the first in constant time.
    fileprivate mutating func remove(ascending value: UInt64) {
        let index = partitioningIndex { $0 >= value }
        guard index < endIndex, self[index] == value else { return }
        if index == startIndex { removeFirst() } else { remove(at: index) }
    }
}
