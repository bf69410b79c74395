import AppService

/// The ids seen so far, compared as host names are: without regard to case.
///
/// A hash table of nodes, since a slatefile may have 50 000 modules, and creating a lower-case string of each
/// id would take longer than all the rest of the check.
struct NameIndex {
    private var table = OpenTable()

    /// Creates an index with room for `capacity` ids.
    init(capacity: Int) { table.reserveCapacity(capacity) }

    /// Adds the string at `node` unless it is there already.
    ///
    /// - Returns: The node of the same id, if there is one.
    mutating func insert(_ node: Int, in document: JSONDocument) -> Int? {
        let name = document.stringBytes(node)
        return table.insert(node, Self.hash(of: name)) {
            Self.isSame(document.stringBytes($0), name)
        }
    }

    /// Returns the node of the same id as the string at `node`, if there is one.
    func find(_ node: Int, in document: JSONDocument) -> Int? {
        let name = document.stringBytes(node)
        return table.find(Self.hash(of: name)) { Self.isSame(document.stringBytes($0), name) }
    }

    /// Returns a hash that others cannot predict, of eight bytes at a time.
    private static func hash(of name: ArraySlice<UInt8>) -> UInt32 {
        var hasher = Hasher()
        var word: UInt64 = 0
        name.withUnsafeBufferPointer { name in
            for (index, byte) in name.enumerated() {
                word = word << 8 | UInt64(folded(byte))
                if index & 7 == 7 { hasher.combine(word) }
            }
        }
        hasher.combine(word)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }

    private static func isSame(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { folded($0) == folded($1) }
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        0x41...0x5A ~= byte ? byte | 0x20 : byte
    }
}
