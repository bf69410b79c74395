import ModuleHost
import TestSupport
import Testing

@Suite("hostd routes --offline", .timeLimit(.minutes(10)))
struct RoutesCommandTests {
    @Test("makes the document of the shipped slatefile without a host, the same in each format")
    func shipped() throws {
        let folder = try TemporaryFolder()
        try folder.write(HostdRun.shippedSlatefile(), to: "app.json")
        func document(_ arguments: String...) throws -> String {
            let outcome = try HostProcess.run(
                ["routes", "--offline", "--slatefile", "app.json"] + arguments, in: folder.path)
            #expect(outcome.exit == .code(0))
            #expect(outcome.error == "")
            return outcome.output
        }
        let text = try document("--json")
        let json = try JSONValue(parsing: text)
        #expect(json["app"]?.string == "demo")
        let routes = Array(try #require(json["routes"]).elements)
        #expect(try document("--format", "json") == text)
        let html = try document("--format", "html")
        #expect(html.split(separator: "<tr class=\"route\"").count == routes.count + 1)
        let markdown = try document("--format=markdown")
        #expect(markdown.hasPrefix("# URIs of demo\n\n\(routes.count) route"))
        let table = try document()
        #expect(try table == document("--format", "text"))
        for route in routes {
            let example = try #require(route["example"]?.string)
            #expect(table.contains(example))
        }
        // It makes no state directory.
        #expect(throws: (any Error).self) { try folder.mode(of: ".hostd") }
    }

    @Test("of programs it lists what the slatefile declares, and says that the rest is known later")
    func programs() throws {
        let folder = try TemporaryFolder()
        func document(_ provides: String, _ arguments: String...) throws -> String {
            try folder.write(
                """
                {"slate": 1, "app": "weather", "schemes": ["w"], "modules": [
                  {"id": "x.weather", "command": ["false"], "main": true\(provides)}]}
                """, to: "slatefile.json")
            let outcome = try HostProcess.run(["routes", "--offline"] + arguments, in: folder.path)
            #expect(outcome.exit == .code(0))
            return outcome.output
        }
        let later =
            "x.weather lists its routes when it runs: those that are not declared here are known then\n"
        #expect(try document("") == later)
        let provides = #", "provides": ["forecast/:city"]"#
        let text = try document(provides)
        #expect(text.contains("forecast/:city") && text.hasSuffix("\n" + later))
        #expect(text.contains("Declared in the slatefile; the rest is known when the module runs."))
        let json = try JSONValue(parsing: try document(provides, "--json"))
        #expect(json["incomplete"]?.elements.map(\.string) == ["x.weather"])
        #expect(json["routes"]?.elements.map { $0["pattern"]?.string } == ["forecast/:city"])
        for format in ["markdown", "html"] {
            #expect(
                try document(provides, "--format", format).contains("lists its routes when it runs")
            )
        }
    }

    @Test("a module that another URL stands in for when it has failed is listed with it")
    func instead() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            {"slate": 1, "app": "a", "schemes": ["w"], "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true, "instead": "https://m/*"}]}
            """, to: "slatefile.json")
        let text = try HostProcess.run(["routes", "--offline"], in: folder.path)
        #expect(text.output.contains("x.main, when it has failed: https://m/*\n"))
        let json = try HostProcess.run(["routes", "--offline", "--json"], in: folder.path)
        #expect(json.output.contains(#""instead":[{"module":"x.main","url":"https://m/*"}]"#))
    }

    @Test("--json beside another format is refused")
    func twoFormats() throws {
        let folder = try TemporaryFolder()
        let outcome = try HostProcess.run(
            ["routes", "--json", "--format", "html"], in: folder.path)
        #expect(outcome.exit == .code(64))
        #expect(
            outcome.error.hasPrefix(
                "hostd routes: '--json' and '--format html' exclude each other\n"))
    }

    @Test("a slatefile that is missing or invalid ends as it does with hostd check")
    func diagnostics() throws {
        let folder = try TemporaryFolder()
        let missing = try HostProcess.run(["routes", "--offline"], in: folder.path)
        #expect(missing.exit == .code(66))
        #expect(missing.output == "")
        try folder.write(
            HostdRun.slatefile(top: #""rewrites": [{"from": "a://b", "to": "a://:c"}]"#),
            to: "slatefile.json")
        for command in [["routes", "--offline"], ["check"], ["run"]] {
            let outcome = try HostProcess.run(command, in: folder.path)
            #expect(outcome.exit == .code(78))
            #expect(outcome.output == "")
            #expect(
                outcome.error == """
                    slatefile.json:1:66: error: 'from' does not always bind ':c'
                      1 | {"slate": 1, "app": "test", "rewrites": [{"from": "a://b", "to": "a://:c"}], "modules": [
                        |                                                                  ^
                    1 error in slatefile.json

                    """)
        }
    }
}
