import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Line buffer")
struct LineBufferTests {
    private func lines(_ buffer: inout LineBuffer) -> [LineBuffer.Next] {
        var lines: [LineBuffer.Next] = []
        while true {
            let next = buffer.next()
            if next == .nothing { return lines }
            lines.append(next)
            if next == .tooLong { return lines }
        }
    }

    private func line(_ text: String) -> LineBuffer.Next { .line(Array(text.utf8)) }

    @Test("several lines at once, and a part of one more")
    func several() {
        var buffer = LineBuffer(limit: 10)
        buffer.append(Array("a\n\nbc\nd".utf8)[...])
        #expect(lines(&buffer) == [line("a"), line(""), line("bc")])
        #expect(buffer.isInsideLine)
        #expect(buffer.rest() == Array("d".utf8))
        #expect(!buffer.isInsideLine)
    }

    @Test(
        "the longest line, and one byte more",
        arguments: [
            ("12345\n", [LineBuffer.Next.line(Array("12345".utf8))]),
            ("123456\n", [.tooLong]),
            // Its end need not come.
            ("123456", [.tooLong]),
            ("12345", []),
        ])
    func limit(text: String, expected: [LineBuffer.Next]) {
        var buffer = LineBuffer(limit: 5)
        buffer.append(Array(text.utf8)[...])
        #expect(lines(&buffer) == expected)
    }

    @Test("whatever the pieces, the lines are the same")
    func randomPieces() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            let texts = (0..<Int.random(in: 0...8, using: &random)).map { _ in
                (0..<Int.random(in: 0...20, using: &random)).map { _ in
                    UInt8.random(in: 0x20...0xFF, using: &random)
                }
            }
            let tail = texts.count % 2 == 0 ? Array("tail".utf8) : []
            var rest = (texts.flatMap { $0 + [0x0A] } + tail)[...]
            var buffer = LineBuffer(limit: 20)
            var found: [LineBuffer.Next] = []
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...7, using: &random))
                rest = rest.dropFirst(piece.count)
                buffer.append(piece)
                // Sometimes lines wait while more bytes come.
                if Bool.random(using: &random) { found += lines(&buffer) }
            }
            found += lines(&buffer)
            #expect(found == texts.map { .line($0) })
            #expect(buffer.rest() == tail)
        }
    }
}
