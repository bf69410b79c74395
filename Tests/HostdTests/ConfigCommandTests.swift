import ModuleHost
import TestSupport
import Testing

@Suite("hostd config and hostd reload --dry-run", .timeLimit(.minutes(10)))
struct ConfigCommandTests {
    private static func slatefile(_ modules: String, top: String = "") -> String {
        """
        {"slate": 1, "app": "test", \(top)"config": {"key": "${SECRET}"}, "modules": [
         {"id": "x.main", "entry": "Modules.MainModule", "main": true},
         \(modules)
        ]}
        """
    }

    @Test("the slatefile in effect is a slatefile, without the values of variables")
    func config() throws {
        let run = try HostdRun(
            Self.slatefile(#"{"id": "x.journal", "entry": "Modules.JournalModule"}"#),
            environment: ["SECRET": "hush"]
        ).ready()
        let outcome = try run.hostd("config")
        #expect(outcome.exit == .code(0))
        #expect(outcome.output.hasPrefix("{\n  \"slate\": 1,\n  \"app\": \"test\",\n"))
        #expect(outcome.output.contains(#"  "config": {"key":"${SECRET}"},"#))
        #expect(!outcome.output.contains("hush"))
        try run.folder.write(outcome.output, to: "effective.json")
        let check = try HostProcess.run(
            ["check", "effective.json"], in: run.folder.path, environment: ["SECRET": "hush"])
        #expect(check.exit == .code(0), "\(check.error)")
        let line = try run.hostd("config", "--json").output
        #expect(line.split(separator: "\n").count == 1)
    }

    @Test("what a reload would change and why; nothing changes")
    func dryRun() throws {
        let journal = #"{"id": "x.journal", "entry": "Modules.JournalModule", "deadline": "2s"}"#
        let off = #"{"id": "x.off", "entry": "Modules.PushModule", "enabled": false}"#
        let run = try HostdRun(
            Self.slatefile("\(journal), \(off)"), environment: ["SECRET": "hush"]
        ).ready()
        #expect(try run.hostd("reload", "--dry-run").output == "nothing changed\n")
        let next =
            journal.replacing("2s", with: "3s") + ", " + off.replacing("false", with: "true")
            + #", {"id": "x.new", "entry": "Modules.PushModule"}"#
        try run.folder.write(
            Self.slatefile(next, top: #""deadlines": {"event": "4s"}, "#), to: "slatefile.json")
        let outcome = try run.hostd("reload", "--dry-run")
        #expect(
            outcome.output == """
                would apply: added x.off, x.new; adjusted x.journal; deadlines
                  x.off      added     it is enabled
                  x.new      added
                  x.journal  adjusted  deadline

                """)
        let json = try JSONValue(parsing: run.hostd("reload", "--dry-run", "--json").output)
        #expect(json["outcome"]?.string == "planned" && json["exitCode"]?.int == 0)
        #expect(json["reasons"]?["x.journal"]?.elements.map(\.string) == ["deadline"])
        let status = try JSONValue(parsing: run.hostd("status", "--json").output)
        #expect(status["lastReload"] == nil && status["slatefileChanged"]?.bool == true)
        #expect(try run.hostd("reload").output.hasPrefix("applied: added x.off, x.new;"))

        try run.folder.write("{", to: "slatefile.json")
        let invalid = try run.hostd("reload", "--dry-run")
        #expect(invalid.exit == .code(78) && invalid.error.contains("slatefile.json:1:2: error"))
        let after = try JSONValue(parsing: run.hostd("status", "--json").output)
        #expect(after["lastReload"]?["outcome"]?.string == "applied")
    }
}
