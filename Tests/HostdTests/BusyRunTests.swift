import Glibc
import ModuleHost
import TestSupport
import Testing

/// A host in which a module hangs: its threads that take signals and serve clients do not wait for it.
@Suite("hostd run: busy with a module", .timeLimit(.minutes(10)))
struct BusyRunTests {
    private static let hour = #"{"event": "1h", "stop": "1h", "stopAll": "1h"}"#

    @Test(
        "while a module hangs in what a signal brought, clients are answered and signals are taken")
    func signal() throws {
        let (run, pipe) = try FullPipe.run(Self.hour)
        pipe.fill()
        run.process.send(SIGUSR1)
        try expectBusy(run)
        try expectTaken(run)
        withExtendedLifetime(pipe) {}
    }

    @Test("while a module hangs in what a client sent, clients are answered and signals are taken")
    func client() throws {
        let (run, pipe) = try FullPipe.run(Self.hour)
        pipe.fill()
        let post = try HostProcess(["post", "x", "1"], in: run.folder.path)
        try expectBusy(run)
        try expectTaken(run)
        #expect(try post.waitForExit().exit == .code(0))
        withExtendedLifetime(pipe) {}
    }

    @Test("the event in which a module hangs says so, though the host cannot")
    func event() throws {
        let (run, pipe) = try FullPipe.run(Self.hour)
        pipe.fill()
        let sent = try run.hostd("send", "push", "--payload", #"{"aps": {}}"#, "--id", "stuck")
        #expect(sent.exit == .code(0))
        try expectBusy(run)
        let why = try run.hostd("why", "stuck")
        #expect(why.exit == .code(0), "\(why.error)")
        #expect(
            why.output.contains("\nbeing handled\n  reason     x.journal has it; "),
            "\(why.output)")
        #expect(why.output.hasSuffix("\n  command    hostd why x.journal\n"))
        pipe.empty()
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("what was taken meanwhile is done when the module returns")
    func returns() throws {
        let (run, pipe) = try FullPipe.run(Self.hour)
        pipe.fill()
        run.process.send(SIGUSR1)
        try expectBusy(run)
        run.process.send(SIGUSR2)
        let post = try HostProcess(["post", "x", "1"], in: run.folder.path)
        pipe.empty()
        #expect(try post.waitForExit().exit == .code(0))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a host ends though a module, made for a signal, never returns from its making")
    func making() throws {
        let slatefile = #"""
            {"slate": 1, "app": "test", "deadlines": {"launch": "50ms"},
             "modules": [
               {"id": "x.main", "entry": "Modules.MainModule", "main": true},
               {"id": "x.hang", "entry": "TestHost.HangingModule", "launch": "lazy"}
             ],
             "signals": {"RTMIN+3": {"event": "message", "topic": "hang"}}}
            """#
        let run = try HostdRun(slatefile, program: HostProcess.program("TestHost")).ready()
        for (signal, line) in [(SIGUSR1, " background  "), (SIGUSR2, " foreground  ")] {
            run.process.send(signal)
            try run.process.waitForLine(containing: line)
        }
        run.process.send(realTime(3))
        try run.process.waitForLine(containing: "init failed; the app continues without it")
        run.process.send(SIGTERM)
        #expect(try run.ended().exit == .code(0))
    }

    /// Waits until a module hangs; the host says so, whichever thread runs it.
    private func expectBusy(_ run: HostdRun) throws {
        while true {
            let outcome = try run.hostd("modules")
            if outcome.exit == .code(75) {
                return #expect(outcome.error.contains("module 'x.journal' is running"))
            }
        }
    }

    /// Two signals to stop: the second one ends the host at once.
    private func expectTaken(_ run: HostdRun) throws {
        run.process.send(SIGTERM)
        try run.process.waitForLine(containing: "stopping: signal TERM from pid \(getpid()) ")
        // Those that come within 250 ms of the first are the same request.
        let outcome = try run.process.waitForExit(sending: SIGINT, every: .milliseconds(50))
        #expect(outcome.exit == .code(70))
    }
}
