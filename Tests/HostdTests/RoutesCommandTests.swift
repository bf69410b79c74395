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
