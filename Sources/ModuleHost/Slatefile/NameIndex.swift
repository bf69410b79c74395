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
        let name = document.stringBytes(node)
        var hasher = Hasher()
        for byte in name { hasher.combine(Self.folded(byte)) }
        var slot = hasher.finalize() & mask
        while slots[slot] != 0 {
            let other = Int(slots[slot])
            if Self.isSame(document.stringBytes(other), name) { return other }
            slot = (slot + 1) & mask
        }
        slots[slot] = UInt32(truncatingIfNeeded: node)
        return nil
    }

    private static func isSame(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { folded($0) == folded($1) }
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        0x41...0x5A ~= byte ? byte | 0x20 : byte
    }
}
