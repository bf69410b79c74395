import Testing

@testable import ModuleHostCore

@Suite("Log lines")
struct LogFormatTests {
    private let handled = LogRecord(
        time: WallTime(seconds: 1_772_358_060, nanoseconds: 482_000_000), level: .info,
        module: "com.mm.push", event: "push", duration: .microseconds(84), message: "handled",
        fields: [LogField("badge", 3), LogField("opened", true), LogField("uri", "slate://a b")])

    private let plain = LogRecord(
        time: WallTime(seconds: 1_772_358_060), level: .warning, message: "odd")

    private func line(_ record: LogRecord, _ format: LogFormat) -> String {
        var bytes: [UInt8] = []
        format.append(record, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("in a file: date, level, module, event, message, duration, fields")
    func file() {
        #expect(
            line(handled, .file)
                == "2026-03-01T09:41:00.482Z info     com.mm.push       push  handled in 84µs"
                + " badge=3 opened=true uri=\"slate://a b\"\n")
        #expect(line(plain, .file) == "2026-03-01T09:41:00.000Z warning  host              odd\n")
        #expect("\(plain)" == "2026-03-01T09:41:00.000Z warning  host              odd")
    }

    @Test("for the journal: a priority and no time")
    func journal() {
        #expect(line(plain, .journal) == "<4>warning  host              odd\n")
        let levels = LogLevel.allCases.map { level in
            line(LogRecord(time: plain.time, level: level, message: ""), .journal).prefix(3)
        }
        #expect(levels == ["<7>", "<6>", "<5>", "<4>", "<3>"])
    }

    @Test("on a terminal: the time of day, colours where wanted")
    func terminal() {
        let text = line(plain, .terminal(colors: false))
        #expect(text.wholeMatch(of: /..:..:..\.000 warning  host              odd\n/) != nil)
        let colored = line(plain, .terminal(colors: true))
        #expect(colored.hasSuffix("\u{1B}[33mwarning\u{1B}[0m  host              odd\n"))
    }

    @Test(
        "a long line is broken between words where the terminal has no more room, below its beginning"
    )
    func broken() {
        var record = plain
        record.message =
            "'hostd reload' runs it again, \(String(repeating: "and ", count: 16))\n!"
        var bytes: [UInt8] = []
        LogFormat.terminal(colors: false).append(record, to: &bytes, width: 80)
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        let margin = String(repeating: " ", count: 40)
        #expect(lines.count == 3 && lines.allSatisfy { $0.count <= 80 })
        #expect(lines[0].hasSuffix("host              'hostd reload' runs it again, and and"))
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix(margin + "and and") })
        #expect(lines[2].hasSuffix(#"and \n!"#))
        // It has less room than half of the line.
        #expect(
            TerminalText(escaping: "one two three four").continued(after: 30, to: 40).string
                == "one two\n        three four")
        #expect(TerminalText(escaping: "one two").continued(after: 33, to: 40).string == "one two")
    }

    @Test("for programs: an object")
    func json() {
        #expect(
            line(handled, .json)
                == #"{"time":"2026-03-01T09:41:00.482Z","level":"info","module":"com.mm.push","#
                + #""event":"push","ms":0.084,"message":"handled","#
                + #""badge":3,"opened":true,"uri":"slate://a b"}"# + "\n")
        #expect(
            line(plain, .json)
                == #"{"time":"2026-03-01T09:41:00.000Z","level":"warning","message":"odd"}"# + "\n")
    }

    /// A module logs what comes from outside; that must not write lines of its own, nor steer the
    /// terminal of who reads it.
    @Test(
        "no part of a record breaks or forges a line",
        arguments: [LogFormat.file, .journal, .json, .terminal(colors: false)])
    func injection(format: LogFormat) {
        let evil = "a\n<3>error host stopped\r\u{1B}[2J\u{9B}1m\u{2028}\u{85}\u{7F}\u{0}"
        var record = plain
        record.module = evil
        record.event = evil
        record.message = evil
        record.fields = [LogField("field" + evil, evil)]
        let text = line(record, format)
        let forbidden = text.unicodeScalars.dropLast().filter {
            $0.properties.generalCategory == .control || $0 == "\u{2028}"
        }
        #expect(Array(forbidden) == [])
        #expect(text.hasSuffix("\n"))
    }

    @Test(
        "a field's value is seen to be one value",
        arguments: [
            ("plain", "plain"), ("", #""""#), ("two words", #""two words""#),
            ("a=b", #""a=b""#), (#"say "x""#, #""say \"x\"""#), ("a\nb", #"a\nb"#),
            ("a b\n", #""a b\n""#),
        ])
    func fieldValues(value: String, text: String) {
        var record = plain
        record.fields = [LogField("key", value)]
        #expect(line(record, .journal) == "<4>warning  host              odd key=\(text)\n")
    }

    @Test("what was escaped can be seen, and the direction of writing stays")
    func escapes() {
        var record = plain
        record.message = "two\nlines\ttab \u{1B}[1m \u{202E}evil"
        #expect(
            line(record, .journal)
                == #"<4>warning  host              two\nlines\ttab \u{1b}[1m \u{202e}evil"# + "\n")
    }

    @Test("for another log: what a terminal obeys is shown, in each text of the record")
    func escaped() {
        let record = LogRecord(
            time: plain.time, level: .info, event: "a\u{1B}b", message: "one\ntwo",
            fields: [LogField("na\rme", "\u{202E}text"), LogField("count", 3)])
        let escaped = record.escaped
        #expect(escaped.message == #"one\ntwo"#)
        #expect(escaped.event == #"a\u{1b}b"#)
        #expect(escaped.fields == [LogField(#"na\rme"#, #"\u{202e}text"#), LogField("count", 3)])
        #expect(plain.escaped == plain)
    }

    @Test("for a log without fields: they follow the message")
    func messageWithFields() {
        #expect(handled.messageWithFields == #"handled badge=3 opened=true uri="slate://a b""#)
        #expect(plain.messageWithFields == "odd")
    }
}
