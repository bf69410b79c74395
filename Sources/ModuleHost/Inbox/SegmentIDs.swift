/// The ids of the records of one segment: the hash of each, and where the record begins.
///
/// A table with open addressing, whose slots have eight bytes. An id takes 10 to 12.5 bytes, unless the segment
/// has it more than four times. A table is removed as a whole with its segment.
struct SegmentIDs {
    typealias Hash = UInt32

    /// The number of the segment.
    let segment: UInt32
    /// The slots: the hash in the upper half, the offset in the lower one.
    ///
    /// A record is in the first slot, counted from ``home(of:)``, that was empty when it was added.
    private var slots: ContiguousArray<UInt64>
    /// The number of slots that are not empty.
    private var used = 0
    /// The offsets of further records with one hash, in ascending order, so that an id that the segment has a
    /// thousand times does not fill a thousand slots in a row.
    private var others: [Hash: ArraySlice<UInt32>] = [:]

    private enum Slot {
        static let empty: UInt64 = 0
        /// The slot of a record that was removed: no record has the hash 0.
        static let removed: UInt64 = 1
        /// The largest number of slots with the same hash.
        static let limit = 4
    }

    init(of segment: UInt32) {
        self.segment = segment
        slots = Self.slots(for: 0)
    }

    /// The number of records.
    var count: Int { storedCount + others.values.reduce(0) { $0 + $1.count } }

    /// The size of the table in bytes, for tests; without what the allocator adds to each list of ``others``.
    var size: Int {
        slots.count * MemoryLayout<UInt64>.stride
            + others.capacity
            * (MemoryLayout<Hash>.stride + MemoryLayout<ArraySlice<UInt32>>.stride)
            + others.values.reduce(0) { $0 + $1.count * MemoryLayout<UInt32>.stride }
    }

    /// Adds a record; has no effect where it is there already.
    mutating func insert(_ hash: Hash, at offset: UInt32) {
        let hash = Self.stored(hash)
        var isThere = false
        var same = 0
        let end = visit(hash) { _, other in
            same += 1
            isThere = isThere || other == offset
        }
        if isThere { return }
        if same >= Slot.limit || !others.isEmpty && others[hash] != nil {
            others[hash, default: []].insert(ascending: offset)
        } else {
            slots[end] = UInt64(hash) << 32 | UInt64(offset)
            used += 1
            // A search ends at an empty slot: a fifth of them stay empty.
            if used * 5 > slots.count * 4 { makeRoom() }
        }
    }

    /// Returns the lowest offset, from `lowest` on, of a record with this hash.
    func first(_ hash: Hash, from lowest: UInt32) -> UInt32? {
        let hash = Self.stored(hash)
        var found: UInt32?
        _ = visit(hash) { _, offset in
            if offset >= lowest { found = min(found ?? offset, offset) }
        }
        guard !others.isEmpty, let more = others[hash] else { return found }
        let place = more.partitioningIndex { $0 >= lowest }
        return place < more.endIndex ? min(found ?? more[place], more[place]) : found
    }

    /// Removes a record.
    mutating func remove(_ hash: Hash, at offset: UInt32) {
        let hash = Self.stored(hash)
        var place: Int?
        _ = visit(hash) { if $1 == offset { place = $0 } }
        if let place {
            slots[place] = Slot.removed
        } else {
            others[hash]?.remove(ascending: offset)
            if others[hash]?.isEmpty == true { others[hash] = nil }
        }
    }

    // MARK: Slots

    private static func stored(_ hash: Hash) -> Hash { max(1, hash) }

    private static func slots(for count: Int) -> ContiguousArray<UInt64> {
        ContiguousArray(repeating: Slot.empty, count: max(8, count * 25 / 16))
    }

    private var storedCount: Int { slots.count { $0 > Slot.removed } }

    private func home(of hash: Hash) -> Int { Int((UInt64(hash) * UInt64(slots.count)) >> 32) }

    /// Calls `body` with each slot of this hash, and the offset of its record.
    ///
    /// - Returns: The empty slot where the search ends.
    @inline(__always)
    private func visit(_ hash: Hash, _ body: (_ index: Int, _ offset: UInt32) -> Void) -> Int {
        var index = home(of: hash)
        while slots[index] != Slot.empty {
            if slots[index] >> 32 == UInt64(hash) {
                body(index, UInt32(truncatingIfNeeded: slots[index]))
            }
            index = index + 1 == slots.count ? 0 : index + 1
        }
        return index
    }

    /// Moves the records to more slots, of which they take 64 %.
    private mutating func makeRoom() {
        let former = slots
        used = storedCount
        slots = Self.slots(for: used)
        for slot in former where slot > Slot.removed {
            let end = visit(Hash(truncatingIfNeeded: slot >> 32)) { _, _ in }
            slots[end] = slot
        }
    }
}

extension ArraySlice<UInt32> {
    /// Inserts into an ascending list, unless it is there; at the end in constant time.
    fileprivate mutating func insert(ascending value: UInt32) {
        guard let last, last >= value else { return append(value) }
        let place = partitioningIndex { $0 >= value }
        if self[place] != value { insert(value, at: place) }
    }

    /// Removes from an ascending list; the first in constant time.
    fileprivate mutating func remove(ascending value: UInt32) {
        let place = partitioningIndex { $0 >= value }
        guard place < endIndex, self[place] == value else { return }
        if place == startIndex { removeFirst() } else { remove(at: place) }
    }
}
