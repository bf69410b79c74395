import EventStreams

/// The form of the file of a stream: entries, one after the other.
///
/// An entry is a line with its position, the number of its fields' bytes with their lengths, and a checksum; then the fields. The first entry
/// has no fields: its position is that of the last entry that was removed.
struct EntryFile {
    /// The position of the last entry that was removed, or ``StreamPosition/start``.
    private(set) var removed = StreamPosition.start
    private(set) var entries: [(position: StreamPosition, fields: [[UInt8]])] = []
    /// The bytes of whole entries; what is behind them was left by a writer that died.
    private(set) var length = 0

    /// The position of the last entry that was ever added.
    var last: StreamPosition { entries.last?.position ?? removed }

    /// Reads whole entries until the end, or the first one that is not whole.
    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let words = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ")
            guard words.count >= 2, let position = StreamPosition(String(words[0])),
                let checksum = UInt64(words[1], radix: 16)
            else { return }
            rest = rest[(end + 1)...]
            var fields: [[UInt8]] = []
            for word in words.dropFirst(2) {
                guard let count = Int(word), count >= 0, count <= rest.count else { return }
                fields.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            guard rest.first == UInt8(ascii: "\n"), Self.checksum(position, fields) == checksum
            else { return }
            rest = rest.dropFirst()
            if fields.isEmpty { removed = position } else { entries.append((position, fields)) }
            length = rest.startIndex
        }
    }

    /// Returns the bytes of an entry.
    static func bytes(_ position: StreamPosition, _ fields: [[UInt8]]) -> [UInt8] {
        let lengths = fields.map { " \($0.count)" }.joined()
        let line = "\(position) \(String(checksum(position, fields), radix: 16))\(lengths)\n"
        return Array(line.utf8) + fields.joined() + [UInt8(ascii: "\n")]
    }

    /// FNV-1a, which finds an entry of which only a part reached the disk.
    private static func checksum(_ position: StreamPosition, _ fields: [[UInt8]]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in Array(position.description.utf8) + fields.joined(separator: [0xff]) {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        return hash
    }
}
