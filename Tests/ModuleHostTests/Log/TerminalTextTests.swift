import Testing

@testable import ModuleHostCore

@Suite("Text for a terminal")
struct TerminalTextTests {
    private static let foreign = "no \u{1B}[2J\u{1B}]0;pwned\u{7}\nFORGED\r\tx"
    private static let escaped = #"no \u{1b}[2J\u{1b}]0;pwned\u{07}\nFORGED\r\tx"#

    @Test("literals stand as they are, and what stands in them is escaped")
    func interpolation() {
        let text: TerminalText = "a\n\t\u{1B}[1m\(Self.foreign)\u{1B}[0m\n"
        #expect(text.string == "a\n\t\u{1B}[1m\(Self.escaped)\u{1B}[0m\n")
    }

    @Test("what is escaped, or the host's own, already stands as it is in another")
    func nesting() {
        let inner: TerminalText = "\n\(Self.foreign)"
        let outer: TerminalText = "<\(inner)>"
        #expect(outer.string == "<\n\(Self.escaped)>")
        #expect([inner, outer].joined(separator: "\n") == "\(inner)\n\(outer)")
    }

    @Test("values of any type are escaped")
    func values() {
        struct TestError: CustomStringConvertible {
            let description: String
        }
        let number = 5
        let text: TerminalText = "\(number) \(TestError(description: "a\nb"))"
        #expect(text.string == #"5 a\nb"#)
    }

    @Test("of lines that the host made, breaks and tabs stay")
    func lines() {
        #expect(
            TerminalText(lines: "a\n\tb\u{1B}[2J\r\u{9B}1m").string
                == "a\n\tb\\u{1b}[2J\\r\\u{9b}1m")
    }

    @Test("JSON stays the same JSON")
    func json() throws {
        let text = "{\"a\u{7F}\u{9B}\":\r\n\t[\"\u{202E}\u{2028}ü😀\\n\"]}\n"
        let shown = TerminalText(json: text.utf8).string
        #expect(shown == "{\"a\\u007f\\u009b\": \n [\"\\u202e\\u2028ü😀\\n\"]}\n")
        #expect(try JSONValue(parsing: shown) == JSONValue(parsing: text))
    }

    @Test(
        "what a terminal obeys, and what is invisible, is shown by its number",
        arguments: [
            0x00...0x1F, 0x7F...0x9F, 0x61C...0x61C, 0x200B...0x200B, 0x200E...0x200F,
            0x2028...0x202E, 0x2060...0x206F, 0xFEFF...0xFEFF, 0xFFF9...0xFFFB,
        ] as [ClosedRange<UInt32>])
    func obeyed(range: ClosedRange<UInt32>) throws {
        for number in range {
            let text = String(try #require(Unicode.Scalar(number)))
            let shown = TerminalText(escaping: text).string
            #expect(
                shown.hasPrefix("\\") && shown.unicodeScalars.allSatisfy { 0x20..<0x7F ~= $0.value }
            )
            #expect(TerminalText(escaping: shown).string == shown)
            #expect(excerpt(text) == "\u{FFFD}")
            // In JSON it is an escape, and reads as what it was.
            var json = JSONWriter()
            json.value(text)
            #expect(json.bytes.allSatisfy { 0x20..<0x7F ~= $0 })
            #expect(try JSONValue(parsing: json.bytes).string == text)
        }
    }

    @Test(
        "nothing else is",
        arguments: [
            "", "a b", "ü\u{A0}", "é\u{301}", "👨\u{200D}👩", "ک\u{200C}ه", "שלום", "\u{FFFD}",
        ])
    func shown(text: String) {
        #expect(TerminalText(escaping: text).string == text)
        #expect(excerpt(text) == text)
    }

    @Test("bytes that are not UTF-8 are U+FFFD in any string, and so here")
    func invalid() {
        let text = String(
            decoding: [0x61, 0x9B, 0x32, 0x4A, 0xC3, 0xE2, 0x80] as [UInt8], as: UTF8.self)
        #expect(TerminalText(escaping: text).string == "a\u{FFFD}2J\u{FFFD}\u{FFFD}")
    }
}
