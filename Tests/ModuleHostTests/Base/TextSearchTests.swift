import Testing

@testable import ModuleHostCore

@Suite("A search for a text, byte by byte")
struct TextSearchTests {
    @Test(
        "the first occurrence is found",
        arguments: [
            ("ab::cd", "::", 2), ("::", "::", 0), (":a::", "::", 2), ("aab", "ab", 1),
            ("a", "ab", nil), ("", "a", nil), ("", "", 0), ("x", "", 0), ("ab", "b", 1),
            ("äö…ö", "…", 4), ("ab ab", "abc", nil),
        ])
    func first(text: String, part: String, offset: Int?) {
        let range = text.firstRange(ofBytes: part)
        #expect(
            range.map { text.utf8.distance(from: text.startIndex, to: $0.lowerBound) } == offset)
        #expect(range.map { String(text[$0]) } == offset.map { _ in part })
        #expect(text.contains(bytesOf: part) == (offset != nil))
    }

    @Test("a part of a text or of bytes is searched, and no more")
    func parts() {
        let text = "__A__B__"
        let rest = text.dropFirst(2)
        #expect(rest.firstRange(ofBytes: "__").map { String(text[$0.upperBound...]) } == "B__")
        let bytes = Array("x*** Signal 11".utf8)
        #expect(bytes[1...].firstRange(ofBytes: "*** Signal ") == 1..<12)
        #expect(bytes[2...].firstRange(ofBytes: "*** Signal ") == nil)
    }

    @Test("an accent does not hide the dots that git would see")
    func accents() {
        #expect("..\u{301}".contains(bytesOf: ".."))
        #expect(SourceRules.problem(ofReference: "a..\u{301}") != nil)
    }
}
