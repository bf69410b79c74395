/// A text in lines and columns: turns offsets into places, in one pass if they come in order.
///
/// Only faults need places, so nothing is counted while all is well.
struct SourceText {
    private let bytes: [UInt8]
    private var line = 1
    /// Where the line of the last place begins.
    private(set) var lineStart = 0
    /// How far the columns of the present line are counted, and to what.
    private var counted = 0
    private var column = 1

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The place of `offset`, which may be one past the end.
    mutating func place(of offset: Int) -> TextPlace {
        let offset = min(max(offset, 0), bytes.count)
        if offset < counted { self = SourceText(bytes) }
        for index in counted..<offset where bytes[index] == UInt8(ascii: "\n") {
            line += 1
            lineStart = index + 1
        }
        if lineStart > counted {
            counted = lineStart
            column = 1
        }
        column += Self.characters(in: bytes[counted..<offset])
        counted = offset
        return TextPlace(line: line, column: column)
    }

    private static func characters(in bytes: ArraySlice<UInt8>) -> Int {
        if bytes.allSatisfy({ $0 < 0x80 }) { return bytes.count }
        return String(decoding: bytes, as: UTF8.self).count
    }
}
