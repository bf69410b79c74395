import Glibc
import ModuleHost
import TestSupport
import Testing

@Suite("hostd run --respawn", .timeLimit(.minutes(10)))
struct RespawnTests {
    /// The processes that said they were ready, in order.
    private func hosts(of run: HostdRun, count: Int) throws -> [Int32] {
        try (1...count).map { number in
            let line = try run.process.waitForLine(
                containing: "ready pid=", on: .output, count: number)
            let digits = line.dropFirst("ready pid=".count).prefix { $0.isNumber }
            return try #require(Int32(digits))
        }
    }

    @Test("a host that is killed is started again, and goes on where it was")
    func killed() throws {
        let run = try HostdRun(HostdRun.slatefile(), ["--respawn"])
        let first = try hosts(of: run, count: 1)[0]
        #expect(first != run.process.processID)
        let sent = try HostProcess.run(
            ["send", "push", "--payload", #"{"aps": {}}"#, "--wait"], in: run.folder.path)
        #expect(sent.exit == .code(1))
        kill(first, SIGKILL)
        let second = try hosts(of: run, count: 2)[1]
        #expect(second != first)
        let line = try run.process.waitForLine(containing: "it is started again")
        #expect(line.contains("the host (process \(first)) was killed by SIGKILL after "))
        let status = try HostProcess.run(["status"], in: run.folder.path)
        #expect(status.output.contains("\nprocess       \(second)\n"))
        #expect(try readFile(at: "/proc/\(second)/comm", limit: 64) == Array("hostd\n".utf8))
        let ended = try run.terminated()
        #expect(ended.exit == .code(0))
        #expect(
            try run.journaledEvents() == [
                "launch", "activate", "push", "launch", "activate", "resign-active", "background",
                "terminate",
            ])
    }

    @Test("signals are passed on, with what they carry")
    func signals() throws {
        let slatefile = HostdRun.slatefile(
            top: #""signals": {"RTMIN+1": {"event": "memory-warning"}}"#)
        let run = try HostdRun(slatefile, ["--respawn"]).ready()
        run.process.send(SIGUSR1)
        try run.waitForJournal(last: "background")
        run.process.send(SIGUSR2)
        try run.waitForJournal(last: "activate")
        run.queue(realTime(1), value: 7)
        try run.waitForJournal(last: "memory-warning")
        #expect(try run.journal().last?["origin"]?["value"]?.int == 7)
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("where the parent is gone, so is the host")
    func orphaned() throws {
        let run = try HostdRun(HostdRun.slatefile(), ["--respawn"]).ready()
        run.process.send(SIGKILL)
        // The host, too, keeps the streams open.
        let ended = try run.ended()
        #expect(ended.exit == .signal(SIGKILL))
        #expect(ended.error.contains("stopping: the parent that restarts this host has ended"))
        #expect(try run.journaledEvents().last == "terminate")
    }

    @Test("what no other start mends ends the parent, too")
    func final() throws {
        let run = try HostdRun(nil, ["--respawn"])
        let ended = try run.ended()
        #expect(ended.exit == .code(66))
        #expect(!ended.error.contains("started again"))
    }

    @Test("a host that stops on request is not started again, however it ends")
    func stopped() throws {
        let folder = try TemporaryFolder()
        let pipe = try FullPipe(folder.path("pipe"))
        let run = try HostdRun(
            HostdRun.slatefile(
                journal: #""config": {"file": "\#(folder.path("pipe"))"}"#,
                top: #""deadlines": {"event": "1h", "stop": "1h", "stopAll": "1h"}"#),
            in: folder, ["--respawn"])
        let host = try hosts(of: run, count: 1)[0]
        pipe.fill()
        run.process.send(SIGTERM)
        try run.process.waitForLine(containing: "stopping: ")
        kill(host, SIGKILL)
        let ended = try run.ended()
        #expect(ended.exit == .code(70))
        #expect(!ended.error.contains("started again"))
    }

    @Test("five deaths in a minute are too many, be they a required part that fails")
    func givenUp() throws {
        let slatefile = HostdRun.slatefile(
            journal: #""required": true, "config": {"file": "/dev/null/none"}"#)
        let ended = try HostdRun(slatefile, ["--respawn"]).ended()
        #expect(ended.exit == .code(70))
        let lines = ended.error.split(separator: "\n")
        #expect(lines.count { $0.hasSuffix("; it is started again") } == 4)
        #expect(lines.last?.hasSuffix(": 5 deaths within 1m00s, it is not started again") == true)
    }
}
