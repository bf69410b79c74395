import Dispatch
import Testing

@testable import ModuleHostCore

@Suite("Plain text")
struct PlainTextTests {
    private func isPlain(_ byte: UInt8) -> Bool {
        0x20..<0x7F ~= byte && !"\"\\$".utf8.contains(byte)
    }

    private func end(of bytes: [UInt8], from start: Int) -> Int {
        bytes.withUnsafeBytes { $0.endOfPlainText(from: start) }
    }

    @Test("each byte that is not plain ends it, wherever it is and whatever follows")
    func bytes() {
        for byte in UInt8.min...UInt8.max {
            var texts: [[UInt8]] = []
            for place in 0..<20 {
                for next: UInt8 in [0x00, 0x21, 0x23, 0x5D, 0x7F, 0x80, 0xFF] {
                    var text = [UInt8](repeating: UInt8(ascii: "a"), count: 20)
                    text[place] = byte
                    if place + 1 < text.count { text[place + 1] = next }
                    texts.append(text)
                }
            }
            let wrong = texts.first { text in
                (0..<9).contains { start in
                    end(of: text, from: start)
                        != text[start...].firstIndex { !isPlain($0) } ?? text.count
                }
            }
            #expect(wrong == nil)
        }
    }

    @Test("nothing is plain text, too")
    func empty() {
        #expect(end(of: [], from: 0) == 0)
        #expect(end(of: Array("abc".utf8), from: 3) == 3)
    }

    @Test("texts without characters are written on several threads at once")
    func emptyAtOnce() {
        // The thread sanitizer finds a write to what all empty arrays share. (Expectations are locked: one in the
        // loop would order the threads.)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            var count = 0
            for _ in 0..<10_000 {
                var bytes: [UInt8] = []
                bytes.append(escaping: "", with: LineEscape.self)
                bytes.append("")
                count += bytes.count
            }
            #expect(count == 0)
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
