import ModuleHost
import TestSupport
import Testing

@Suite("hostd graph", .timeLimit(.minutes(10)))
struct GraphCommandTests {
    @Test("shows the shipped slatefile without a host, in each format")
    func shipped() throws {
        let folder = try TemporaryFolder()
        try folder.write(HostdRun.shippedSlatefile(), to: "app.json")
        func graph(_ arguments: String...) throws -> String {
            let outcome = try HostProcess.run(["graph", "app.json"] + arguments, in: folder.path)
            #expect(outcome.exit == .code(0) && outcome.error == "")
            return outcome.output
        }
        let text = try graph()
        #expect(
            text.hasPrefix("demo: 6 modules\n\ncom.mm.main  Modules.MainModule, main, required\n"))
        #expect(
            text.contains(
                "\ncom.mm.community  Modules.CommunityModule\n  provides  UserDirectory\n  topics    user.*\n"
            ))
        #expect(try graph("--format", "text") == text)
        #expect(try graph("--format=dot").hasPrefix("digraph \"demo\" {\n"))
        #expect(try graph("--format=svg").hasPrefix("<svg "))
        let json = try graph("--json")
        #expect(try graph("--format", "json") == json)
        #expect(
            try JSONValue(parsing: json)["modules"]?.elements.reduce(0) { count, _ in count + 1 }
                == 6)
        #expect(throws: (any Error).self) { try folder.mode(of: ".hostd") }
    }

    @Test("a slatefile that is missing or invalid ends as it does with hostd check")
    func diagnostics() throws {
        let folder = try TemporaryFolder()
        #expect(try HostProcess.run(["graph"], in: folder.path).exit == .code(66))
        try folder.write("{}", to: "slatefile.json")
        let outcome = try HostProcess.run(["graph"], in: folder.path)
        #expect(outcome.exit == .code(78) && outcome.output == "")
        #expect(outcome.error == (try HostProcess.run(["check"], in: folder.path).error))
    }

    @Test("the slatefile is an argument or an option, of 'check', too, and not both")
    func slatefile() throws {
        let folder = try TemporaryFolder()
        try folder.write("{}", to: "a.json")
        for command in ["check", "graph"] {
            let named = try HostProcess.run([command, "a.json"], in: folder.path)
            #expect(named.exit == .code(78))
            let other = try HostProcess.run([command, "--slatefile", "a.json"], in: folder.path)
            #expect((other.exit, other.error) == (named.exit, named.error))
            let twice = try HostProcess.run(
                [command, "--slatefile", "a.json", "a.json"], in: folder.path)
            #expect(twice.exit == .code(64))
            #expect(
                twice.error.hasPrefix(
                    "hostd \(command): the slatefile is given twice, as FILE and by '--slatefile'\n"
                ))
        }
    }

    @Test("--json beside another format is refused")
    func twoFormats() throws {
        let outcome = try HostProcess.run(["graph", "--json", "--format", "svg"])
        #expect(outcome.exit == .code(64))
        #expect(
            outcome.error.hasPrefix("hostd graph: '--json' and '--format svg' exclude each other\n")
        )
    }
}
