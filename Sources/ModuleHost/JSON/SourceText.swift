/// A text in lines and columns: converts offsets to places.
///
/// Only diagnostics need places, so nothing is counted for a valid text.
struct SourceText {
    private let bytes: [UInt8]
    /// The start of each line, as far as the text was searched.
    private var lineStarts = [0]
    private var searched = 0
    /// The offset up to which the columns of the current line are counted, and their number: the diagnostics
    /// of a long line arrive in order, and the line is not counted again for each.
    private var counted = 0
    private var column = 1

    /// The start of the line of the last place.
    private(set) var lineStart = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the place of `offset`, which may be one past the end.
    mutating func place(of offset: Int) -> TextPlace {
        let offset = min(max(offset, 0), bytes.count)
        while searched < offset {
            searched += 1
            if bytes[searched - 1] == UInt8(ascii: "\n") { lineStarts.append(searched) }
        }
        let line = line(of: offset)
        if lineStarts[line] != lineStart || offset < counted {
            lineStart = lineStarts[line]
            counted = lineStart
            column = 1
        }
        column += Self.characters(in: bytes[counted..<offset])
        counted = offset
        return TextPlace(line: line + 1, column: column)
    }

    /// Returns the last line that begins at `offset` or before, counted from 0.
    private func line(of offset: Int) -> Int {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low
    }

    private static func characters(in bytes: ArraySlice<UInt8>) -> Int {
        if bytes.allSatisfy({ $0 < 0x80 }) { return bytes.count }
        return String(decoding: bytes, as: UTF8.self).count
    }
}
