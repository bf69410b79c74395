import Testing

@testable import ModuleHostCore

@Suite("Entries of a standard error")
struct ErrorEntriesTests {
    private func entries(_ lines: [String]) -> [String] {
        var entries = ErrorEntries()
        return (lines.flatMap { entries.add($0) } + entries.flush()).map {
            "\($0.level) \($0.text)"
        }
    }

    @Test("a traceback is one entry, at error; what stands around it is not part of it")
    func traceback() {
        #expect(
            entries([
                "before", "Traceback (most recent call last):",
                "  File \"a.py\", line 1, in <module>",
                "    raise ValueError(1)", "ValueError: 1", "after",
            ]) == [
                "info before",
                "error Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n"
                    + "    raise ValueError(1)\nValueError: 1", "info after",
            ])
    }

    @Test("what Swift says of a crash is one entry up to the end, in parts of 256 lines")
    func crash() {
        let lines = ["App/A.swift:3: Fatal error: planned"] + (1..<300).map { "line \($0)" }
        let found = entries(["ready"] + lines)
        #expect(
            found == [
                "info ready", "error " + lines[..<256].joined(separator: "\n"),
                "error " + lines[256...].joined(separator: "\n"),
            ])
    }

    @Test("a traceback that is cut off is an entry all the same")
    func cutOff() {
        #expect(
            entries(["Traceback (most recent call last):", "  File"])
                == ["error Traceback (most recent call last):\n  File"])
    }
}
