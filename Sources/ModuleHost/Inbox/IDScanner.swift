/// A scanner that finds the id of a record without parsing the rest of it.
///
/// For a line that is a record the result equals that of ``InboxRecord``; for any other line it is undefined.
enum IDScanner {
    /// Returns the value of the member `id` of the object in the line, where it is a string; escapes
    /// resolved.
    static func id(in line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        line.withUnsafeBufferPointer { bytes in
            range(in: bytes).map { range in
                let start = line.startIndex
                let content = line[start + range.lowerBound..<start + range.upperBound]
                return content.contains(UInt8(ascii: "\\"))
                    ? JSONEscapes.resolved(content)[...] : content
            }
        }
    }

    /// Returns the range of the id, without its quotes.
    private static func range(in line: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        var depth = 0
        // Whether the current string is a key, at the depth of the record's members.
        var isKey = false
        var wasID = false
        var index = 0
        while index < line.count {
            switch line[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                isKey = depth == 1
                wasID = false
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
            case UInt8(ascii: ","):
                isKey = depth == 1
                wasID = false
            case UInt8(ascii: ":"):
                isKey = false
            case UInt8(ascii: "\""):
                let start = index + 1
                index = endOfString(in: line, from: start)
                guard depth == 1, index < line.count else { break }
                if isKey {
                    wasID = isID(line, start..<index)
                } else if wasID {
                    return start..<index
                }
            default: break
            }
            index += 1
        }
        return nil
    }

    private static func isID(_ line: UnsafeBufferPointer<UInt8>, _ key: Range<Int>) -> Bool {
        if key.count == 2 {
            return line[key.lowerBound] == UInt8(ascii: "i")
                && line[key.lowerBound + 1] == UInt8(ascii: "d")
        }
        guard line[key].contains(UInt8(ascii: "\\")) else { return false }
        return JSONEscapes.resolved(Array(line[key])[...]) == Array("id".utf8)
    }

    /// Returns the offset of the quote that ends the string, or the end of the line.
    @inline(__always)
    private static func endOfString(in line: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = start
        while index < line.count, line[index] != UInt8(ascii: "\"") {
            index += line[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index, line.count)
    }
}
