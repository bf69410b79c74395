/// The encoding of bytes as text (RFC 4648), for content that is not text.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bytes as text.
    static func text(of bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let group = rest.prefix(3)
            rest = rest.dropFirst(3)
            var bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            var four: [UInt8] = []
            for _ in 0..<4 {
                four.append(alphabet[bits & 63])
                bits >>= 6
            }
            text += four.reversed().prefix(group.count + 1)
            text += repeatElement(UInt8(ascii: "="), count: 3 - group.count)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes the output of ``text(of:)``; returns nil for any other text.
    static func bytes(of text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits = 0
        var count = 0
        for digit in text.utf8 where digit != UInt8(ascii: "=") {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return self.text(of: bytes) == text ? bytes : nil
    }
}
