import Glibc
import ModuleHost
import TestSupport
import Testing

/// Slatefiles that a module's process hands to its host.
@Suite("apply: by a module's process", .timeLimit(.minutes(10)))
struct AppliedByModuleTests {
    private static func slatefile(_ entry: String, more: String = "") -> String {
        """
        {"slate": 1, "app": "test", "modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true},
          \(entry)\(more)
        ]}
        """
    }

    private static let journal = #", {"id": "x.journal", "entry": "Modules.JournalModule"}"#

    /// The text of a value as JSON.
    private func json(_ text: String) throws -> String {
        try #require(JSONValue(writing: { $0.value(text) })).text
    }

    @Test("a program: kept, and its file written; refused without the permission")
    func program() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            ShellModule.program(
                "x.fetch", #""push""#,
                #"""
                *'"event":"push"'*) cat request ;;
                *'"id":7,"result"'* | *'"id":7,"error"'*)
                    printf '%s\n' "$line" >answer.new
                    mv answer.new answer
                    continue ;;
                """#), to: "fetch")
        try #require(chmod(folder.path("fetch"), 0o755) == 0)
        func answer(_ slatefile: String, to run: HostdRun) throws -> JSONValue {
            try folder.write(
                #"{"jsonrpc":"2.0","id":7,"method":"apply","params":{"probationMs":50,"slatefile":"#
                    + json(slatefile) + "}}\n", to: "request")
            #expect(
                try run.hostd("send", "push", "--payload", #"{"aps": {}}"#).exit == .code(0))
            let deadline = ContinuousClock.now + HostProcess.patience
            while true {
                if let text = try? folder.text(of: "answer") {
                    unlink(folder.path("answer"))
                    return try JSONValue(parsing: text)
                }
                try #require(ContinuousClock.now < deadline, "no answer")
                sched_yield()
            }
        }

        let plain = Self.slatefile(#"{"id": "x.fetch", "command": ["./fetch"]}"#)
        let run = try HostdRun(plain, in: folder).ready()
        let refused = try answer(plain, to: run)
        #expect(refused["error"]?["code"]?.int == -32002)
        #expect(
            refused["error"]?["message"]?.string?.hasSuffix(
                #"to let it, add "may": ["apply"] to its entry in the slatefile"#) == true)

        let entry = #"{"id": "x.fetch", "command": ["./fetch"], "may": ["apply"]}"#
        try folder.write(Self.slatefile(entry), to: "slatefile.json")
        #expect(try run.hostd("reload").output == "applied: adjusted x.fetch\n")
        let next = Self.slatefile(entry, more: Self.journal)
        let kept = try answer(next, to: run)
        #expect(kept["result"]?["changed"]?.bool == true, "\(kept.text)")
        #expect(kept["result"]?["summary"]?.string == "added x.journal")
        #expect(try folder.text(of: "slatefile.json") == next)
        let invalid = try answer("{", to: run)
        #expect(invalid["error"]?["code"]?.int == -32602, "\(invalid.text)")
        let broken = try answer(
            Self.slatefile(
                entry,
                more:
                    #", {"id": "x.j", "entry": "Modules.JournalModule", "config": {"file": "no/j"}}"#
            ), to: run)
        #expect(broken["error"]?["code"]?.int == -32005, "\(broken.text)")
        #expect(try folder.text(of: "slatefile.json") == next)
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a Swift module in the host, in a process with the permission, and in one without")
    func swift() throws {
        func applied(_ more: String) throws -> String {
            let entry = #"{"id": "x.fetch", "entry": "TestHost.ApplyingModule"\#(more)}"#
            let run = try HostdRun(
                Self.slatefile(entry), program: HostProcess.program("TestHost")
            ).ready()
            let next = Self.slatefile(entry, more: Self.journal)
            #expect(try run.hostd("post", "apply", json(next)).exit == .code(0))
            let line = try run.process.waitForLine {
                $0.contains("x.fetch") && $0.contains("applied: ")
            }
            #expect(
                try (run.folder.text(of: "slatefile.json") == next)
                    == line.hasSuffix("  applied: added x.journal"))
            #expect(try run.terminated().exit == .code(0))
            return line
        }
        for more in ["", #", "isolation": "process", "may": ["apply"]"#] {
            let line = try applied(more)
            #expect(line.hasSuffix("  applied: added x.journal"), "\(line)")
        }
        let line = try applied(#", "isolation": "process""#)
        #expect(line.contains("  not applied: a module in a process of its own cannot apply"))
    }
}
