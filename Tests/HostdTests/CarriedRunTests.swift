import Glibc
import ModuleHost
import TestSupport
import Testing

/// A host whose lone signals and requests are handled by the threads that take them.
@Suite("hostd run: work that its threads carry", .timeLimit(.minutes(10)))
struct CarriedRunTests {
    private static let hour = #"{"event": "1h", "stop": "1h", "stopAll": "1h"}"#

    /// A host in which both threads have carried a job, and its journal's pipe.
    private func carrying() throws -> (HostdRun, FullPipe) {
        let (run, pipe) = try FullPipe.run(Self.hour)
        // The first job that each carries has its second thread started. A job is not carried where the lane's own
        // thread is still awake, as it may be on a busy machine.
        var names: [Substring] = []
        for _ in 1...20 where !Self.areBothTwice(in: names) {
            for (signal, line) in [(SIGUSR1, " background  "), (SIGUSR2, " foreground  ")] {
                run.process.send(signal)
                try run.process.waitForLine(containing: line)
                #expect(try run.hostd("post", "x", "1").exit == .code(0))
                pipe.empty()
            }
            names = try HostProcess.run(
                ["-c", "cat /proc/\(run.process.processID)/task/*/comm"], program: "/bin/sh"
            ).output.split(separator: "\n")
        }
        #expect(Self.areBothTwice(in: names), "\(names)")
        return (run, pipe)
    }

    private static func areBothTwice(in names: [Substring]) -> Bool {
        ["hostd-control", "signals"].allSatisfy { name in names.count { $0 == name } == 2 }
    }

    @Test(
        "while a module hangs in what a signal brought, clients are answered and signals are taken")
    func signal() throws {
        let (run, pipe) = try carrying()
        pipe.fill()
        run.process.send(SIGUSR1)
        try expectBusy(run)
        try expectTaken(run)
        withExtendedLifetime(pipe) {}
    }

    @Test("while a module hangs in what a client sent, clients are answered and signals are taken")
    func client() throws {
        let (run, pipe) = try carrying()
        pipe.fill()
        let post = try HostProcess(["post", "x", "1"], in: run.folder.path)
        try expectBusy(run)
        try expectTaken(run)
        #expect(try post.waitForExit().exit == .code(0))
        withExtendedLifetime(pipe) {}
    }

    @Test("what was taken meanwhile is done when the module returns")
    func returns() throws {
        let (run, pipe) = try carrying()
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
