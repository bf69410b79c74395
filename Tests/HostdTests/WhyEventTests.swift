import Glibc
import ModuleHost
import TestSupport
import Testing

/// The output of `hostd why` for an event of the inbox.
@Suite("hostd why of an event", .timeLimit(.minutes(10)))
struct WhyEventTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var files: InboxFolder {
        InboxFolder(in: StateDirectory(path: folder.path(".hostd")))
    }

    private func append(_ lines: [String]) throws -> [EventPosition] {
        try files.make()
        return try InboxWriter(files).append(lines.map { Array($0.utf8) })
    }

    private func push(_ more: String) -> String {
        #"{"event":"push","payload":{"aps":{"alert":"secret"}},\#(more)}"#
    }

    private func why(_ name: String) throws -> String {
        let outcome = try HostProcess.run(["why", name], in: folder.path)
        #expect(outcome.exit == .code(0), "\(name): \(outcome.error)")
        #expect(!outcome.output.contains("secret"))
        #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
        return outcome.output
    }

    private func event(_ name: String) throws -> JSONValue {
        let outcome = try HostProcess.run(["why", name, "--json"], in: folder.path)
        #expect(outcome.exit == .code(0), "\(name): \(outcome.error)")
        return try JSONValue(parsing: outcome.output)
    }

    @Test("events that no host has delivered: how many are before each, and one that repeats an id")
    func pending() throws {
        let positions = try append([
            push(#""id":"a","source":"shop \u001b[31m","time":"2026-03-01T09:41:00Z""#),
            #"{"event":"message","payload":{"topic":"t.x"},"id":"b"}"#, push(#""id":"a""#),
            push(#""id":"a","retried":true"#), "no event",
        ])
        #expect(
            try why("a") == """
                push at \(positions[3]) of the inbox, id 'a'

                pending
                  reason     3 events are before it
                  next       it is delivered when a host starts
                  command    hostd run

                """)
        #expect(
            try why("\(positions[0])") == """
                push at \(positions[0]) of the inbox, id 'a', from 'shop \u{FFFD}[31m', of 2026-03-01T09:41:00Z

                retried
                  reason     it was a dead letter, and was sent once more: it is at \(positions[3])
                  command    hostd why \(positions[3])

                """)
        let message = try event("b")
        #expect(message["running"]?.bool == false)
        #expect(
            message["event"]?.text
                == #"{"position":"\#(positions[1])","event":"message","topic":"t.x","id":"b","before":1}"#
        )
        #expect(try why("\(positions[2])").contains("the event at \(positions[0]) has the same id"))
        #expect(try event("\(positions[2])")["event"]?["duplicateOf"]?.string == "\(positions[0])")
        let invalid = try why("\(positions[4])")
        #expect(invalid.hasPrefix("the event at \(positions[4]) of the inbox\n\nnot an event\n"))
    }

    private func letter(_ position: EventPosition, of module: String?) throws {
        try DeadLetters(files).append([
            DeadLetter(
                time: WallTime(seconds: 1_772_358_060, nanoseconds: 5_000_000),
                reason: "the host died 3 times in it", position: position, id: "a", attempt: 3,
                modules: try module.map { [try ModuleID($0)] },
                line: Array(push(#""id":"a""#).utf8))
        ])
    }

    @Test("a dead letter of all modules, and what becomes of it when it is retried")
    func retried() throws {
        let positions = try append([push(#""id":"a""#), push(#""id":"17:4""#)])
        try letter(positions[0], of: nil)
        #expect(try why("a").contains("\n\ndead letter since "))
        #expect(try HostProcess.run(["inbox", "retry", "a"], in: folder.path).exit == .code(0))
        let later = try event("a")["event"]?["position"]?.string ?? ""
        #expect(later != "\(positions[0])")
        #expect(
            try why("\(positions[0])").contains(
                """

                retried
                  reason     it was a dead letter, and was sent once more: it is at \(later)
                  command    hostd why \(later)

                """))
        #expect(try why("17:4").hasPrefix("push at \(positions[1]) of the inbox, id '17:4'\n"))
    }

    @Test("dead letters, events of segments that were removed, and those that never were")
    func gone() throws {
        let positions = try append([push(#""id":"a""#)])
        try letter(positions[0], of: "x.a")
        for name in ["a", "\(positions[0])"] {
            let text = try why(name)
            #expect(text.contains("\ndead letter since 2026-03-01T09:41:00.005Z ("), "\(text)")
            #expect(text.contains("\n  reason     for x.a: the host died 3 times in it\n"))
            #expect(text.contains("\n  command    hostd inbox retry \(positions[0])\n"))
        }
        #expect(try event("a")["event"]?["deadLetterOf"]?.text == #"["x.a"]"#)
        // The others have yet to receive it.
        #expect(try why("a").contains("\npending\n  reason     it is the next one\n"))
        // Each module may have a dead letter of its own.
        try letter(positions[0], of: "x.b")
        #expect(try why("a").contains("reason     for x.a, x.b: the host died 3 times in it\n"))

        try folder.write(push(#""id":"z""#) + "\n", to: ".hostd/inbox/00000007.ndjson")
        try #require(unlink(folder.path(".hostd/inbox/00000001.ndjson")) == 0)
        #expect(try why("2:5").contains("\nnot in the inbox any more\n"))
        for (name, problem) in [
            ("7:1", "no event is at 7:1 in the inbox of the state directory '.hostd'"),
            ("9:0", "no event is at 9:0 in the inbox of the state directory '.hostd'"),
        ] {
            let outcome = try HostProcess.run(["why", name], in: folder.path)
            #expect(outcome.exit == .code(69))
            #expect(outcome.error.hasPrefix("hostd why: " + problem), "\(outcome.error)")
        }
    }

    @Test(
        "an event that a module has yet to handle, beside the host, after its death, and when it is done"
    )
    func awaited() throws {
        let slatefile = """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.slow", "entry": "TestHost.SlowReceiver"}
            ]}
            """
        let program = HostProcess.program("TestHost")
        let first = try HostdRun(slatefile, in: folder, program: program).ready()
        func command(_ words: String...) throws -> String {
            try HostProcess.run(words, program: program, in: folder.path).output
        }
        _ = try command("send", "push", "--payload", #"{"aps": {}}"#, "--id", "one")
        try first.process.waitForLine(containing: "one begun")
        let text = try why("one")
        #expect(text.hasPrefix("push at 1:"), "\(text)")
        // In lines of 80 characters.
        let words = text.split { " \n".contains($0) }.joined(separator: " ")
        #expect(
            words.hasSuffix(
                " not handled yet reason x.slow has yet to handle it, or to come to it; all other modules are past it command hostd why x.slow"
            ), "\(text)")
        #expect(try why("x.slow").contains("x.slow: running since"))
        let running = try event("one")
        first.process.send(SIGKILL)
        _ = try first.ended()
        let left = try event("one")
        #expect(left["event"]?["modules"]?.text == #"["x.slow"]"#)
        #expect(left["event"]?["attempts"]?.int == 1)
        #expect(running["event"]?["attempts"] == nil)
        #expect(
            left["findings"]?.elements.map(\.self).first?["next"]?.string
                == "it is delivered to them when a host starts")

        let next = try HostdRun(nil, in: folder, program: program).ready()
        try next.process.waitForLine(containing: "one begun again")
        // Takes the event more than the 10 ms from which on a module is named.
        for _ in 0..<3 { #expect(try why("one").contains("\nnot handled yet\n")) }
        _ = try command("call", "x.slow", "finish", #"{"id": "one"}"#)
        #expect(
            try command("send", "push", "--payload", #"{"aps": {}}"#, "--id", "one", "--wait")
                .hasPrefix("already there: id one"))
        #expect(try next.terminated().exit == .code(0))
        let done = try why("one")
        #expect(done.contains("\ndone\n  reason     each module that it was for has received it"))
        // In lines of 80 characters, which end elsewhere with another figure.
        let shown = done.split { " \n".contains($0) }.joined(separator: " ")
        #expect(shown.contains(" x.slow: took ") && shown.hasSuffix(" 1 module"), "\(done)")
        #expect(try why("x.slow").contains("id one"))
    }
}
