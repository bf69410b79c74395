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
}
