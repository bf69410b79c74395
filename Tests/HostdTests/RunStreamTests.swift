import Glibc
import ModuleHost
import TestSupport
import Testing

@Suite("hostd run: stdout and stderr", .timeLimit(.minutes(10)))
struct RunStreamTests {
    private static let ended = ["launch", "activate", "resign-active", "background", "terminate"]

    @Test("stdout closed: nothing is written where it should not be")
    func closedOutput() throws {
        let run = try HostdRun(HostdRun.slatefile(), output: .closed)
        try run.process.waitForLine(containing: "ready: 2 modules")
        #expect(try run.terminated().exit == .code(0))
        #expect(try run.journaledEvents() == Self.ended)
        #expect(try run.folder.text(of: ".hostd/hostd.pid") == "")
    }

    @Test("stderr closed")
    func closedError() throws {
        let run = try HostdRun(HostdRun.slatefile(), error: .closed).ready()
        #expect(try run.terminated().exit == .code(0))
        #expect(try run.journaledEvents() == Self.ended)
    }

    @Test("both closed")
    func closedBoth() throws {
        let run = try HostdRun(HostdRun.slatefile(), output: .closed, error: .closed)
        // It has no output: the journal says that it is ready.
        try run.waitForJournal(last: "activate")
        #expect(try run.terminated().exit == .code(0))
        #expect(try run.folder.text(of: ".hostd/hostd.pid") == "")
    }

    @Test("stdout full")
    func fullOutput() throws {
        let run = try HostdRun(HostdRun.slatefile(), output: .file("/dev/full"))
        try run.process.waitForLine(containing: "ready: 2 modules")
        try run.process.waitForLine(
            containing: "the READY line cannot be written to stdout: No space left on device")
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("stdout whose reader has gone")
    func brokenOutput() throws {
        // The shell's pipe loses its reader before the host begins.
        let run = try HostdRun(
            HostdRun.slatefile(),
            shell: "mkfifo p; (: <p) & exec >p; wait")
        try run.process.waitForLine(containing: "ready: 2 modules")
        #expect(try run.terminated().exit == .code(0))
        #expect(try run.journaledEvents() == Self.ended)
    }

    @Test("stderr whose reader goes while it runs")
    func brokenError() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        run.process.closeReadEnd(of: .error)
        for _ in 0..<10 {
            run.process.send(SIGUSR1)
            run.process.send(SIGUSR2)
        }
        #expect(try run.terminated().exit == .code(0))
        #expect(try run.journaledEvents().last == "terminate")
    }

    @Test("stderr without a reader: the host goes on")
    func unreadError() throws {
        let slatefile = HostdRun.slatefile(
            top: """
                "signals": {"RTMIN+1": {"event": "memory-warning"}, "RTMIN+2": {"event": "terminate"}}
                """)
        let run = try HostdRun(slatefile).ready()
        // Far more lines than a pipe holds; the test does not read until the end is certain.
        for value in 0..<Int32(2000) { run.queue(realTime(1), value: value) }
        run.queue(realTime(2))
        // The end of the journal, and not of the log, says that it went on.
        try run.waitForJournal(last: "terminate")
        #expect(try run.ended().exit == .code(0))
        #expect(try run.journaledEvents().count { $0 == "memory-warning" } == 2000)
    }

    @Test("a log that is a file, and is truncated after it was copied, has no hole")
    func truncatedFile() throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "host.log")
        let run = try HostdRun(
            HostdRun.slatefile(), in: folder, error: .file(folder.path("host.log"))
        ).ready()
        #expect(try folder.text(of: "host.log").contains("ready: 2 modules"))
        try #require(truncate(folder.path("host.log"), 0) == 0)
        #expect(try run.terminated().exit == .code(0))
        let log = try folder.text(of: "host.log")
        #expect(log.hasPrefix("20") && log.hasSuffix(" stopped\n") && !log.contains("\0"))
    }

    @Test("--log-format json: each line is an object, with nothing of a payload")
    func json() throws {
        let run = try HostdRun(
            HostdRun.shippedSlatefile(), ["--log-format", "json", "--log-level", "debug"]
        ).ready()
        for signal in [realTime(1), realTime(2), realTime(3)] { run.queue(signal, value: 7) }
        try run.process.waitForLine(containing: #""event":"message""#)
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0))
        for line in outcome.error.split(separator: "\n") {
            let record = try JSONValue(parsing: String(line))
            #expect(record["time"]?.string != nil && record["level"]?.string != nil)
            #expect(record["message"]?.string != nil)
        }
        for secret in ["Hello", "\"mia\"", "badge\\\""] {
            #expect(!outcome.error.contains(secret), "\(secret)")
        }
    }

    @Test("--log-format json: an invalid slatefile is a line, too")
    func jsonError() throws {
        let outcome = try HostdRun("{", ["--log-format", "json"]).ended()
        #expect(outcome.exit == .code(78))
        for line in outcome.error.split(separator: "\n") {
            _ = try JSONValue(parsing: String(line))
        }
    }
}
