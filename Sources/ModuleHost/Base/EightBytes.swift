/// Eight bytes of a text, tested at once.
///
/// The tests return marks: one bit for each byte that they look for, the lowest for the first byte. Only the lowest
/// bit is certain, since a byte that is found may also mark the ones after it. Marks of several tests can be joined.
struct EightBytes {
    private let word: UInt64

    private static let each: UInt64 = 0x0101_0101_0101_0101
    private static let high: UInt64 = 0x8080_8080_8080_8080

    /// - Parameters:
    ///   - bytes: The text.
    ///   - index: The place of the first of the eight, all of which must be in the text.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, at index: Int) {
        word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// The marks of the bytes that are not printable characters of ASCII.
    @inline(__always)
    var unprintable: UInt64 {
        (word | (word &- 0x20 &* Self.each) | (word &+ Self.each)) & Self.high
    }

    /// Returns the marks of the bytes that are `byte`.
    @inline(__always)
    func marks(of byte: UInt8) -> UInt64 {
        let others = word ^ UInt64(byte) &* Self.each
        return (others &- Self.each) & ~others & Self.high
    }

    /// Returns the number of bytes before the first one that is marked; there must be one.
    @inline(__always)
    static func count(before marks: UInt64) -> Int { marks.trailingZeroBitCount / 8 }
}
