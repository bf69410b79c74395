import ModuleHostCore
import TestSupport
import Testing

@testable import Modules

@Suite("MainModule", .timeLimit(.minutes(10)))
struct MainModuleTests {
    private func slatefile(config: String, isolation: String = "none") -> String {
        """
        { "slate": 1, "app": "demo", "modules": [
          { "id": "com.mm.main", "entry": "Modules.MainModule", "main": true, "config": \(config),
            "isolation": "\(isolation)" },
          { "id": "com.mm.journal", "entry": "Modules.JournalModule" }
        ] }
        """
    }

    @Test(
        "its root is opened at the end of launch, wherever it runs",
        arguments: ["none", "process"])
    func root(isolation: String) async throws {
        let slatefile = slatefile(
            config: #"{ "root": "slate://home" }"#, isolation: isolation)
        try await TestHost.run(slatefile: slatefile, .init(executable: "hostd")) { app in
            let events = try app.folder.text(of: "journal.ndjson").split(separator: "\n").map {
                line in
                try JSONValue(parsing: String(line))
            }
            #expect(
                events.compactMap { $0["event"]?.string } == ["launch", "open-url", "activate"])
            #expect(events[1]["payload"]?["url"]?.string == "slate://home")
            #expect(events[1]["origin"]?["module"]?.string == "com.mm.main")
        }
    }

    @Test("without a root none is opened")
    func noRoot() async throws {
        try await TestHost.run(slatefile: slatefile(config: "{}")) { app in
            #expect(!app.log.records.contains { $0.event == "open-url" })
        }
    }

    @Test(
        "settings that are wrong show at their place",
        arguments: [
            (
                #"{ "root": "home" }"#,
                "/root: malformed URL: it begins with no scheme, such as the slate of "
                    + "slate://userInfo"
            ),
            (
                #"{ "root": "slate://a b" }"#,
                "/root: malformed URL: byte 9 is a space; write it as %20"
            ),
            (#"{ "root": 5 }"#, "/root: expected a string, found the number 5"),
            (#"{ "rot": "a:b" }"#, "/rot: unknown key 'rot'; did you mean 'root'?"),
        ])
    func diagnostics(config: String, message: String) {
        let found = ModulesTests.diagnostics(of: slatefile(config: config))
        #expect(found == ["/modules/0/config\(message)"])
    }
}
