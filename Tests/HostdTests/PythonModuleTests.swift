import ModuleHost
import TestSupport
import Testing

/// Modules of a few lines of Python, on the `modulehost.py` that everybody gets, with a real host.
@Suite("Modules in Python", .enabled(if: NewCommandTests.hasPython), .timeLimit(.minutes(10)))
struct PythonModuleTests {
    /// Starts a host with a module `x.python`.
    ///
    /// - Parameters:
    ///   - code: What stands between the making of `module` and `module.run()`.
    ///   - more: More members of its entry in the slatefile.
    private func run(_ code: String, more: String = "") throws -> HostdRun {
        let folder = try TemporaryFolder()
        let root = "\(#filePath)".split(separator: "/").dropLast(3).joined(separator: "/")
        let library = try readFile(at: "/\(root)/Examples/modules/modulehost.py", limit: 1 << 20)
        try folder.write(String(decoding: library, as: UTF8.self), to: "modulehost.py")
        try folder.write(
            "from modulehost import *\nmodule = Module()\n\(code)\nmodule.run()\n", to: "small.py")
        return try HostdRun(Self.slatefile(more), in: folder).ready()
    }

    private static func slatefile(_ more: String) -> String {
        """
        {"slate": 1, "app": "test", "schemes": ["test"], "modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true},
          {"id": "x.journal", "entry": "Modules.JournalModule"},
          {"id": "x.python", "command": ["python3", "small.py"]\(more)}
        ]}
        """
    }

    @Test("an event that is sent twice with one id is there once, and the sender goes on")
    func sendTwice() throws {
        let run = try run(
            """
            @module.topic("go")
            def go(event):
                position = module.send("push", {"aps": {}}, id="once")
                module.log.info("sent as %s", position)
            """)
        #expect(try run.hostd("post", "go").exit == .code(0))
        try run.process.waitForLine(containing: "sent as 1:1")
        try run.waitForJournal(last: "push")
        #expect(try run.hostd("post", "go").exit == .code(0))
        try run.process.waitForLine(containing: "sent as None")
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0))
        #expect(!outcome.error.contains("Traceback"))
        #expect(try run.journaledEvents().filter { $0 == "push" }.count == 1)
    }
}
