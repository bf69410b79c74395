import Glibc
import ModuleHost
import TestSupport
import Testing

@Suite("hostd run: signals", .timeLimit(.minutes(10)))
struct RunTests {
    @Test("the default slatefile: each signal is seen in log and journal, TERM ends it with 0")
    func signals() throws {
        let slatefile = try HostdRun.shippedSlatefile()
        let count = try #require(JSONValue(parsing: slatefile)["modules"]?.count)
        let run = try HostdRun(slatefile).ready()
        #expect(
            run.process.textSoFar(.output).hasPrefix(
                "ready pid=\(run.process.processID) modules=\(count) ms="))
        let sent: [(signal: Int32, line: String)] = [
            (SIGUSR1, " background  "), (SIGUSR2, " foreground  "), (realTime(1), " push  "),
            (realTime(2), " open-url  "), (realTime(3), " message  "),
            (realTime(4), " memory-warning  "), (SIGHUP, " configuration-changed  "),
        ]
        for (signal, line) in sent {
            run.process.send(signal)
            try run.process.waitForLine { $0.contains(line) && $0.contains("origin=\"signal ") }
        }
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0))
        #expect(outcome.error.contains(" modules, newData in "))
        #expect(
            outcome.error.contains("origin=\"signal TERM from pid \(getpid()) (uid \(getuid()))\""))
        #expect(outcome.error.hasSuffix(" notice   host              stopped\n"))
        #expect(
            try run.journaledEvents() == [
                "launch", "open-url", "activate", "resign-active", "background", "foreground",
                "activate", "push", "open-url", "message", "memory-warning",
                "configuration-changed", "resign-active", "background", "terminate",
            ])
        // A payload does not appear in the log.
        for secret in ["Hello", "alert", "\"mia\"", "badge\":"] {
            #expect(!outcome.error.contains(secret), "\(secret)")
        }
        #expect(outcome.output.split(separator: "\n").count == 1)
    }

    @Test("a host that is not root writes its own lines alone: it asks for no priority of a thread")
    func unprivileged() throws {
        let folder = try TemporaryFolder()
        try folder.write(HostdRun.shippedSlatefile(), to: "slatefile.json")
        chmod(folder.path, 0o777)
        // What Dispatch has to say goes to the system's log otherwise.
        let host = try HostProcess(
            ["run"], in: folder.path, environment: ["LIBDISPATCH_LOG": "stderr"],
            userID: getuid() == 0 ? CommandTests.nobody : nil)
        try host.waitForLine(containing: "ready pid=", on: .output)
        try host.waitForLine(containing: "start-up task com.mm.metrics/first-write succeeded")
        host.send(SIGTERM)
        let outcome = try host.waitForExit()
        #expect(outcome.exit == .code(0))
        for line in outcome.error.split(separator: "\n") {
            #expect(line.prefix(2) == "20" && line.contains("Z "), "\(line)")
        }
    }

    @Test("INT ends it like TERM")
    func interrupt() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        run.process.send(SIGINT)
        let outcome = try run.ended()
        #expect(outcome.exit == .code(0))
        #expect(outcome.error.contains("stopping: signal INT from pid \(getpid())"))
        #expect(
            try run.journaledEvents().suffix(3) == ["resign-active", "background", "terminate"])
    }

    @Test(
        "TERM and INT end a start that waits for the inbox's lock, as they end one before launch",
        arguments: [(SIGTERM, "TERM"), (SIGINT, "INT")])
    func startHeldUp(signal: Int32, name: String) throws {
        let folder = try TemporaryFolder()
        try makeFolders(folder.path(".hostd/inbox"))
        let lock = try Descriptor(lockFile: folder.path(".hostd/inbox/inbox.lock"))
        try #require(try lock.tryLock(.exclusive))
        let run = try HostdRun(HostdRun.slatefile(), in: folder)
        let deadline = ContinuousClock.now + HostProcess.patience
        // It takes signals from before it says which process it is.
        while (try? folder.text(of: ".hostd/hostd.pid")) != "\(run.process.processID)\n" {
            try #require(ContinuousClock.now < deadline, "it never claimed its directory")
            sched_yield()
        }
        // One that is not for the end of the host waits for its launch.
        run.process.send(SIGUSR1)
        run.process.send(signal)
        let outcome = try run.ended()
        #expect(outcome.exit == .code(0))
        #expect(outcome.output == "")
        let lines = outcome.error.split(separator: "\n").suffix(2)
        #expect(
            lines.first?.hasSuffix(
                "stopping: signal \(name) from pid \(getpid()) (uid \(getuid()))") == true)
        #expect(lines.last?.hasSuffix(" notice   host              stopped") == true)
        // The one that comes after it launches as if nothing had been.
        lock.unlock()
        #expect(try HostdRun(nil, in: folder).ready().terminated().exit == .code(0))
    }

    @Test("a burst of 10 000 real-time signals is 10 000 deliveries, in order")
    func burst() throws {
        let slatefile = HostdRun.slatefile(
            top: """
                "signals": {"RTMIN+1": {"event": "memory-warning"}, "RTMIN+2": {"event": "terminate"}}
                """)
        let run = try HostdRun(slatefile, error: .file("/dev/null")).ready()
        for value in 0..<Int32(10_000) { run.queue(realTime(1), value: value) }
        // Of signals that wait, the lower number comes first.
        run.queue(realTime(2))
        #expect(try run.ended().exit == .code(0))
        let events = try run.journal().filter { $0["event"]?.string == "memory-warning" }
        let values = try events.compactMap { try $0["origin"]?["value"]?.decode(Int.self) }
        #expect(values.count == 10_000)
        #expect(values == Array(0..<10_000))
    }

    @Test("signals without a meaning are ignored, and do no harm")
    func unmapped() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        for signal in [SIGPIPE, SIGCHLD, SIGWINCH, SIGALRM, SIGVTALRM, SIGURG, realTime(9)] {
            run.process.send(signal)
        }
        #expect(try run.terminated().exit == .code(0))
        #expect(
            try run.journaledEvents()
                == ["launch", "activate", "resign-active", "background", "terminate"])
    }

    @Test("signals that the parent had ignored count")
    func inheritedIgnored() throws {
        let run = try HostdRun(HostdRun.slatefile(), shell: "trap '' TERM USR1 HUP").ready()
        run.process.send(SIGUSR1)
        try run.process.waitForLine(containing: " background  ")
        run.process.send(SIGHUP)
        try run.process.waitForLine(containing: " configuration-changed  ")
        #expect(try run.terminated().exit == .code(0))
    }

    // MARK: HUP

    @Test("HUP with an invalid slatefile is refused; the running one stays")
    func invalidReload() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        try run.folder.write(HostdRun.slatefile(top: #""shemes": ["s"]"#), to: "slatefile.json")
        run.process.send(SIGHUP)
        let line = try run.process.waitForLine(
            containing: "reload refused, the current slatefile stays in effect")
        #expect(
            line.hasSuffix(": slatefile.json:1:29: unknown key 'shemes'; did you mean 'schemes'?"))
        try run.process.waitForLine(containing: " configuration-changed  ")
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("HUP without a slatefile is refused, too")
    func missingReload() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        try run.folder.move("slatefile.json", to: "gone.json")
        run.process.send(SIGHUP)
        try run.process.waitForLine(
            containing: "reload refused, the current slatefile stays in effect")
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("HUP with an invalid file of tokens is refused whole; the tokens that are known stay")
    func invalidTokens() throws {
        let folder = try TemporaryFolder()
        let slatefile = HostdRun.slatefile(top: #""security": {"tokens": "tokens.json"}"#)
        try writeFile("[]".utf8, to: folder.path("tokens.json"), mode: 0o600)
        let run = try HostdRun(slatefile, in: folder).ready()
        try writeFile("[s3cret]".utf8, to: folder.path("tokens.json"), mode: 0o600)
        run.process.send(SIGHUP)
        let line = try run.process.waitForLine(
            containing: "reload refused, the current slatefile stays in effect (signal HUP from")
        #expect(line.contains("tokens.json:1:2: expected a value, found •••;"))
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0) && !outcome.error.contains("s3cret"))
    }

    @Test("HUP with changed settings notifies the module; limits change, and what waits is named")
    func changedReload() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        try run.folder.write(
            HostdRun.slatefile(
                journal: #""config": {"file": "other.ndjson"}"#,
                top: #""deadlines": {"event": "9s"}, "startup": {"width": 1}"#),
            to: "slatefile.json")
        run.process.send(SIGHUP)
        let line = try run.process.waitForLine(containing: "slatefile applied (signal HUP from")
        #expect(
            line.hasSuffix(
                ": config changed: x.journal; deadlines; waits for the next start: startup"))
        try run.process.waitForLine(containing: " configuration-changed  ")
        #expect(try run.terminated().exit == .code(0))
        #expect(try run.journaledEvents() == ["launch", "activate"])
        #expect(
            try run.journaledEvents(".hostd/other.ndjson")
                == ["configuration-changed", "resign-active", "background", "terminate"])
    }

    @Test("HUP after the journal was moved away begins it anew")
    func rotated() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        try run.folder.move(".hostd/journal.ndjson", to: ".hostd/old.ndjson")
        run.process.send(SIGUSR1)
        try run.process.waitForLine(containing: " background  ")
        run.process.send(SIGHUP)
        try run.process.waitForLine(containing: " configuration-changed  ")
        #expect(try run.terminated().exit == .code(0))
        #expect(
            try run.journaledEvents(".hostd/old.ndjson")
                == ["launch", "activate", "resign-active", "background"])
        #expect(try run.journaledEvents() == ["configuration-changed", "terminate"])
    }

    // MARK: A module that hangs

    @Test("TERM and INT that come together, as from a terminal and a runner, are one stop")
    func echoedTerminate() throws {
        let (run, pipe) = try FullPipe.run(#"{"event": "1h", "stop": "1h", "stopAll": "1h"}"#)
        pipe.fill()
        // Both are there when the host looks for the first.
        run.process.suspend()
        run.process.send(SIGTERM)
        run.process.send(SIGINT)
        run.process.send(SIGCONT)
        try run.process.waitForLine(containing: "stopping: ")
        run.process.send(SIGTERM)
        pipe.empty()
        #expect(try run.ended().exit == .code(0))
    }

    @Test("a second TERM or INT during a stop ends it at once, with 70")
    func secondTerminate() throws {
        let (run, pipe) = try FullPipe.run(#"{"event": "1h", "stop": "1h", "stopAll": "1h"}"#)
        pipe.fill()
        run.process.send(SIGTERM)
        // Those that come within 250 ms of the first are the same request.
        let outcome = try run.process.waitForExit(sending: SIGINT, every: .milliseconds(50))
        #expect(outcome.exit == .code(70))
        #expect(outcome.error.contains(" ended at once, before the stop was done: signal "))
    }

    @Test("a module that hangs is late, and catches up when it goes on")
    func overdue() throws {
        let (run, pipe) = try FullPipe.run(#"{"event": "50ms"}"#)
        pipe.fill()
        run.process.send(SIGUSR1)
        try run.process.waitForLine {
            $0.contains("x.journal") && $0.contains("unresponsive: delivery continues without it")
        }
        run.process.send(SIGUSR2)
        try run.process.waitForLine(containing: " foreground  ")
        pipe.empty()
        try run.process.waitForLine(containing: "responsive again: it has caught up")
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a module that hangs in a stop is left behind when the time is up, with 70")
    func leftBehind() throws {
        let (run, pipe) = try FullPipe.run(#"{"stop": "50ms", "stopAll": "500ms"}"#)
        pipe.fill()
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(70))
        #expect(
            outcome.error.contains(
                "the stop took longer than deadlines.stopAll; left behind: x.journal"))
    }
}
