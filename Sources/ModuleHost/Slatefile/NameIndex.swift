/// The ids seen so far, compared as host names are: without regard to case.
///
/// A hash table of nodes, since a slatefile may have 50 000 modules, and creating a lower-case string of each
/// id would take longer than all the rest of the check.
struct NameIndex {
    private var slots: [UInt32]
    private let mask: Int

    /// Creates an index with room for `capacity` ids.
    init(capacity: Int) {
        var size = 16
        while size < capacity * 2 { size *= 2 }
        // Node 0 is the whole text and never an id, so it stands for a free slot.
        slots = Array(repeating: 0, count: size)
        mask = size - 1
    }

    /// Adds the string at `node` unless it is there already.
    ///
    /// - Returns: The node of the same id, if there is one.
    mutating func insert(_ node: Int, in document: JSONDocument) -> Int? {
        let slot = slot(of: node, in: document)
        guard slots[slot] == 0 else { return Int(slots[slot]) }
        slots[slot] = UInt32(truncatingIfNeeded: node)
        return nil
    }

    /// Returns the node of the same id as the string at `node`, if there is one.
    func find(_ node: Int, in document: JSONDocument) -> Int? {
        let found = slots[slot(of: node, in: document)]
        return found == 0 ? nil : Int(found)
    }

    /// Returns the slot of the same id, or the free one in which it would be.
    private func slot(of node: Int, in document: JSONDocument) -> Int {
        let name = document.stringBytes(node)
        var slot = Self.hash(of: name) & mask
        while slots[slot] != 0, !Self.isSame(document.stringBytes(Int(slots[slot])), name) {
            slot = (slot + 1) & mask
        }
        return slot
    }

    /// Returns a hash that others cannot predict, of eight bytes at a time.
    private static func hash(of name: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        var word: UInt64 = 0
        name.withUnsafeBufferPointer { name in
            for (index, byte) in name.enumerated() {
                word = word << 8 | UInt64(folded(byte))
                if index & 7 == 7 { hasher.combine(word) }
            }
        }
        hasher.combine(word)
        return hasher.finalize()
    }

    private static func isSame(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { folded($0) == folded($1) }
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        0x41...0x5A ~= byte ? byte | 0x20 : byte
    }
}
