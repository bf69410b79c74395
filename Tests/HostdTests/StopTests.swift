import Glibc
import TestSupport
import Testing

/// The ends of a stop, with the real host.
@Suite("hostd stop, and how a stop ends", .timeLimit(.minutes(10)))
struct StopTests {
    private static let hour = #"{"event": "1h", "stop": "1h", "stopAll": "1h"}"#

    @Test("a module that hung before costs the time of one module, and no error")
    func hungBefore() throws {
        let (run, pipe) = try FullPipe.run(#"{"event": "50ms", "stop": "200ms", "stopAll": "1h"}"#)
        pipe.fill()
        run.process.send(SIGUSR1)
        try run.process.waitForLine {
            $0.contains("x.journal") && $0.contains("unresponsive: delivery continues without it")
        }
        let outcome = try run.hostd("stop")
        #expect(outcome.exit == .code(0))
        #expect(outcome.output == "stopped\n")
        let ended = try run.ended()
        #expect(ended.exit == .code(0))
        #expect(ended.error.contains("unresponsive since before the stop: x.journal; "))
        withExtendedLifetime(pipe) {}
    }

    @Test("--within limits the stop")
    func within() throws {
        let (run, pipe) = try FullPipe.run(Self.hour)
        pipe.fill()
        let outcome = try run.hostd("stop", "--within", "300ms")
        #expect(outcome.exit == .code(70))
        #expect(outcome.error == "hostd stop: the stop took too long; left behind: x.journal\n")
        let ended = try run.ended()
        #expect(ended.exit == .code(70))
        #expect(ended.error.contains("the stop took longer than 300ms; left behind: x.journal"))
        withExtendedLifetime(pipe) {}
    }

    @Test("--now ends the host without a word to its modules: 0 of the command, 70 of the host")
    func now() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        let outcome = try run.hostd("stop", "--now")
        #expect(outcome.exit == .code(0))
        #expect(outcome.output == "ended\n")
        let ended = try run.ended()
        #expect(ended.exit == .code(70))
        #expect(ended.error.contains("ended at once: control from pid "))
        #expect(try run.journaledEvents() == ["launch", "activate"])
        // The next host finds that this one did not die.
        let next = try HostdRun(HostdRun.slatefile(), in: run.folder).ready()
        #expect(try !next.terminated().error.contains("the last host"))
    }

    @Test("--now ends a stop that hangs")
    func nowInStop() throws {
        let (run, pipe) = try FullPipe.run(Self.hour)
        pipe.fill()
        run.process.send(SIGTERM)
        try run.process.waitForLine(containing: "stopping: ")
        #expect(try run.hostd("stop", "--now", "--json").exit == .code(0))
        let ended = try run.ended()
        #expect(ended.exit == .code(70))
        #expect(ended.error.contains("ended at once, before the stop was done: control from pid "))
        withExtendedLifetime(pipe) {}
    }

    @Test(
        "options that make no sense",
        arguments: [
            (["--now", "--within", "1s"], "--now and --within exclude each other"),
            (["--within", "5"], "--within: a duration needs its unit"),
        ])
    func invalid(options: [String], error: String) throws {
        let outcome = try HostProcess.run(["stop"] + options)
        #expect(outcome.exit == .code(64))
        #expect(outcome.error.contains(error))
    }
}
