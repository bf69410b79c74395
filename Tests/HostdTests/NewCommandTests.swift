import Glibc
import TestSupport
import Testing

@testable import ModuleHost

/// `hostd new` as a person uses it who has nothing yet, or an app.
@Suite("hostd: new", .timeLimit(.minutes(10)))
struct NewCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func new(_ arguments: String...) throws -> HostProcess.Outcome {
        try HostProcess.run(["new", "module"] + arguments, in: folder.path)
    }

    /// Every file below the folder, and every link, sorted.
    private func files() throws -> [String] {
        let script = #"for f in * */* */*/*; do [ ! -f "$f" ] && [ ! -L "$f" ] || echo "$f"; done"#
        return try shell(script).output.split(separator: "\n").map(String.init).sorted()
    }

    private static let slatefile = """
        {
          "slate": 1, "app": "demo",
          "modules": [
            { "id": "x.main", "entry": "Modules.MainModule", "main": true }
          ]
        }

        """

    // MARK: Python

    static let hasPython =
        (try? HostProcess.run(["python3", "--version"], program: "/usr/bin/env"))?.exit == .code(0)

    @Test("a program that was built in the folder is run there by 'swift run'")
    func builtHere() throws {
        _ = try shell("mkdir -p .build/debug && cp '\(HostProcess.hostd)' .build/debug/hostd")
        let outcome = try HostProcess.run(
            ["new", "module", "com.example.tea", "--language", "python"],
            program: folder.path(".build/debug/hostd"), in: folder.path)
        #expect(outcome.output.contains("\n    swift run hostd run"), "\(outcome.output)")
        #expect(outcome.output.contains("\n    swift run hostd call com.example.tea "))
    }

    @Test("python, from nothing: it says what it made, and what to do with it")
    func python() throws {
        let outcome = try new("com.example.weather-report", "--language", "python")
        #expect(
            outcome.output == """
                created weather-report/weather_report_module.py
                created weather-report/test_weather_report_module.py
                created weather-report/modulehost.py
                created slatefile.json
                created weather-report/.gitignore

                next:
                    python3 -m unittest discover weather-report
                    hostd run
                and then, in a second terminal:
                    hostd send message --payload '{"topic": "weather-report.visited", "payload": \
                {"name": "Mia"}}' --wait
                    hostd call com.example.weather-report greet '{"name": "Mia"}'

                """)
        #expect(outcome.error == "")
        #expect(outcome.exit == .code(0))
        #expect(
            try folder.text(of: "slatefile.json") == """
                {
                  "slate": 1,
                  "app": "weather-report",
                  "schemes": ["weather-report"],
                  "modules": [
                    { "id": "com.example.main", "entry": "Modules.MainModule", "main": true },
                    {
                      "id": "com.example.weather-report",
                      "command": ["python3", "weather-report/weather_report_module.py"],
                      "provides": ["greet/:name"],
                      "topics": ["weather-report.visited"],
                      "config": { "greeting": "Hello" }
                    }
                  ]
                }

                """)
        for file in try files() {
            #expect(!(try folder.text(of: file).contains("__ID__")))
            #expect(!(try folder.text(of: file).contains("__FILE__")))
            #expect(!(try folder.text(of: file).contains("__LABEL__")))
        }
        #expect(
            try folder.text(of: "weather-report/modulehost.py")
                == Repository.text(of: "Examples/modules/modulehost.py"))
    }

    @Test("python: what it says to do works, word for word", .enabled(if: hasPython))
    func pythonRuns() throws {
        let commands = try new("com.example.weather", "--language", "python").output
            .split(separator: "\n").filter { $0.hasPrefix("    ") }.map { String($0.dropFirst(4)) }
        try #require(commands.count == 4)
        let tests = try shell(commands[0])
        #expect(tests.exit == .code(0))
        #expect(tests.error.hasSuffix("\nOK\n"))

        #expect(commands[1] == "hostd run")
        let run = try HostdRun(nil, in: folder).ready()
        #expect(try shell(commands[2]).output == "accepted 1:1: 1 module\n")
        #expect(try shell(commands[2]).output.hasPrefix("accepted 1:"))
        #expect(try shell(commands[3]).output == #"{"text":"Hello, Mia","visits":2}"# + "\n")
        let open = try shell("hostd open 'weather://com.example.weather/greet/Mia?loud=true'")
        #expect(open.output == #"{"text":"HELLO, MIA","visits":2}"# + "\n")
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("python: a second one, by the entry that is printed", .enabled(if: hasPython))
    func pythonEntry() throws {
        try folder.write(Self.slatefile, to: "slatefile.json")
        let outcome = try new("com.example.weather", "--language", "python")
        let start = try #require(outcome.output.firstRange(of: "done:\n    ")).upperBound
        let end = try #require(outcome.output.firstRange(of: "\n\nnext:")).lowerBound
        let entry = String(outcome.output[start..<end])
        #expect(
            entry == """
                {
                      "id": "com.example.weather",
                      "command": ["python3", "weather/weather_module.py"],
                      "provides": ["greet/:name"],
                      "topics": ["weather.visited"],
                      "config": { "greeting": "Hello" }
                    }
                """)
        #expect(try folder.text(of: "slatefile.json") == Self.slatefile)
        #expect(outcome.output.contains("    hostd run  # where it runs already: hostd reload\n"))

        // Into a host that runs.
        let run = try HostdRun(nil, in: folder).ready()
        let text = Self.slatefile.replacing("true }", with: "true },\n\(entry)")
        try folder.write(text, to: "slatefile.json")
        #expect(try shell("hostd reload").output == "applied: added com.example.weather\n")
        let call = try shell(#"hostd call com.example.weather greet '{"name": "Mia"}'"#)
        #expect(call.output == #"{"text":"Hello, Mia","visits":0}"# + "\n")
        #expect(try run.terminated().exit == .code(0))
    }

    /// A command line in the folder, with this build's `hostd`.
    private func shell(_ line: String) throws -> HostProcess.Outcome {
        let script = "PATH=\"${0%/*}:$PATH\"\n" + line
        return try HostProcess.run(
            ["-c", script, HostProcess.hostd], program: "/bin/sh", in: folder.path)
    }

    // MARK: Swift

    @Test("swift, from nothing: a package that is a host")
    func swiftPackage() throws {
        let outcome = try new(
            "com.example.weather", "--language", "swift", "--slatefile", "app/my app.json",
            "--package", Repository.path)
        #expect(
            outcome.output == """
                created app/Package.swift
                created app/Sources/AppHost/main.swift
                created app/Sources/App/WeatherModule.swift
                created app/Tests/AppTests/WeatherModuleTests.swift
                created app/my app.json
                created app/.gitignore
                created app/README.md
                created app/slatefile.schema.json
                created app/ModuleHost

                next in app:
                    swift test
                    swift run AppHost --slatefile 'my app.json'
                and then, in a second terminal in app:
                    .build/debug/AppHost send message --payload '{"topic": "weather.visited", "payload": \
                {"name": "Mia"}}' --wait --slatefile 'my app.json'
                    .build/debug/AppHost call com.example.weather greet '{"name": "Mia"}' --slatefile 'my app.json'

                """)
        #expect(outcome.exit == .code(0))
        #expect(try folder.text(of: "app/my app.json").contains("\"entry\": \"App.WeatherModule\""))
        try expectNoPlaceholder(in: "app")
    }

    /// Expects that files are complete, and that none has a path of this machine.
    private func expectNoPlaceholder(in name: String) throws {
        // A link is not followed.
        let files = try shell("find \(name) -type f").output.split(separator: "\n")
        #expect(files.count > 6)
        for file in files {
            let text = try folder.text(of: String(file)).replacing("__pycache__", with: "")
            for part in ["__", Repository.path, folder.path] {
                #expect(!text.contains(part), "\(file) has \(part)")
            }
        }
        #expect(
            try shell("readlink '\(name)/ModuleHost'").output == "\(Repository.path)\n")
    }

    @Test("an app: a package of its own with a module, which the schema helps to edit")
    func app() throws {
        let outcome = try HostProcess.run(
            [
                "new", "app", "tea-shop", "--route", "count?step:Int", "--package", Repository.path,
            ], in: folder.path)
        #expect(
            outcome.output == """
                created tea-shop/Package.swift
                created tea-shop/Sources/TeaShopHost/main.swift
                created tea-shop/Sources/TeaShop/TeaShopModule.swift
                created tea-shop/Tests/TeaShopTests/TeaShopModuleTests.swift
                created tea-shop/slatefile.json
                created tea-shop/.gitignore
                created tea-shop/README.md
                created tea-shop/slatefile.schema.json
                created tea-shop/ModuleHost

                next in tea-shop:
                    swift test
                    swift run tea-shop
                and then, in a second terminal in tea-shop:
                    .build/debug/tea-shop call com.example.tea-shop count '{"step": 1}'

                """)
        #expect(outcome.exit == .code(0))
        try expectNoPlaceholder(in: "tea-shop")
        #expect(
            try folder.text(of: "tea-shop/slatefile.json") == """
                {
                  "$schema": "./slatefile.schema.json",
                  "slate": 1,
                  "app": "tea-shop",
                  "schemes": ["tea-shop"],
                  "modules": [
                    { "id": "com.example.main", "entry": "Modules.MainModule", "main": true },
                    {
                      "id": "com.example.tea-shop",
                      "entry": "TeaShop.TeaShopModule"
                    }
                  ]
                }

                """)
        #expect(
            try folder.text(of: "tea-shop/slatefile.schema.json")
                == Repository.text(of: "slatefile.schema.json"))
        #expect(
            try folder.text(of: "tea-shop/Sources/TeaShopHost/main.swift")
                .hasSuffix("\nHostCommandLine.run(name: \"tea-shop\", version: \"0.1.0\")\n"))

        // The modules are a library, which a server can import.
        let manifest = try folder.text(of: "tea-shop/Package.swift")
        #expect(manifest.contains(".library(name: \"TeaShop\", targets: [\"TeaShop\"])"))
        #expect(manifest.contains(".executable(name: \"tea-shop\", targets: [\"TeaShopHost\"])"))
        let sources = try namesInFolder(folder.path("tea-shop/Sources/TeaShop"))
        #expect(sources == ["TeaShopModule.swift"])

        // A further module goes to the modules of the only program of the package.
        let module = try HostProcess.run(
            ["new", "module", "com.example.cart", "--language", "swift", "--minimal", "--add"],
            in: folder.path("tea-shop"))
        #expect(
            module.output == """
                created Sources/TeaShop/CartModule.swift
                created Tests/TeaShopTests/CartModuleTests.swift
                added 'com.example.cart' to slatefile.json

                next:
                    swift test
                    swift run
                and then, in a second terminal:
                    hostd modules

                """)
        let again = try HostProcess.run(["new", "app", "tea-shop"], in: folder.path)
        #expect(again.exit == .code(73))
    }

    @Test("swift, in a package: a class and its tests, in a target of that")
    func swiftTarget() throws {
        try folder.write("", to: "Package.swift")
        try makeFolders(folder.path("Sources/News"))
        try folder.write(Self.slatefile, to: "slatefile.json")
        let missing = try new("com.example.weather", "--language", "swift")
        #expect(missing.exit == .code(64))
        #expect(
            missing.error == """
                hostd new: there is a Package.swift, and no Sources/App: say by --target which target of \
                the package gets the module

                """)
        let outcome = try new(
            "com.example.weather", "--language", "swift", "--target", "News", "--add")
        #expect(
            outcome.output.hasPrefix(
                """
                created Sources/News/WeatherModule.swift
                created Tests/NewsTests/WeatherModuleTests.swift
                added 'com.example.weather' to slatefile.json

                to add to the targets of Package.swift:
                    .testTarget(
                        name: "NewsTests",
                        dependencies: [
                            "News", .product(name: "ModuleHostTesting", package: "ModuleHost"),
                        ]),

                next:
                    swift test
                    swift run  # and the name of the host, where the package has several programs

                """))
        #expect(
            try folder.text(of: "Tests/NewsTests/WeatherModuleTests.swift")
                .contains("@testable import News\n"))
        #expect(try folder.text(of: "slatefile.json").contains("\"News.WeatherModule\""))

        try folder.write("", to: "Sources/News/main.swift")
        let second = try new("com.example.sports", "--language", "swift", "--target", "News")
        #expect(second.output.contains("next:\n    swift test\n    swift run\n"))

        let package = try new(
            "com.example.more", "--language", "swift", "--target", "News", "--package", ".")
        #expect(package.exit == .code(64))
        #expect(
            package.error
                == "hostd new: --package is for a new package, and there is a Package.swift\n")
    }

    @Test("swift: where the package ModuleHost is not known")
    func noPackage() throws {
        let wrong = try new("com.example.weather", "--language", "swift", "--package", "there")
        #expect(wrong.exit == .code(66))
        #expect(
            wrong.error == """
                hostd new: the package ModuleHost is not in 'there'; name the package ModuleHost by \
                --package SOURCE, a folder or a URL

                """)
        // An installed hostd is not in the folder in which it was built.
        try writeFile(
            readFile(at: HostProcess.hostd, limit: 1 << 30), to: folder.path("hostd"), mode: 0o700)
        let installed = try HostProcess.run(
            ["new", "module", "com.example.weather", "--language", "swift"],
            program: folder.path("hostd"), in: folder.path)
        #expect(installed.exit == .code(66))
        #expect(
            installed.error == """
                hostd new: this program is not where it was built; name the package ModuleHost by \
                --package SOURCE, a folder or a URL

                """)
        #expect(try files() == ["hostd"])
    }

    @Test("swift: a package that other machines can build names a repository and a version")
    func repository() throws {
        /// Makes an app with a hostd that was built in `host/ModuleHost`, and returns its manifest.
        func app(_ name: String, _ arguments: String...) throws -> String {
            let outcome = try HostProcess.run(
                ["new", "app", name, "--minimal"] + arguments,
                program: folder.path("host/ModuleHost/.build/debug/hostd"), in: folder.path)
            #expect(outcome.exit == .code(0), "\(outcome.error)")
            return try folder.text(of: "\(name)/Package.swift")
        }
        func git(_ line: String) throws -> String {
            let outcome = try shell(
                "git -C host/ModuleHost -c user.name=x -c user.email=x -c tag.gpgSign=false \(line)"
            )
            #expect(outcome.exit == .code(0), "\(outcome.error)")
            return String(outcome.output.prefix { $0 != "\n" })
        }
        let link = #".package(name: "ModuleHost", path: "ModuleHost")"#
        try makeFolders(folder.path("host/ModuleHost/.build/debug"))
        try makeFolders(folder.path("host/ModuleHost/Sources/ModuleHost"))
        try folder.write("", to: "host/ModuleHost/Package.swift")
        try writeFile(
            readFile(at: HostProcess.hostd, limit: 1 << 30),
            to: folder.path("host/ModuleHost/.build/debug/hostd"), mode: 0o700)

        // No repository is known; then one that has not got the commit.
        #expect(try app("a").contains(link))
        #expect(try folder.text(of: "a/README.md").contains("ln -s FOLDER ModuleHost"))
        _ = try git("init -q -b main")
        _ = try git("add Package.swift")
        _ = try git("commit -q -m one")
        _ = try git("remote add origin https://example.com/hosts/Host.git")
        #expect(try app("b").contains(link))

        let commit = try git("rev-parse HEAD")
        _ = try git("update-ref refs/remotes/origin/main HEAD")
        let pinned = try app("c")
        #expect(!pinned.contains(link))
        #expect(
            pinned.contains(
                """
                        .package(
                            url: "https://example.com/hosts/Host.git",
                            revision: "\(commit)")
                """))
        #expect(pinned.contains(#".product(name: "Modules", package: "Host")"#))
        #expect(try shell("[ -L c/ModuleHost ]").exit == .code(1))
        #expect(
            try folder.text(of: "c/README.md").contains(
                "by its repository, `https://example.com/hosts/Host.git`, and its commit"))

        _ = try git("tag v0.3.1")
        #expect(try app("d").contains(#"exact: "0.3.1""#))
        // What a person names comes first.
        #expect(try app("e", "--package", "host/ModuleHost").contains(link))
        let url = "file://\(folder.path("host/ModuleHost"))"
        let named = try app("f", "--package", url)
        #expect(named.contains("url: \"\(url)\"") && named.contains("revision: \"\(commit)\""))
        _ = try git("tag \(HostVersion.current)")
        #expect(try app("g", "--package", url).contains("exact: \"\(HostVersion.current)\""))

        let unknown = try HostProcess.run(
            ["new", "app", "h", "--package", "file:///nowhere.git"], in: folder.path)
        #expect(unknown.exit == .code(69))
        #expect(
            unknown.error.hasPrefix("hostd new: --package: git cannot read file:///nowhere.git:\n"))
        #expect(unknown.error.hasSuffix("\ncheck the address, the network and your access\n"))
    }

    // MARK: Nothing is lost, and nothing half made

    @Test("nothing that is there is written over, and all of it is named")
    func taken() throws {
        try makeFolders(folder.path("weather"))
        try folder.write("mine", to: "weather/modulehost.py")
        try #require(symlink("nowhere", folder.path("weather/weather_module.py")) == 0)
        let outcome = try new("com.example.weather", "--language", "python")
        #expect(outcome.exit == .code(73))
        #expect(outcome.output == "")
        #expect(
            outcome.error == """
                hostd new: nothing was made, for there are already
                  weather/weather_module.py
                  weather/modulehost.py
                give it another name, or move them away

                """)
        #expect(try files() == ["weather/modulehost.py", "weather/weather_module.py"])
        #expect(try folder.text(of: "weather/modulehost.py") == "mine")
    }

    @Test("what was made is removed where the rest cannot be made")
    func undone() throws {
        try folder.write("", to: "Tests")
        let outcome = try new("com.example.weather", "--language", "swift")
        #expect(outcome.exit == .code(73))
        #expect(
            outcome.error
                == "hostd new: cannot create folder 'Tests': Not a directory; nothing was made\n")
        #expect(folder.names == ["Tests"])
    }

    @Test("an app that has the module already, whatever the case of its id")
    func listed() throws {
        try folder.write(Self.slatefile, to: "slatefile.json")
        let outcome = try new("X.Main", "--language", "python", "--add")
        #expect(outcome.exit == .code(73))
        #expect(
            outcome.error
                == "hostd new: slatefile.json has a module 'X.Main' already; nothing was made\n")
        #expect(folder.names == ["slatefile.json"])
    }

    @Test(
        "a slatefile that cannot be read: nothing is made beside it",
        arguments: [
            ("{", "line 1, column 2: the text ends inside the object", 78),
            ("{\"modules\": []}", "it has no list of modules", 78),
            ("[]", "it has no list of modules", 78),
        ])
    func broken(text: String, reason: String, code: Int32) throws {
        try folder.write(text, to: "slatefile.json")
        let outcome = try new("com.example.weather", "--language", "python")
        #expect(outcome.exit == .code(code))
        #expect(outcome.error.hasPrefix("hostd new: slatefile.json: \(reason)"))
        #expect(
            outcome.error.hasSuffix("; nothing was made\nsee 'hostd check slatefile.json'\n"))
        #expect(folder.names == ["slatefile.json"])
    }

    @Test("--add: into the file that links lead to, with its permissions")
    func addThroughLink() throws {
        try writeFile(Self.slatefile.utf8, to: folder.path("real.json"), mode: 0o640)
        try #require(symlink("real.json", folder.path("slatefile.json")) == 0)
        let outcome = try new("com.example.weather", "--language", "python", "--add", "--json")
        #expect(
            outcome.output == """
                {"id":"com.example.weather","made":["weather/weather_module.py",\
                "weather/test_weather_module.py","weather/modulehost.py","weather/.gitignore"],\
                "slatefile":"slatefile.json","entry":{ "id": "com.example.weather", \
                "command": ["python3", "weather/weather_module.py"], \
                "provides": ["greet/:name"], "topics": ["weather.visited"], \
                "config": { "greeting": "Hello" } },"listed":true}

                """)
        #expect(try folder.text(of: "real.json").contains("com.example.weather"))
        #expect(try folder.mode(of: "real.json") == 0o640)
        #expect(
            folder.names == ["real.json", "slatefile.json", "weather"])
        #expect(try HostProcess.run(["check"], in: folder.path).exit == .code(0))
    }
}
