import Testing

@testable import ModuleHostCore

@Suite("Lines of a standard error")
struct ErrorLinesTests {
    struct Row: CustomTestStringConvertible {
        let testDescription: String
        /// What is printed, as it arrives.
        let pieces: [String]
        /// The lines that each piece ends.
        let lines: [[String]]
        /// What has no end.
        var rest: [String] = []
    }

    /// A line has eight bytes.
    static let rows = [
        Row(testDescription: "nothing", pieces: [""], lines: [[]]),
        Row(testDescription: "a line", pieces: ["ab\n"], lines: [["ab"]]),
        Row(
            testDescription: "lines and a piece", pieces: ["a\nb\nc", "d\n"],
            lines: [["a", "b"], ["cd"]]),
        Row(
            testDescription: "byte by byte", pieces: ["a", "b", "\n", "c", "\n"],
            lines: [[], [], ["ab"], [], ["c"]]),
        Row(
            testDescription: "no newline at the end", pieces: ["a\nb", "c"], lines: [["a"], []],
            rest: ["bc"]),
        Row(
            testDescription: "empty lines are none", pieces: ["\n\na\n\n", "\n"],
            lines: [["a"], []]),
        Row(
            testDescription: "carriage returns at the end", pieces: ["a\r\nb\r\r\n\r\nc\rd\n"],
            lines: [["a", "b", "c\rd"]]),
        Row(
            testDescription: "a carriage return and its newline in two pieces",
            pieces: ["a\r", "\nb\r"], lines: [[], ["a"]], rest: ["b"]),
        Row(testDescription: "only a carriage return", pieces: ["\r"], lines: [[]]),
        Row(testDescription: "as long as a line is", pieces: ["12345678\n"], lines: [["12345678"]]),
        Row(
            testDescription: "as long as a line is, and a carriage return",
            pieces: ["12345678\r\n12345678", "\r\r\n"], lines: [["12345678"], ["12345678"]]),
        Row(testDescription: "cut", pieces: ["123456789\nb\n"], lines: [["12345678…", "b"]]),
        Row(
            testDescription: "cut in pieces", pieces: ["12345", "67890", "abc", "\nb\n"],
            lines: [[], [], [], ["12345678…", "b"]]),
        Row(
            testDescription: "cut by a byte that comes alone", pieces: ["12345678", "9", "\n"],
            lines: [[], [], ["12345678…"]]),
        Row(
            testDescription: "cut and without an end", pieces: ["123456789"], lines: [[]],
            rest: ["12345678…"]),
    ]

    @Test("lines, however they arrive", arguments: rows)
    func lines(row: Row) {
        var errors = ErrorLines(limit: 8)
        #expect(row.pieces.map { errors.lines(in: Array($0.utf8)[...]) } == row.lines)
        #expect(errors.rest() == row.rest)
        #expect(errors.rest().isEmpty)
        #expect(errors.last == row.lines.flatMap { $0 } + row.rest)
    }

    @Test("bytes that are not UTF-8 are shown as such")
    func invalid() {
        var errors = ErrorLines(limit: 8)
        #expect(errors.lines(in: [0x61, 0xFF, 0x62, 0x0A, 0xC3]) == ["a\u{FFFD}b"])
        // A character in two pieces is one.
        #expect(errors.lines(in: [0xA9, 0x0A]) == ["é"])
    }

    @Test("the last ten are kept")
    func last() {
        var errors = ErrorLines(limit: 8)
        for number in 1...12 { _ = errors.lines(in: Array("\(number)\n".utf8)[...]) }
        #expect(errors.last == (3...12).map { "\($0)" })
        _ = errors.lines(in: Array("13\n14\n15".utf8)[...])
        #expect(errors.last == (5...14).map { "\($0)" })
        #expect(errors.rest() == ["15"])
        #expect(errors.last == (6...15).map { "\($0)" })
    }
}
