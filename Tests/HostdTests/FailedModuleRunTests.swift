import ModuleHost
import TestSupport
import Testing

/// Modules that have failed, as a person at a terminal meets them.
@Suite("hostd: URLs of failed modules", .timeLimit(.minutes(10)))
struct FailedModuleRunTests {
    private let run: HostdRun

    init() throws {
        run = try HostdRun(
            """
            {"slate": 1, "app": "demo", "schemes": ["app"], "fallback": "x.web", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.eager", "command": ["/nonexistent/eager"], "instead": "app://mobile/*"},
              {"id": "x.lazy", "command": ["/nonexistent/lazy"], "launch": "lazy",
               "provides": ["page/:number"]},
              {"id": "x.web", "entry": "Modules.BrowserModule"}]}
            """
        ).ready()
    }

    private func hostd(_ arguments: String...) throws -> HostProcess.Outcome {
        try HostProcess.run(arguments, in: run.folder.path)
    }

    @Test("a short one passes on to the fallback, and canopen agrees")
    func passesOn() throws {
        for _ in 0..<2 {
            let opened = try hostd("open", "app://page/7")
            #expect(opened.output == #"{"shown":"app://page/7"}"# + "\n")
            #expect(opened.exit == .code(0))
            #expect(try hostd("canopen", "app://page/7").output == "true\n")
        }
        let named = try hostd("open", "app://x.lazy/page/7")
        #expect(named.error.hasPrefix("hostd open: x.lazy cannot be called now: it failed: init: "))
        #expect(named.exit == .code(69))
        #expect(try hostd("canopen", "app://x.lazy/page/7").exit == .code(69))
        #expect(try hostd("call", "x.lazy", "page/:number", #"{"number": 7}"#).exit == .code(69))
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("one with the module's id goes to its instead, which every command shows")
    func instead() throws {
        let opened = try hostd("open", "app://x.eager/a/b?c=d")
        #expect(opened.output == #"{"shown":"app://mobile/a/b?c=d"}"# + "\n")
        let canOpen = try hostd("canopen", "app://x.eager/a")
        #expect(canOpen.output == "true\n")
        #expect(canOpen.error == "x.eager has failed; instead of it: app://mobile/*\n")
        #expect(try hostd("status").output.contains("instead       x.eager → app://mobile/*\n"))
        #expect(try hostd("modules").output.contains("\n    instead: app://mobile/*\n"))
        let modules = try JSONValue(parsing: try hostd("modules", "--json").output)
        #expect(
            modules.elements.map { $0["instead"]?.string } == [nil, "app://mobile/*", nil, nil])
        #expect(
            try hostd("routes").output.contains("x.eager, when it has failed: app://mobile/*\n"))
        let end = try run.terminated()
        #expect(end.exit == .code(0))
        let line = "its URLs and calls go to 'app://mobile/*' until it runs again"
        #expect(end.error.split(separator: "\n").count { $0.contains(line) } == 1)
    }
}
