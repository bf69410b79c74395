import TestSupport
import Testing

@testable import ModuleHost

/// The command line of an executable that is not `hostd`: `TestHost`.
@Suite("a host of one's own: its command line", .timeLimit(.minutes(10)))
struct OwnHostTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: [String]) throws -> HostProcess.Outcome {
        try HostProcess.run(
            arguments, program: HostProcess.program("TestHost"), in: folder.path)
    }

    @Test("has its own name and version in the version, the help and usage errors")
    func identity() throws {
        #expect(try run(["--version"]).output == "TestHost 1.2.3\n")
        let overview = try run(["--help"]).output
        #expect(overview.hasPrefix("TestHost 1.2.3: runs an app that is made of modules\n"))
        #expect(overview.contains("\nusage: TestHost COMMAND [ARGUMENTS]\n"))
        for command in Command.builtIn {
            let help = try run([command.name, "--help"]).output
            #expect(help.hasPrefix("TestHost \(command.name): \(command.summary)\n"))
            #expect(!help.replacing(".hostd", with: "").contains("hostd"), "\(help)")
        }
        let outcome = try run(["check", "--jsom"])
        #expect(outcome.exit == .code(64))
        #expect(
            outcome.error == """
                TestHost check: unknown option '--jsom'; did you mean '--json'?
                usage: TestHost check [--slatefile FILE] [--state-dir DIR] [--json] [FILE]
                see 'TestHost check --help'

                """)
    }

    @Test("names itself in the messages of its commands")
    func messages() throws {
        #expect(
            try run(["check"]).error == """
                TestHost check: slatefile.json: no such file
                'TestHost new app NAME' creates an app with one
                see 'TestHost check --help' for how to name another

                """)
        #expect(
            try run(["status"]).error == """
                TestHost status: no host runs on the state directory '.hostd'
                start one with 'TestHost run'; one that has another state directory is found by --state-dir or $STATE_DIRECTORY

                """)
        #expect(
            try run(["run"]).error.hasSuffix("see 'TestHost run --help' for how to name another\n"))
    }

    @Test("names itself in the log, and its commands reach it")
    func log() throws {
        let host = try HostdRun(
            HostdRun.slatefile(), program: HostProcess.program("TestHost")
        ).ready()
        try host.process.waitForLine(containing: "TestHost 1.2.3 runs 'test' of ")
        let status = try HostProcess.run(
            ["status"], program: HostProcess.program("TestHost"), in: host.folder.path)
        #expect(status.output.contains("\nstate         active since "))
        #expect(try host.terminated().exit == .code(0))
    }

    @Test("has commands of its own, which the help lists and which take any words")
    func ownCommands() throws {
        #expect(
            try run(["--help"]).output.contains(
                "\n  detached   run the host on another thread\n"))
        let help = """
            TestHost detached: run the host on another thread

            usage: TestHost detached [ARGUMENT …]

            arguments:
              ARGUMENT  passed on to the command

            options:
              -h, --help  show this text

            """
        for words in [["detached", "--help"], ["detached", "-h", "x"], ["help", "detached"]] {
            #expect(try run(words).output == help)
        }
        #expect(try run(["prices"]).output == "all prices\n")
        #expect(try run(["prices", "--tea"]).output == "the price of --tea\n")
        #expect(try run(["detached", "--x", "--", "-h"]).exit == .code(64))
        #expect(
            try run(["detachd"]).error == """
                TestHost: unknown command 'detachd'; did you mean 'detached'?
                usage: TestHost COMMAND [ARGUMENTS]
                see 'TestHost --help'

                """)
    }

    @Test("lists the classes of this program that are modules")
    func available() throws {
        let lines = try run(["modules", "--available"]).output.split(separator: "\n")
        #expect(lines.contains("TestHost.CrashingProvider"))
        #expect(lines.contains { $0.hasPrefix("TestHost.CrashingModule ") })
        #expect(lines.contains { $0.hasPrefix("Modules.PushModule ") })
        let list = try JSONValue(parsing: run(["modules", "--available", "--json"]).output)
        #expect(list.elements.contains { $0["entry"]?.string == "TestHost.CrashingModule" })
        let both = try run(["modules", "--available", "--reset-crashes", "x.y"])
        #expect(both.exit == .code(64))
        #expect(both.error.contains(": '--available' and '--reset-crashes' exclude each other\n"))
    }

    @Test("routes without a host are those of its own classes, isolated ones too")
    func offline() throws {
        try folder.write(
            """
            { "slate": 1, "app": "demo",
              "modules": [{ "id": "x.main", "entry": "Modules.MainModule", "main": true },
                { "id": "x.web", "entry": "Modules.BrowserModule", "isolation": "process" }] }
            """, to: "slatefile.json")
        let routes = try run(["routes", "--offline", "--format", "json"])
        let document = try JSONValue(parsing: routes.output)
        #expect(document["routes"]?.elements.contains { $0["action"]?.string == "history" } == true)
    }

    @Test("a slatefile of another program: its host is named")
    func otherHost() throws {
        try folder.write(
            """
            { "slate": 1, "app": "demo",
              "modules": [{ "id": "x.main", "entry": "Modules.MainModule", "main": true },
                { "id": "x.cart", "entry": "Shop.CartModule" },
                { "id": "x.tea", "entry": "Tea.TeaModule" },
                { "id": "x.pot", "entry": "Tea.PotModule" },
                { "id": "x.cup", "entry": "Cups.CupModule" }] }
            """, to: "slatefile.json")
        try folder.write("", to: "Package.swift")
        for target in ["Shop", "Tea", "Tool"] { try makeFolders(folder.path("Sources/\(target)")) }
        try folder.write("// nothing", to: "Sources/Tool/main.swift")
        try folder.write("", to: "Sources/Tea/TeaModule.swift")
        func messages() throws -> [String] {
            let json = try JSONValue(parsing: run(["check", "--json"]).output)
            return json["errors"]?.elements.compactMap { $0["message"]?.string } ?? []
        }
        func named(_ entry: String, _ source: String, _ host: String) -> String {
            "this binary is not the app's host: run 'swift run \(host) check' in the package of '\(source)' "
                + "(no class '\(entry)' here)"
        }
        // Without a host in the package it is not known.
        let before = try messages()
        #expect(
            before[1].contains("'Sources/Tea/TeaModule.swift' is of a package that this binary was")
        )

        let main =
            "import ModuleHost\nHostCommandLine.run(\n  name: \"tea-shop\", version: \"1\")\n"
        try folder.write(main, to: "Sources/Shop/main.swift")
        let within = try messages()
        // One error for all modules of the app.
        #expect(
            within == [named("Shop.CartModule", "Sources/Shop", "tea-shop"), before[3]])

        // Which of two hosts has the target of a library is not known.
        try folder.write(main, to: "Sources/Tool/main.swift")
        #expect(try messages() == [within[0]] + before[1...])
    }

    @Test("an own command receives the words as they are")
    func words() throws {
        let received = Guarded<[String]>([])
        let own = HostCommand(name: "prices", summary: "print the price list") { words in
            received.withLock { $0 = words }
            return .ignored
        }
        let program = try Program(ProgramIdentity(name: "shop", version: "1"), own: [own])
        #expect(program.commands.map(\.name).suffix(2) == ["prices", "help"])
        let command = try program.command(named: "prices")
        let words = ["--tea", "", "--", "-1"]
        #expect(command.run(try Arguments(words, of: command, in: program)) == .ignored)
        #expect(received.withLock { $0 } == words)
    }

    @Test(
        "a name that cannot be used is refused",
        arguments: [
            (
                ["run"],
                "'run' of this program has the name of another command; give it another name"
            ),
            (
                ["help"],
                "'help' of this program has the name of another command; give it another name"
            ),
            (
                ["a", "a"],
                "'a' of this program has the name of another command; give it another name"
            ),
            (
                [""],
                "'' of this program cannot be typed: a name has lower-case letters, digits and hyphens, and "
                    + "begins with a letter"
            ),
            (
                ["-x"],
                "'-x' of this program cannot be typed: a name has lower-case letters, digits and hyphens, "
                    + "and begins with a letter"
            ),
            (
                ["Tea"],
                "'Tea' of this program cannot be typed: a name has lower-case letters, digits and hyphens, "
                    + "and begins with a letter"
            ),
        ])
    func refused(names: [String], message: String) {
        #expect(throws: HostCommandError.self) {
            do throws(HostCommandError) {
                _ = try Program(
                    .hostd,
                    own: names.map { HostCommand(name: $0, summary: "") { _ in .success } })
            } catch {
                #expect(error.message == "the command \(message)")
                throw error
            }
        }
    }
}
