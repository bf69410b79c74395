import Glibc
import ModuleHost
import TestSupport
import Testing

@Suite("hostd apply", .timeLimit(.minutes(10)))
struct ApplyCommandTests {
    private static func slatefile(_ modules: String = "", top: String = "") -> String {
        """
        {"slate": 1, "app": "test", \(top)"modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true}\(modules)
        ]}
        """
    }

    private static let journal = #", {"id": "x.journal", "entry": "Modules.JournalModule"}"#
    private static let program = #", {"id": "x.program", "command": ["./program"]}"#
    /// A module that cannot be made when it is used first.
    private static let lazy =
        #", {"id": "x.lazy", "command": ["/nonexistent"], "launch": "lazy", "provides": ["page/:number"]}"#

    /// A host, and a program beside its slatefile that ends at a push.
    private func host(_ arguments: [String] = []) throws -> HostdRun {
        let folder = try TemporaryFolder()
        try folder.write(
            ShellModule.program("x.program", #""push""#, #"*'"event":"push"'*) exit 3 ;;"#),
            to: "program")
        try #require(chmod(folder.path("program"), 0o755) == 0)
        return try HostdRun(Self.slatefile(), in: folder, arguments).ready()
    }

    private func apply(
        _ text: String, _ arguments: [String], to run: HostdRun
    ) throws -> HostProcess {
        try run.folder.write(text, to: "next.json")
        return try HostProcess(["apply", "next.json"] + arguments, in: run.folder.path)
    }

    /// Begins a probation, and waits until the slatefile is in effect.
    private func begin(
        _ modules: String, _ arguments: [String] = [], of run: HostdRun, count: Int = 1
    ) throws -> HostProcess {
        let command = try apply(Self.slatefile(modules), arguments, to: run)
        try run.process.waitForLine(containing: "slatefile on probation for 1m00s", count: count)
        return command
    }

    private func ids(of run: HostdRun) throws -> [String] {
        try JSONValue(parsing: run.hostd("modules", "--json").output)
            .elements.compactMap { $0["id"]?.string }
    }

    @Test("a good one is kept, and its file written then; stdin, and none that changes anything")
    func kept() throws {
        let run = try host()
        let before = try run.folder.text(of: "slatefile.json")
        let next = Self.slatefile(Self.journal)
        let kept = try apply(next, ["--probation", "1500ms"], to: run).waitForExit()
        #expect(kept.error == "")
        #expect(kept.output == "kept: added x.journal\n")
        #expect(kept.exit == .code(0))
        #expect(try run.folder.text(of: "slatefile.json") == next)
        #expect(try run.folder.text(of: "slatefile.json.previous") == before)
        #expect(try ids(of: run) == ["x.main", "x.journal"])
        let status = try run.hostd("status").output
        #expect(status.contains("\nreload        kept at "), "\(status)")
        #expect(!status.contains("probation") && !status.contains("has changed"), "\(status)")

        // Other spaces are another text.
        let stdin = try HostProcess.run(
            ["-c", #"printf '%s\n' "$0" | "$1" apply - --json"#, next, HostProcess.hostd],
            program: "/bin/sh", in: run.folder.path)
        #expect(stdin.exit == .code(0), "\(stdin.error)")
        #expect(try JSONValue(parsing: stdin.output)["outcome"]?.string == "unchanged")
        #expect(try run.folder.text(of: "slatefile.json") == next + "\n")
        let none = try apply(Self.slatefile(), ["--probation", "0"], to: run).waitForExit()
        #expect(none.output == "kept: removed x.journal\n", "\(none.error)")
        #expect(try run.folder.text(of: "slatefile.json") == before)
        #expect(try run.terminated().exit == .code(0))
    }

    @Test(
        "one whose module fails, or whose process ends, is rolled back at once, and nothing written"
    )
    func rolledBack() throws {
        let run = try host()
        let before = try run.folder.text(of: "slatefile.json")
        let failing = try begin(Self.lazy, of: run)
        let status = try run.hostd("status").output
        #expect(status.contains("another one is on probation for "), "\(status)")
        #expect(status.contains(" more: 'hostd reload' takes it back"), "\(status)")
        let left = try JSONValue(parsing: run.hostd("status", "--json").output)["probationMs"]?.int
        #expect((1...60_000).contains(left ?? 0))
        #expect(try run.hostd("call", "x.lazy", "page/:number", #"{"number": 7}"#).exit != .code(0))
        let failed = try failing.waitForExit()
        #expect(failed.exit == .code(70))
        #expect(
            failed.error.hasPrefix("hostd apply: rolled back: module 'x.lazy' failed: "),
            "\(failed.error)")
        #expect(!failed.error.contains("restart"), "\(failed.error)")
        #expect(try !run.hostd("why").output.contains("hostd check"))
        #expect(try ids(of: run) == ["x.main"])

        let ending = try begin(Self.program, of: run, count: 2)
        #expect(try run.hostd("send", "push", "--payload", #"{"aps": {}}"#).exit == .code(0))
        let ended = try ending.waitForExit()
        #expect(ended.exit == .code(70))
        #expect(
            ended.error.hasPrefix(
                "hostd apply: rolled back: module 'x.program' "), "\(ended.error)")
        #expect(ended.error.contains(" was restarted: process "), "\(ended.error)")
        #expect(try ids(of: run) == ["x.main"])
        #expect(try run.folder.text(of: "slatefile.json") == before)
        #expect(throws: FileReadError.self) {
            try run.folder.text(of: "slatefile.json.previous")
        }
        #expect(try run.hostd("status").output.contains("\nreload        rolled-back at "))
        #expect(
            try run.terminated().error.contains("slatefile taken back (control from pid "))
    }

    @Test("one that recreates a module whose former process ends in order is kept")
    func recreated() throws {
        let run = try host()
        let first = try apply(Self.slatefile(Self.program), ["--probation", "0"], to: run)
        #expect(try first.waitForExit().output == "kept: added x.program\n")
        let next = Self.slatefile(#", {"id": "x.program", "command": ["sh", "./program"]}"#)
        let kept = try apply(next, ["--probation", "1500ms"], to: run).waitForExit()
        #expect(kept.error == "")
        #expect(kept.output == "kept: recreated x.program\n")
        #expect(!(try run.hostd("why", "x.program").output.contains("unresponsive")))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("one that cannot be launched: 70; one with errors: 78, all of them; nothing has changed")
    func refused() throws {
        let run = try host()
        let broken = try apply(
            Self.slatefile(
                #", {"id": "x.journal", "entry": "Modules.JournalModule", "config": {"file": "no/j"}}"#
            ), [], to: run
        ).waitForExit()
        #expect(broken.exit == .code(70))
        #expect(broken.error.hasPrefix("hostd apply: rolled back: module 'x.journal' failed in "))
        let invalid = try apply(#"{"slate": 2, "app": "", "modules": []}"#, [], to: run)
            .waitForExit()
        #expect(invalid.exit == .code(78))
        #expect(invalid.error.hasPrefix("next.json:1:"), "\(invalid.error)")
        #expect(
            invalid.error.hasSuffix(
                """
                3 errors in next.json
                hostd apply: refused, the current slatefile stays in effect

                """), "\(invalid.error)")
        let large = try apply(
            Self.slatefile(
                top: #""config": {"x": "\#(String(repeating: "x", count: 1 << 20))"}, "#),
            [], to: run
        ).waitForExit()
        #expect(large.exit == .code(78))
        #expect(
            large.error
                == "hostd apply: next.json has more than 1 MiB as a string of JSON: replace the slatefile's file, and 'reload'\n"
        )
        #expect(try run.hostd("apply", "none.json").exit == .code(66))
        #expect(try ids(of: run) == ["x.main"])
        #expect(try run.folder.text(of: "slatefile.json") == Self.slatefile())
        _ = try run.terminated()
        #expect(try run.hostd("apply", "slatefile.json").exit == .code(69))
    }

    @Test("while one is on probation another is refused, and a reload takes it back: both 75")
    func superseded() throws {
        let run = try host()
        let first = try begin(Self.journal, of: run)
        let second = try run.hostd("apply", "next.json")
        #expect(second.exit == .code(75))
        #expect(
            second.error.hasPrefix("hostd apply: another slatefile is on probation for "),
            "\(second.error)")
        #expect(second.error.hasSuffix("or take it back with 'hostd reload'\n"))
        #expect(try run.hostd("reload").output == "applied: removed x.journal\n")
        let outcome = try first.waitForExit()
        #expect(outcome.exit == .code(75))
        #expect(
            outcome.error.hasPrefix(
                "hostd apply: not kept: another reload took effect (control from pid "),
            "\(outcome.error)")
        #expect(try run.folder.text(of: "slatefile.json") == Self.slatefile())

        // A refused reload takes nothing back.
        let third = try begin(Self.journal, of: run, count: 2)
        try run.folder.write("{", to: "slatefile.json")
        #expect(try run.hostd("reload").exit == .code(78))
        #expect(try ids(of: run) == ["x.main", "x.journal"])
        try run.folder.write(Self.slatefile(), to: "slatefile.json")
        run.process.send(SIGHUP)
        #expect(try third.waitForExit().exit == .code(75))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a host that is killed, or stops, in the probation starts with the former slatefile")
    func ended() throws {
        let run = try host()
        let command = try begin(Self.journal, of: run)
        run.process.send(SIGKILL)
        _ = try run.ended()
        #expect(try command.waitForExit().exit == .code(74))
        let next = try HostdRun(nil, in: run.folder).ready()
        #expect(try ids(of: next) == ["x.main"])

        let stopped = try begin(Self.journal, of: next)
        #expect(try next.terminated().exit == .code(0))
        let outcome = try stopped.waitForExit()
        #expect(outcome.exit == .code(69))
        #expect(
            outcome.error
                == "hostd apply: the host stopped first; the slatefile's file is as before\n")
        #expect(try run.folder.text(of: "slatefile.json") == Self.slatefile())
    }

    @Test("invalid lengths: 64; of the method: -32602")
    func lengths() throws {
        let run = try host()
        for (text, message) in [
            ("5", "--probation: a duration needs its unit: \"5ms\", \"5s\" or \"5m\"?"),
            ("-1s", "--probation: a duration cannot be negative: '-1s'"),
            ("61m", "--probation: at most 1h"),
        ] {
            let outcome = try run.hostd("apply", "next.json", "--probation", text)
            #expect(outcome.exit == .code(64))
            #expect(outcome.error.contains(message), "\(outcome.error)")
        }
    }
}
