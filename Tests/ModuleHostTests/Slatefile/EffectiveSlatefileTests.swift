import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("The slatefile in effect, as a slatefile")
struct EffectiveSlatefileTests {
    private func read(_ text: String) throws -> Slatefile {
        try Slatefile.read(
            Array(text.utf8), path: "slatefile.json",
            environment: { $0 == "SECRET" ? "hush" : nil }, checkEntry: nil)
    }

    private func effective(_ slatefile: Slatefile) throws -> String {
        var json = JSONWriter()
        slatefile.writeEffective(to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static let text = """
        {"slate": 1, "app": "test", "schemes": ["t"], "fallback": "x.main", "isolation": "auto",
         "config": {"a": "${SECRET}"}, "startup": {"width": 3},
         "deadlines": {"event": "1500ms", "stopAll": "1m"}, "security": {"tokens": "t.json"},
         "rewrites": [{"from": "t://a/:b", "to": "t://x.main/:b"}],
         "signals": {"USR2": {"event": "open-url", "url": "t://x"},
                     "WINCH": {"event": "message", "topic": "w", "payload": {"a":
          [1, 2]}}},
         "modules": [
          {"id": "x.main", "entry": "A.B", "main": true, "retry": true, "isolation": "none"},
          {"id": "x.off", "entry": "A.C", "enabled": false, "config": {"b": ["x${SECRET}",
            "$${SECRET}"]}},
          {"id": "x.lazy", "entry": "A.C", "launch": "lazy", "idle": "30s", "deadline": "2s"},
          {"id": "x.program", "command": ["run", "it"], "killAfter": "9s", "env": ["HOME"], "logLevel": "debug",
           "events": ["push"], "provides": ["item/:id"], "needs": ["x.main"], "backlog": 7},
          {"id": "x.once", "command": ["do"], "ends": true, "replace": "stop-first"}
         ]}
        """

    @Test("it describes the same app, with the same values of variables")
    func same() throws {
        let slatefile = try read(Self.text)
        let text = try effective(slatefile)
        let again = try read(text)
        let difference = SlatefileDifference(from: slatefile, to: again)
        #expect(difference.removed.isEmpty && !difference.isReordered)
        #expect(difference.fields.isEmpty && difference.waiting.isEmpty)
        // Only deadlines that had their defaults are written now.
        for (before, after) in zip(slatefile.modules, again.modules) {
            var after = after
            (after.deadline, after.killAfter) = (before.deadline, before.killAfter)
            #expect(after.isSame(as: before), "\(after.id)")
        }
        #expect(again.modules.map(\.isEnabled) == slatefile.modules.map(\.isEnabled))
        #expect(try effective(again) == text)
    }

    @Test("every default is there, and no value of a variable")
    func defaults() throws {
        let text = try effective(read(Self.text))
        #expect(!text.contains("hush") && text.contains(#""a":"${SECRET}""#))
        #expect(!text.contains("\n"))
        let json = try JSONValue(parsing: text)
        #expect(json["deadlines"]?["call"]?.string == "30s")
        #expect(json["logLevel"]?.string == "info")
        #expect(json["signals"]?["TERM"]?["event"]?.string == "terminate")
        let modules = Array(try #require(json["modules"]).elements)
        let main = modules[0]
        #expect(main["enabled"]?.bool == true && main["required"]?.bool == false)
        #expect(main["deadline"]?.string == "1500ms" && main["launch"]?.string == "eager")
        #expect(main["backlog"]?.int == 1024 && main["killAfter"] == nil)
        let programs = modules.filter { $0["command"] != nil }
        #expect(programs.map { $0["killAfter"]?.string } == ["9s", "3s"])
    }

    @Test("a module that is isolated since hosts have died")
    func isolated() throws {
        var slatefile = try read(Self.text)
        slatefile.modules[2].isolation = .process
        slatefile.modules[2].hostDeaths = 2
        let json = try JSONValue(parsing: effective(slatefile))
        let modules = Array(try #require(json["modules"]).elements)
        #expect(modules[2]["isolation"]?.string == "process")
        #expect(modules[2]["killAfter"]?.string == "4s")
    }
}
