import ModuleHost
import TestSupport
import Testing

/// Modules of a few lines of Python, on the `modulehost.py` that `hostd new` makes, with a real host.
@Suite("Modules in Python", .enabled(if: NewCommandTests.hasPython), .timeLimit(.minutes(10)))
struct PythonModuleTests {
    /// Starts a host with a module `x.python`.
    ///
    /// - Parameters:
    ///   - code: What stands between the making of `module` and `module.run()`.
    ///   - more: More members of its entry in the slatefile.
    ///   - options: Options of the interpreter.
    /// - Returns: The host, which is ready.
    /// - Throws: Where it is not.
    private func run(
        _ code: String, more: String = "", options: [String] = []
    ) throws -> HostdRun {
        let folder = try TemporaryFolder()
        let library = try Repository.text(of: "Examples/modules/modulehost.py")
        try folder.write(library, to: "modulehost.py")
        try folder.write(
            "from modulehost import *\nmodule = Module()\n\(code)\nmodule.run()\n", to: "small.py")
        return try HostdRun(Self.slatefile(more, options), in: folder).ready()
    }

    private static func slatefile(_ more: String, _ options: [String] = []) -> String {
        let words = (["python3"] + options + ["small.py"]).map { "\"\($0)\"" }
        return """
            {"slate": 1, "app": "test", "schemes": ["test"], "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.journal", "entry": "Modules.JournalModule"},
              {"id": "x.python", "command": [\(words.joined(separator: ", "))]\(more)}
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
                try:
                    module.send("push", {"aps": {"badge": 1}}, id="once")
                except HostError as error:
                    module.log.info("refused with %s", error)
            """)
        #expect(try run.hostd("post", "go").exit == .code(0))
        try run.process.waitForLine(containing: "sent as 1:1")
        try run.waitForJournal(last: "push")
        #expect(try run.hostd("post", "go").exit == .code(0))
        try run.process.waitForLine(containing: "sent as None")
        try run.process.waitForLine(containing: "refused with")
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0))
        #expect(!outcome.error.contains("Traceback"))
        #expect(try run.journaledEvents().filter { $0 == "push" }.count == 1)
    }

    @Test("what a library prints at import, unbuffered, is logged")
    func prints() throws {
        let run = try run("print('printed at import')", options: ["-u"])
        try run.process.waitForLine(containing: "printed at import")
        #expect(try run.hostd("modules").output.contains("x.python"))
        #expect(try run.hostd("health").output.hasPrefix("healthy"))
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0))
        #expect(!outcome.error.contains("failed"))
    }

    @Test(
        "a handler that posts more than the host keeps waits for it, and all of its messages arrive"
    )
    func postsMany() throws {
        let run = try run(
            """
            @module.topic("go")
            def go(event):
                for number in range(200):
                    module.post("counted", number)
                module.log.info("posted all")
            @module.topic("counted")
            def counted(event):
                if event.payload == 199:
                    module.log.info("received all")
            """)
        #expect(try run.hostd("post", "go").exit == .code(0))
        try run.process.waitForLine(containing: "posted all")
        try run.process.waitForLine(containing: "received all")
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0))
        #expect(!outcome.error.contains("Traceback"))
        #expect(try run.journaledEvents().filter { $0 == "message" }.count == 201)
    }

    @Test("what Python compiles is in the state directory, and not beside the module")
    func compiled() throws {
        let run = try run("")
        #expect(try run.terminated().exit == .code(0))
        #expect(!run.folder.names.contains("__pycache__"), "\(run.folder.names)")
        #expect(fileExists(run.folder.path(".hostd/pycache")))
    }

    @Test("it stops the app where its slatefile lets it, and else the error says how to let it")
    func stops() throws {
        let run = try run(
            """
            @module.topic("go")
            def go(event):
                module.send("terminate")
            """)
        #expect(try run.hostd("post", "go").exit == .code(0))
        try run.process.waitForLine(
            containing: "a module in a process of its own cannot send 'terminate', which concerns "
                + #"the whole app: to let it, add "may": ["state"] to its entry in the slatefile"#)
        #expect(try run.hostd("health").exit == .code(0))
        try run.folder.write(Self.slatefile(#", "may": ["state"]"#), to: "slatefile.json")
        #expect(try run.hostd("reload").output == "applied: adjusted x.python\n")
        #expect(try run.hostd("post", "go").exit == .code(0))
        let outcome = try run.ended()
        #expect(outcome.exit == .code(0))
        #expect(outcome.error.contains("stopping: x.python"))
    }

    @Test("what it does for a sender from outside reaches what that one may")
    func actsForSenders() throws {
        let run = try run(
            """
            @module.route("relay", access="public")
            def relay(url: str, mine: bool = False):
                return module.open(url, None if mine else module.sender)
            @module.route("hidden")
            def hidden():
                return module.sender
            @module.route("shown", access="public")
            def shown():
                return module.sender
            """)
        func relay(_ more: String) throws -> HostProcess.Outcome {
            try run.hostd("open", "test://x.python/relay?url=test%3A%2F%2Fx.python%2F\(more)")
        }
        #expect(
            try relay("hidden&mine=true").output == #"{"kind":"local","module":"x.python"}"# + "\n")
        let refused = try relay("hidden")
        #expect(refused.exit == .code(70))
        #expect(refused.error.contains("no route for 'test://x.python/hidden'"))
        #expect(try relay("shown").output.hasPrefix(#"{"kind":"control","uid":"#))
        #expect(try run.terminated().exit == .code(0))
    }
}
