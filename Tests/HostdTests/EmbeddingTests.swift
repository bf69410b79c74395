import ModuleHost
import TestSupport
import Testing

/// A program that embeds a host: Tests/EmbeddedHost, the server of docs/embedding.md.
@Suite("A host inside of another program", .timeLimit(.minutes(10)))
struct EmbeddingTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(
            """
            { "slate": 1, "app": "demo", "schemes": ["slate"], "fallback": "com.mm.browser",
              "modules": [
                { "id": "com.mm.main", "entry": "Modules.MainModule", "main": true },
                { "id": "com.mm.browser", "entry": "Modules.BrowserModule" },
                { "id": "com.mm.push", "entry": "Modules.PushModule", "isolation": "process" }
              ] }
            """, to: "slatefile.json")
    }

    private func run(_ words: String...) throws -> HostProcess.Outcome {
        try HostProcess.run(words, program: HostProcess.program("EmbeddedHost"), in: folder.path)
    }

    @Test("answers requests of the program, runs its isolated modules, and ends with it")
    func answers() throws {
        let outcome = try run("answer", "slatefile.json", "user/mia")
        #expect(outcome.exit == .code(0), "\(outcome.error)")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix(#"answer: {"shown":"slate://user/mia"#) }, "\(lines)")
        #expect(lines.contains("notice host ready: 3 modules"))
        #expect(lines.contains("notice host stopping: the task that runs the host was cancelled"))
        #expect(lines.last == "the server has ended")
        // Nothing but the slatefile is there.
        #expect(folder.names == ["slatefile.json"])
    }

    @Test("leaves no thread, no descriptor and no signal behind, however often it is run")
    func leavesNothing() throws {
        try folder.write(
            folder.text(of: "slatefile.json").replacing(#", "isolation": "process""#, with: ""),
            to: "slatefile.json")
        let outcome = try run("rounds", "slatefile.json", "20")
        #expect(outcome.exit == .code(0), "\(outcome.error)")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.last == "nothing is left")
        #expect(lines.count { $0.hasPrefix("notice host ready: ") } == 21)
    }
}
