/// A buffer that splits bytes that arrive in pieces into lines.
struct LineBuffer {
    /// The next element for the reader.
    enum Next: Hashable {
        /// A line, without its newline.
        case line([UInt8])
        /// A line is longer than the limit: the bytes after it are not usable.
        case tooLong
        /// There is no complete line.
        case nothing
    }

    /// The longest line, in bytes, without its newline.
    let limit: Int
    private var bytes: [UInt8] = []
    /// The start of the first line, and the offset up to which its end was searched.
    private var start = 0
    private var searched = 0

    init(limit: Int) { self.limit = limit }

    /// Whether there are bytes that do not make a complete line.
    ///
    /// Valid when ``next()`` has returned `nothing`.
    var isInsideLine: Bool { start < bytes.count }

    /// The number of bytes that wait to be taken.
    var count: Int { bytes.count - start }

    mutating func append(_ more: ArraySlice<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            searched -= start
            start = 0
        }
        bytes += more
    }

    /// Takes the next line.
    mutating func next() -> Next {
        guard let end = endOfLine() else { return count > limit ? .tooLong : .nothing }
        guard end - start <= limit else { return .tooLong }
        let line = Array(bytes[start..<end])
        start = end + 1
        searched = start
        if start == bytes.count { clear() }
        return .line(line)
    }

    /// Takes the rest at the end of the input, which is a line without a newline.
    mutating func rest() -> [UInt8] {
        let rest = Array(bytes[start...])
        clear()
        return rest
    }

    /// Discards everything, and also the allocation where it is large.
    mutating func clear() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 16)
        start = 0
        searched = 0
    }

    private mutating func endOfLine() -> Int? {
        let found = bytes.firstIndex(of: UInt8(ascii: "\n"), from: searched)
        searched = found ?? bytes.count
        return found
    }
}
