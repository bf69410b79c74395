import Glibc
import ModuleHost
import TestSupport
import Testing

/// A program that embeds a host: Tests/EmbeddedHost, the server of docs/embedding.md.
@Suite("A host inside of another program", .timeLimit(.minutes(10)))
struct EmbeddingTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(
            """
            { "slate": 1, "app": "demo", "schemes": ["slate"], "fallback": "com.mm.browser",
              "modules": [
                { "id": "com.mm.main", "entry": "Modules.MainModule", "main": true },
                { "id": "com.mm.browser", "entry": "Modules.BrowserModule" },
                { "id": "com.mm.push", "entry": "Modules.PushModule", "isolation": "process" }
              ] }
            """, to: "slatefile.json")
    }

    private func run(_ words: String...) throws -> HostProcess.Outcome {
        try HostProcess.run(words, program: HostProcess.program("EmbeddedHost"), in: folder.path)
    }

    @Test("answers requests of the program, runs its isolated modules, and ends with it")
    func answers() throws {
        let outcome = try run("answer", "slatefile.json", "user/mia")
        #expect(outcome.exit == .code(0), "\(outcome.error)")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix(#"answer: {"shown":"slate://user/mia"#) }, "\(lines)")
        #expect(lines.contains("notice host ready: 3 modules"))
        #expect(lines.contains("notice host stopping: the task that runs the host was cancelled"))
        #expect(lines.last == "the server has ended")
        // Nothing but the slatefile is there.
        #expect(folder.names == ["slatefile.json"])
    }

    @Test("leaves no thread, no descriptor and no signal behind, however often it is run")
    func leavesNothing() throws {
        try folder.write(
            folder.text(of: "slatefile.json").replacing(#", "isolation": "process""#, with: ""),
            to: "slatefile.json")
        let outcome = try run("rounds", "slatefile.json", "20")
        #expect(outcome.exit == .code(0), "\(outcome.error)")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.last == "nothing is left")
        #expect(lines.count { $0.hasPrefix("notice host ready: ") } == 21)
    }

    // MARK: With an inbox and a control socket

    /// Writes the slatefile of the program's own module.
    private func writeOrders() throws {
        try folder.write(
            """
            { "slate": 1, "app": "shop", "deadlines": { "event": "1h", "stopAll": "1h" },
              "modules": [
                { "id": "com.mm.orders", "entry": "EmbeddedHost.OrderModule", "main": true }
              ] }
            """, to: "slatefile.json")
    }

    private func orders(_ ids: String...) throws -> HostProcess {
        try HostProcess(
            ["orders", "slatefile.json"] + ids, program: HostProcess.program("EmbeddedHost"),
            in: folder.path)
    }

    /// The lines of its module.
    private func orders(in outcome: HostProcess.Outcome) -> [Substring] {
        outcome.output.split(separator: "\n").filter {
            $0.hasPrefix("again: ") || $0.hasPrefix("received: ")
        }
    }

    private func hostd(_ words: String...) throws -> HostProcess.Outcome {
        try HostProcess.run(words, in: folder.path)
    }

    private let order = ["message", "--payload", #"{"topic":"ordered"}"#]

    @Test("accepted events survive the program, and are marked as repeated if they were begun")
    func killed() throws {
        try writeOrders()
        let first = try orders("early", "stuck")
        try first.waitForLine(containing: "received: stuck", on: .output)
        let sent = try HostProcess.run(["send"] + order + ["--id", "late"], in: folder.path)
        #expect(sent.output.hasPrefix("accepted 1:"), "\(sent)")
        let busy = try JSONValue(parsing: hostd("status", "--json").output)
        #expect(busy["atWork"]?.string == "com.mm.orders")
        #expect(busy["slatefile"]?.string == folder.path("slatefile.json"))

        // Neither another one of this program nor a daemon gets in.
        let refusal =
            "another host (process \(first.processID)) runs on the state directory '.hostd'; stop it"
        #expect(try run("orders", "slatefile.json").output.hasPrefix(refusal))
        try folder.write(HostdRun.slatefile(), to: "other.json")
        let daemon = try hostd("run", "--slatefile", "other.json")
        #expect(daemon.error.contains(refusal))
        #expect(daemon.exit == .code(75))

        first.send(SIGKILL)
        let end = try first.waitForExit()
        #expect(end.exit == .signal(SIGKILL))
        #expect(orders(in: end) == ["received: early", "received: stuck"])
        #expect(try hostd("why").output.contains("com.mm.orders"))

        // It takes an order again, which it had taken already.
        let second = try orders("early")
        try second.waitForLine(containing: "ready", on: .output)
        let done = try HostProcess.run(
            ["send"] + order + ["--id", "last", "--wait"], in: folder.path)
        #expect(done.exit == .code(0), "\(done)")
        #expect(try hostd("stop").output == "stopped\n")
        let outcome = try second.waitForExit()
        #expect(outcome.exit == .code(0))
        #expect(orders(in: outcome) == ["again: stuck", "received: late", "received: last"])
    }

    @Test("the commands of hostd work with it; those that would end the program are refused")
    func commands() throws {
        try writeOrders()
        let program = try orders()
        try program.waitForLine(containing: "ready", on: .output)
        let tail = try HostProcess(["tail", "--level", "debug"], in: folder.path)
        try tail.waitForLine(containing: " follows", on: .output)
        let status = try hostd("status")
        #expect(status.output.contains("\nprocess       \(program.processID)\n"), "\(status)")
        for (words, text) in [
            (["modules"], "com.mm.orders"), (["why"], "nothing"),
            (["health"], "healthy"), (["timeline"], "ready"), (["startup"], "READY"),
            (["metrics"], "hostd_inbox_accepted_total"), (["inbox"], "0 pending"),
            (["restart", "com.mm.orders"], "restarted"),
        ] {
            let outcome = try HostProcess.run(words, in: folder.path)
            #expect(
                outcome.exit == .code(0) && outcome.output.contains(text), "\(words): \(outcome)")
        }
        for (words, text) in [
            (["stop", "--now"], "would end it, too: stop it without 'now'"),
            (["reload"], "keeps its slatefile: restart the program to change that"),
            (["apply", "slatefile.json"], "keeps its slatefile"),
            (["disable", "com.mm.orders"], "keeps its modules: stop the program, run the command"),
            (["enable", "com.mm.orders"], "keeps its modules"),
        ] {
            let outcome = try HostProcess.run(words, in: folder.path)
            #expect(outcome.exit == .code(69), "\(words): \(outcome)")
            #expect(
                outcome.error.contains("the host is embedded in a program and \(text)"),
                "\(words): \(outcome)")
        }
        let sent = try HostProcess.run(["send"] + order + ["--wait"], in: folder.path)
        #expect(sent.exit == .code(0), "\(sent)")
        try tail.waitForLine(containing: "  message  ", on: .output)
        #expect(try hostd("stop").output == "stopped\n")
        let outcome = try program.waitForExit()
        #expect(outcome.exit == .code(0))
        // Its own lines, and those that it prints of the log: the debug lines are the follower's.
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.contains("the program goes on"))
        #expect(lines.contains { $0.hasPrefix("notice host stopping: control from pid ") })
        #expect(!lines.contains { $0.hasPrefix("debug ") || $0.hasPrefix("ready pid=") })
        #expect(outcome.error == "")
        #expect(try tail.waitForExit().exit == .code(0))
        #expect(!TemporaryFolder(at: folder.path(".hostd")).names.contains("control.sock"))
    }

    @Test("leaves no thread, no descriptor and no signal behind with them, either")
    func leavesNothingDurable() throws {
        try writeOrders()
        let outcome = try run("rounds", "slatefile.json", "20", "durable")
        #expect(outcome.exit == .code(0), "\(outcome.error)")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.last == "nothing is left")
        #expect(lines.count { $0.hasPrefix("notice host stopping: control from pid ") } == 21)
    }
}
