import Glibc
import ModuleHost
import TestSupport
import Testing

/// Calls that their callers no longer wait for, and the work of a module for them.
@Suite(
    "hostd: cancelled calls", .enabled(if: NewCommandTests.hasPython), .timeLimit(.minutes(10)))
struct CancelledCallTests {
    private let run: HostdRun

    /// Starts a host with a module whose route never answers, and logs when its call is cancelled.
    init() throws {
        let folder = try TemporaryFolder()
        let library = try Repository.text(of: "Examples/modules/modulehost.py")
        try folder.write(library, to: "modulehost.py")
        try folder.write(
            """
            from concurrent.futures import Future
            from modulehost import *
            module = Module()

            @module.route("slow", access="public", later=True)
            def slow(name: str):
                future = Future()
                future.add_done_callback(lambda f: module.log.info("%s is cancelled: %s", name, f.cancelled()))
                module.log.info("%s has begun", name)
                return future

            module.run()

            """, to: "slow.py")
        run = try HostdRun(
            """
            {"slate": 1, "app": "test", "schemes": ["test"], "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.slow", "command": ["python3", "slow.py"]}
            ]}
            """, in: folder
        ).ready()
    }

    @Test(
        "Ctrl-C on open and call cancels the call, and then ends the command",
        arguments: [
            ["open", "test://x.slow/slow?name=first"],
            ["call", "x.slow", "slow", #"{"name": "first"}"#],
        ])
    func interrupted(arguments: [String]) throws {
        let command = try HostProcess(arguments, in: run.folder.path)
        try run.process.waitForLine(containing: "first has begun")
        command.send(SIGINT)
        try run.process.waitForLine(containing: "first is cancelled: True")
        let outcome = try command.waitForExit()
        #expect(outcome.exit == .signal(SIGINT))
        #expect(outcome.error == "hostd \(arguments[0]): the caller cancelled the call\n")
        let end = try run.terminated()
        #expect(end.exit == .code(0))
        #expect(end.error.contains("failed: the caller cancelled the call"), "\(end.error)")
    }

    @Test("a client's call ends with its task, or its time, and so does the work for the answer")
    func client() async throws {
        let client = try HostClient(stateDirectory: run.folder.path(".hostd"))
        let call = Task {
            try await client.call(
                "x.slow", "slow", parameters: try JSONValue(parsing: #"{"name": "first"}"#))
        }
        try run.process.waitForLine(containing: "first has begun")
        call.cancel()
        let cancelled = await #expect(throws: HostClientError.self) { try await call.value }
        guard case .cancelled(_, request: "call")? = cancelled else {
            Issue.record("\(cancelled as (any Error)?)")
            return
        }
        try run.process.waitForLine(containing: "first is cancelled: True")
        let late = await #expect(throws: HostClientError.self) {
            try await client.open("test://x.slow/slow?name=second", within: .milliseconds(500))
        }
        guard case .noResponse(_, to: "open", within: .milliseconds(500))? = late else {
            Issue.record("\(late as (any Error)?)")
            return
        }
        #expect(try await client.canOpen("test://x.slow/slow?name=third"))
        #expect(try await client.stop()["outcome"]?.string == "stopped")
        #expect(try run.ended().exit == .code(0))
    }
}
