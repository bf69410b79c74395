/// The bytes of one segment, hashed and compared eight at a time.
///
/// The hash spreads the names that programs use; it does not resist names that are chosen to collide. There
/// are none: a table contains names from the app's own modules, and a URL is only looked up.
struct SegmentBytes {
    let bytes: UnsafeBufferPointer<UInt8>

    @inline(__always)
    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private static let multiplier: UInt64 = 0x9FB2_1C65_1E98_DF25

    /// The hash of the bytes with A to Z in lower case, so that one look-up finds a name in any case.
    @inline(__always)
    var foldedHash: UInt64 { hash(Self.folded) }

    /// The hash of the bytes as they are.
    @inline(__always)
    var exactHash: UInt64 { hash { $0 } }

    @inline(__always)
    private func hash(_ map: (UInt64) -> UInt64) -> UInt64 {
        var hash = Self.multiplier ^ UInt64(truncatingIfNeeded: bytes.count)
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = (hash ^ map(word(at: offset))) &* Self.multiplier
            hash ^= hash >> 32
            offset += 8
        }
        if offset < bytes.count {
            hash = (hash ^ map(tail(from: offset))) &* Self.multiplier
            hash ^= hash >> 32
        }
        return hash
    }

    /// Returns whether the bytes equal `other`; with A to Z equal to a to z if `folding`.
    @inline(__always)
    func equals(_ other: SegmentBytes, folding: Bool) -> Bool {
        folding ? equals(other, Self.folded) : equals(other) { $0 }
    }

    @inline(__always)
    private func equals(_ other: SegmentBytes, _ map: (UInt64) -> UInt64) -> Bool {
        guard bytes.count == other.bytes.count else { return false }
        var offset = 0
        while offset + 8 <= bytes.count {
            if map(word(at: offset)) != map(other.word(at: offset)) { return false }
            offset += 8
        }
        return offset == bytes.count || map(tail(from: offset)) == map(other.tail(from: offset))
    }

    /// Returns whether the bytes end in `suffix` and are longer.
    func ends(in suffix: SegmentBytes, folding: Bool) -> Bool {
        guard bytes.count > suffix.bytes.count else { return false }
        let end = UnsafeBufferPointer(rebasing: bytes[(bytes.count - suffix.bytes.count)...])
        return SegmentBytes(end).equals(suffix, folding: folding)
    }

    @inline(__always)
    private func word(at offset: Int) -> UInt64 {
        UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    /// Returns the last bytes, fewer than eight, as one number.
    @inline(__always)
    private func tail(from offset: Int) -> UInt64 {
        // Where there is a whole word before, the last eight bytes distinguish as well and are one load.
        if bytes.count >= 8 { return word(at: bytes.count - 8) }
        let raw = UnsafeRawBufferPointer(bytes)
        let count = bytes.count
        if count >= 4 {
            let first = UInt64(raw.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
            let last = UInt64(raw.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
            return first | last << 32
        }
        let middle = UInt64(bytes[count >> 1])
        return UInt64(bytes[0]) | middle << 8 | UInt64(bytes[count - 1]) << 16
    }

    /// Returns the eight bytes with A to Z in lower case.
    @inline(__always)
    private static func folded(_ word: UInt64) -> UInt64 {
        let low = word & 0x7F7F_7F7F_7F7F_7F7F
        let fromA = low &+ 0x3F3F_3F3F_3F3F_3F3F
        let aboveZ = low &+ 0x2525_2525_2525_2525
        let capitals = (fromA ^ aboveZ) & ~word & 0x8080_8080_8080_8080
        return word | capitals >> 2
    }
}
