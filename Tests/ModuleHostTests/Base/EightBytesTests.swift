import Testing

@testable import ModuleHost

@Suite("eight bytes at once")
struct EightBytesTests {
    /// Returns the place of the first byte that is marked; nil where none is.
    private func first(_ bytes: [UInt8], _ marks: (EightBytes) -> UInt64) -> Int? {
        let marks = bytes.withUnsafeBytes { marks(EightBytes($0, at: 0)) }
        return marks == 0 ? nil : EightBytes.count(before: marks)
    }

    @Test("the first byte that is not printable is found, whatever comes after it")
    func unprintable() {
        for byte in UInt8.min...UInt8.max {
            for place in 0..<8 {
                for next in [UInt8(ascii: "a"), 0x20, 0x7E, 0x00, 0x7F, 0x80, 0xFF] {
                    var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 8)
                    bytes[place] = byte
                    if place < 7 { bytes[place + 1] = next }
                    let expected = bytes.firstIndex { !(0x20...0x7E ~= $0) }
                    #expect(first(bytes) { $0.unprintable } == expected, "\(bytes)")
                }
            }
        }
    }

    @Test("the first of a byte is found, whatever comes after it")
    func byte() {
        for byte in UInt8.min...UInt8.max {
            for place in 0..<8 {
                for next in [byte &+ 1, byte &- 1, byte, byte ^ 0x80] {
                    var bytes = [UInt8](repeating: byte ^ 0x55, count: 8)
                    bytes[place] = byte
                    if place < 7 { bytes[place + 1] = next }
                    #expect(first(bytes) { $0.marks(of: byte) } == place, "\(bytes)")
                }
            }
        }
    }

    /// Characters that are escaped, of one to four bytes, and some that look similar and are not.
    private static let characters: [Character] = [
        "\"", "\\", "$", "\n", "\u{0}", "\u{1F}", " ", "~", "\u{7F}", "\u{80}", "\u{9F}", "é",
        "\u{202E}", "\u{FEFF}",
        "語", "😀",
    ]

    @Test("a text reads back the same, wherever in it a character stands", arguments: characters)
    func text(_ character: Character) throws {
        for count in 0..<20 {
            for place in 0...count {
                let plain = String(repeating: "a", count: place)
                let text = plain + String(character) + String(repeating: "b", count: count - place)
                var json = JSONWriter()
                json.value(text)
                #expect(try JSONValue(parsing: json.bytes).string == text)
                let written = String(decoding: json.bytes, as: UTF8.self)
                #expect(!written.unicodeScalars.contains { isObeyed($0.value) })
                #expect(written.hasPrefix("\"\(plain)"))
            }
        }
    }

    @Test("text that is JSON already stays in one line")
    func raw() {
        var json = JSONWriter()
        json.array {
            $0.raw("[1,\n\r2\n]".utf8)
            $0.raw("3".utf8)
        }
        #expect(String(decoding: json.bytes, as: UTF8.self) == "[[1,  2 ],3]")
    }
}
