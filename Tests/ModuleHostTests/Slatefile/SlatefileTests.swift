import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Slatefile")
struct SlatefileTests {
    static func read(_ text: String, environment: [String: String] = [:]) throws -> Slatefile {
        try Slatefile.read(
            Array(text.utf8), path: "slatefile.json", environment: { environment[$0] })
    }

    @Test("reads everything that a slatefile can say")
    func complete() throws {
        let bytes = try Inputs.bytes("slatefiles/complete.json")
        let slatefile = try Slatefile.read(bytes, path: "complete.json", environment: { _ in nil })

        #expect(slatefile.app == "demo" && slatefile.schemes == ["slate", "x-slate"])
        #expect(slatefile.config?["domain"]?.string == "https://www.example.com")
        #expect(slatefile.fallback?.text == "com.mm.push")
        #expect(
            slatefile.rewrites == [
                Slatefile.Rewrite(
                    from: "slate://detail/:id", to: "https://www.example.com/detail?id=:id")
            ])
        #expect(slatefile.startup == Slatefile.Startup(width: 3, deadline: .seconds(16)))
        #expect(
            slatefile.deadlines
                == Slatefile.Deadlines(
                    event: .seconds(6), call: .seconds(31), launch: .seconds(21),
                    stop: .seconds(11),
                    stopAll: .seconds(60)))
        #expect(slatefile.security.tokens == "tokens.json" && slatefile.isolation == .auto)

        let ids = ["main", "push", "community", "weather", "forecast", "local"]
        #expect(slatefile.modules.map(\.id.text) == ids.map { "com.mm.\($0)" })
        let modules = slatefile.modules
        #expect(modules[0].isMain && modules[0].isRequired && modules[0].isEnabled)
        #expect(modules[0].implementation == .entry("Modules.MainModule"))
        #expect(modules[1].config?["uriKey"]?.string == "uri" && !modules[1].isRequired)
        #expect(modules[2].deadline == .milliseconds(250) && !modules[2].isEnabled)
        #expect(
            modules.map(\.instead?.text) == [nil, nil, "https://m.example.com/*", nil, nil, nil])
        #expect(modules[3].implementation == .command(["python3", "weather.py", ""]))
        #expect(modules[3].environment == ["PATH", "HOME"] && modules[3].backlog == 1)
        #expect(modules[3].keep == 1 << 30 && modules[2].keep == 64 << 20)
        #expect(modules[3].killAfter == .seconds(3600) && modules[3].permissions == [.state])
        #expect(modules[4].isolation == .process)
        #expect(modules[4].source == .git("https://example.com/forecast.git", .branch("main")))
        #expect(modules[5].isolation == Slatefile.Isolation.none)
        #expect(modules[5].source == .path("../local") && modules[5].product == "LocalKit")
        #expect(slatefile.host == .git("git@example.com:ModuleHost.git", .tag("0.1.0")))
        #expect(modules[5].needs.map(\.text) == ["com.mm.main", "com.mm.weather"])
        #expect(modules[4].place == TextPlace(line: 21, column: 5))
    }

    @Test(
        "permissions are for modules that have a process, or may come to one",
        arguments: [
            (#""command": ["a"]"#, "declared", true), (#""entry": "A.B""#, "declared", false),
            (#""entry": "A.B", "isolation": "process""#, "declared", true),
            (#""entry": "A.B", "isolation": "none""#, "auto", false),
            (#""entry": "A.B""#, "auto", true),
        ])
    func permissions(entry: String, isolation: String, isTaken: Bool) {
        let text = """
            {"slate":1,"app":"a","modules":[{"id":"a.b",\(entry),"main":true,"may":["state"]}],
             "isolation":"\(isolation)"}
            """
        let permissions = try? Self.read(text).modules.first?.permissions
        #expect(permissions == (isTaken ? [.state] : nil))
    }

    @Test("signals replace the defaults one by one")
    func signals() throws {
        let bytes = try Inputs.bytes("slatefiles/complete.json")
        let signals = try Slatefile.read(bytes, path: "", environment: { _ in nil }).signals
        #expect(signals[.terminate] == .event(.terminate, payload: nil))
        #expect(signals[.interrupt] == .event(.terminate, payload: nil))
        #expect(signals[.hangUp] == .reload && signals[.user2] == .event(.foreground, payload: nil))
        #expect(signals[.user1] == .event(.memoryWarning, payload: nil))
        #expect(try signals[SignalName("QUIT")] == .reload)
        guard case .event(.push, let payload?) = try signals[SignalName("RTMIN+1")] else {
            Issue.record("RTMIN+1 is no push")
            return
        }
        #expect(payload["uri"]?.string == "slate://userInfo?style=1")
        let url = "slate://userInfo?style=1&color=green"
        #expect(try signals[SignalName("RTMIN+2")] == .openURL(url))
        let saved = try JSONValue(parsing: "[1]")
        #expect(try signals[SignalName("RTMIN+30")] == .message(topic: "saved", payload: saved))
        #expect(signals.count == 9)
    }

    @Test("fills in every default")
    func defaults() throws {
        let slatefile = try Self.read(
            #"{"slate":1,"app":"a","modules":[{"id":"a.b","entry":"A.B","main":true}]}"#)
        #expect(slatefile.schemes.isEmpty && slatefile.config == nil && slatefile.fallback == nil)
        #expect(slatefile.rewrites.isEmpty && slatefile.isolation == .declared)
        #expect(slatefile.startup == Slatefile.Startup(width: nil, deadline: .seconds(15)))
        #expect(
            slatefile.deadlines
                == Slatefile.Deadlines(
                    event: .seconds(5), call: .seconds(30), launch: .seconds(20),
                    stop: .seconds(10),
                    stopAll: .seconds(30)))
        #expect(slatefile.signals.count == 5 && slatefile.security.tokens == nil)
        let module = try #require(slatefile.modules.first)
        #expect(module.isEnabled && !module.isRequired && module.backlog == 1024)
        #expect(module.deadline == nil && module.killAfter == nil && module.isolation == nil)
        #expect(
            module.environment.isEmpty && module.permissions.isEmpty && module.config == nil
                && module.needs.isEmpty
                && module.source == nil)
    }

    @Test("the environment fills the strings of both kinds of config, and nothing else")
    func environment() throws {
        let slatefile = try Self.read(
            #"""
            {"slate":1,"app":"${X}","config":{"${X}":"a ${X}${Y}\n","list":["$${X} $X ${"],
             "number":1,"modules":2},
             "modules":[{"id":"a.b","entry":"A.B","main":true,"config":{"token":"${X}"}}]}
            """#
            .replacing(#"${"]"#, with: #"$"]"#),
            environment: ["X": "${Y}", "Y": "\"é"])
        let config = try #require(slatefile.config)
        #expect(slatefile.app == "${X}")
        #expect(config["${X}"]?.string == "a ${Y}\"é\n" && config["${X}"]?.isSecret == true)
        let list = try #require(config["list"]?.elements.first { _ in true })
        #expect(list.string == "${X} $X $" && !list.isSecret)
        let token = try #require(slatefile.modules.first?.config)
        #expect(token["token"]?.string == "${Y}" && token["token"]?.text == "\"${X}\"")
        #expect(token.redactedText == #"{"token":"•••"}"# && "\(token)" == token.redactedText)
        #expect(try token.decode([String: String].self) == ["token": "${Y}"])
        #expect(throws: JSONError.self) { try token.decode([String: Int].self) }
    }

    @Test("an error of a setting does not say what came from the environment")
    func secretsStaySecret() throws {
        let slatefile = try Self.read(
            #"{"slate":1,"app":"a","config":{"a":"${X}"},"modules":[{"id":"a.b","entry":"A.B","main":true}]}"#,
            environment: ["X": "hush"])
        for type in [[String: Int].self, [String: Duration].self] as [any Decodable.Type] {
            let error = try #require(throws: JSONError.self) { try slatefile.config?.decode(type) }
            #expect(!error.description.contains("hush"), "\(type)")
        }
    }

    @Test("entries are checked whatever else is wrong")
    func entryCheck() throws {
        struct Settings: Decodable { var uriKey: String }
        var asked: [String] = []
        let text = """
            {"slate": 2, "app": "a", "config": {"x": 1}, "modules": [
              {"id": "a.main", "entry": "Modules.MainModule", "main": true},
              {"id": "a.typo", "entry": "Modules.PushModul"},
              {"id": "a.off", "entry": "Modules.OffModule", "enabled": false},
              {"id": "a.none", "entry": "None"},
              {"id": "a.push", "entry": "Modules.PushModule", "config": {"uriKey": 1, "b": 2}}
            ]}
            """
        let diagnostics = Slatefile.diagnostics(of: text) { use in
            asked.append("\(use.entry) \(use.isMain) \(use.appConfig?.text ?? "-")")
            if use.entry == "Modules.PushModul" {
                return [.entry("no class answers to 'Modules.PushModul'")]
            }
            if use.entry == "None" {
                return [.entry("'None' is not an entry; did you mean 'A.None'?")]
            }
            guard let config = use.config else { return [] }
            do throws(JSONError) {
                _ = try config.decode(Settings.self)
                return []
            } catch {
                return [.config(.placed(error))]
            }
        }
        #expect(
            asked == [
                "Modules.MainModule true {\"x\": 1}", "Modules.PushModul false {\"x\": 1}",
                "None false -", "Modules.PushModule false {\"x\": 1}",
            ])
        #expect(
            diagnostics == [
                "line 1, column 11: this is a slatefile of version 2; this program reads version 1",
                "line 3, column 29: no class answers to 'Modules.PushModul'",
                "line 5, column 29: 'None' is not an entry; did you mean 'A.None'?",
                "line 6, column 72: expected a string, found the number 1",
                "line 6, column 75: unknown key 'b'",
            ])
    }

    @Test("an id is found and refused whatever its case and its escapes")
    func caseOfIDs() throws {
        let text = #"""
            {"slate":1,"app":"a","fallback":"A.B","modules":[
            {"id":"a.\u0062","entry":"A.B","main":true}]}
            """#
        #expect(try Self.read(text).fallback?.text == "a.b")
        let twice = #"""
            {"slate":1,"app":"a","modules":[{"id":"a.\u0062","entry":"A.B","main":true},
            {"id":"A.B","entry":"A.B"}]}
            """#
        #expect(
            Slatefile.diagnostics(of: twice) == [
                "line 2, column 7: module id 'A.B' is already used at line 1, column 39"
            ])
    }
}
