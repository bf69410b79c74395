import TestSupport
import Testing

/// A long-running task that fails in the process of its module.
@Suite("hostd run: long-running tasks", .timeLimit(.minutes(10)))
struct FailingTaskRunTests {
    @Test("the process of a module whose task fails ends and is restarted")
    func isolated() throws {
        let slatefile = """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.task", "entry": "TestHost.FailingTaskModule", "isolation": "process"}
            ]}
            """
        let run = try HostdRun(slatefile, program: HostProcess.program("TestHost")).ready()
        let error = try run.process.waitForLine(containing: "run failed: as the test wants")
        #expect(error.contains("x.task"))
        _ = try run.process.waitForLine(containing: "ended with code 70")
        _ = try run.process.waitForLine(containing: "runs again")
        #expect(try run.terminated().exit == .code(0))
    }

    @Test(
        "a module in a process that does not return from a task is named, and its process restarted"
    )
    func stuck() throws {
        let slatefile = """
            {"slate": 1, "app": "test", "deadlines": {"event": "200ms"}, "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.task", "entry": "TestHost.StuckTaskModule", "isolation": "process",
               "killAfter": "2s"}
            ]}
            """
        let run = try HostdRun(slatefile, program: HostProcess.program("TestHost")).ready()
        let process = try run.hostd("call", "x.task", "process").output
        let call = try run.hostd("call", "x.task", "stick")
        #expect(call.exit != .code(0))
        #expect(call.error.contains("did not return from its code within 2s"))
        let error = try run.process.waitForLine(containing: "its code did not return within 200ms")
        #expect(error.contains("x.task"))
        _ = try run.process.waitForLine(containing: "runs again")
        let next = try run.hostd("call", "x.task", "process").output
        #expect(!next.isEmpty && next != process)
        #expect(try run.terminated().exit == .code(0))
    }
}
