import Glibc
import TestSupport
import Testing

/// Asynchronous handlers of a Swift module, in the real host.
@Suite("a module that handles events asynchronously", .timeLimit(.minutes(10)))
struct SlowReceiverRunTests {
    private static let program = HostProcess.program("TestHost")

    private func slatefile(_ more: String) -> String {
        """
        {"slate": 1, "app": "test", "modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true},
          {"id": "x.slow", "entry": "TestHost.SlowReceiver"\(more)},
          {"id": "x.journal", "entry": "Modules.JournalModule"}
        ]}
        """
    }

    private func command(_ words: String..., in run: HostdRun) throws -> String {
        let outcome = try HostProcess.run(words, program: Self.program, in: run.folder.path)
        #expect(outcome.exit == .code(0), "\(words): \(outcome.error)")
        return outcome.output
    }

    @Test(
        "its event is done when it is, and told again if the host dies before, from either process",
        arguments: ["", #", "isolation": "process", "deadline": "1m", "killAfter": "2m""#])
    func slow(more: String) throws {
        let first = try HostdRun(slatefile(more), program: Self.program).ready()
        _ = try command("send", "push", "--payload", #"{"aps": {}}"#, "--id", "one", in: first)
        try first.process.waitForLine(containing: "one begun")
        // It is called meanwhile, and another event waits.
        _ = try command(
            "send", "message", "--payload", #"{"topic": "slow.x"}"#, "--id", "two", in: first)
        #expect(try command("call", "x.slow", "finish", #"{"id": "none"}"#, in: first) == "0\n")
        first.process.send(SIGKILL)
        #expect(try first.ended().exit == .signal(SIGKILL))

        let next = try HostdRun(nil, in: first.folder, program: Self.program).ready()
        try next.process.waitForLine(containing: "one begun again")
        #expect(try command("call", "x.slow", "finish", #"{"id": "two"}"#, in: next) == "0\n")
        _ = try command("call", "x.slow", "finish", #"{"id": "one"}"#, in: next)
        try next.process.waitForLine(containing: "two done")
        let sent = try command(
            "send", "push", "--payload", #"{"aps": {}}"#, "--id", "one", "--wait", in: next)
        #expect(sent.hasPrefix("already there: id one"), "\(sent)")
        #expect(try next.terminated().exit == .code(0))
    }

    @Test(
        "a stop waits for what it does in the background, and then at the end, in either process",
        arguments: ["", #", "isolation": "process""#])
    func saving(more: String) throws {
        let run = try HostdRun(
            """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.saver", "entry": "TestHost.SlowSaver", "config": {"ms": 20}\(more)}
            ]}
            """, program: Self.program
        ).ready()
        let ended = try run.terminated()
        #expect(ended.exit == .code(0))
        let steps = ["background begun", "background done", "terminate begun", "terminate done"]
        let noted = ended.error.split(separator: "\n").compactMap { line in
            steps.first { line.contains($0) }
        }
        #expect(noted == steps, "\(ended.error)")
    }
}
