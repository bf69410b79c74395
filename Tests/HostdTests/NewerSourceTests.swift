import Glibc
import ModuleHost
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims
import TestSupport
import Testing

@Suite("hostd check: sources that are newer than the binary", .timeLimit(.minutes(10)))
struct NewerSourceTests {
    @Test("a class of a module that lives elsewhere has to be composed")
    func elsewhere() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            { "slate": 1, "app": "demo",
              "modules": [{ "id": "x.main", "entry": "Modules.MainModule", "main": true },
                { "id": "x.git", "entry": "Feed.FeedModule", "git": "https://example.com/feed.git" },
                { "id": "x.path", "entry": "News.NewsModule", "path": "../news" },
                { "id": "x.slip", "entry": "Modules.PushModul", "path": "../push" }] }
            """, to: "slatefile.json")
        let json = try JSONValue(
            parsing: HostProcess.run(["check", "--json"], in: folder.path).output)
        #expect(
            json["errors"]?.elements.compactMap { $0["message"]?.string } == [
                "no class 'Feed.FeedModule' in this binary: 'hostd compose' builds a host with the modules whose "
                    + "source the slatefile names",
                "no class 'News.NewsModule' in this binary: 'hostd compose' builds a host with the modules whose "
                    + "source the slatefile names",
                "no class 'Modules.PushModul' in this binary; did you mean 'Modules.PushModule'?",
            ])
    }

    @Test("a class whose source is newer than the binary has to be built")
    func newer() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            { "slate": 1, "app": "demo",
              "modules": [{ "id": "x.main", "entry": "Modules.MainModule", "main": true },
                { "id": "x.new", "entry": "Modules.PushModuleTwo" },
                { "id": "x.deep", "entry": "Modules.DeepModule" },
                { "id": "x.old", "entry": "Modules.OldModule" },
                { "id": "x.other", "entry": "Other.DeepModule" },
                { "id": "x.slip", "entry": "Modules.PushModul" }] }
            """, to: "slatefile.json")
        for name in ["Sources", "Sources/Modules", "Sources/Modules/Deep", "app"] {
            try #require(mkdir(folder.path(name), 0o700) == 0)
        }
        for name in ["PushModuleTwo", "Deep/DeepModule", "OldModule"] {
            try folder.write("", to: "Sources/Modules/\(name).swift")
        }
        // A binary of this package, and sources that are older and newer than that.
        let program = folder.path("built/hostd")
        try #require(mkdir(folder.path("built"), 0o700) == 0)
        let copied = try HostProcess.run([HostProcess.hostd, program], program: "/bin/cp")
        try #require(copied.exit == .code(0))
        func date(_ path: String, _ second: Int) throws {
            let times = [
                timespec(tv_sec: second, tv_nsec: 0), timespec(tv_sec: second, tv_nsec: 0),
            ]
            try #require(utimensat(AT_FDCWD, path, times, 0) == 0)
        }
        try date(program, 1_000_000)
        try date(folder.path("Sources/Modules/OldModule.swift"), 999_999)

        func messages(_ arguments: String..., by program: String? = program) throws -> [String] {
            let json = try JSONValue(
                parsing: HostProcess.run(
                    arguments + ["--json"], program: program, in: folder.path
                ).output)
            return json["errors"]?.elements.compactMap { $0["message"]?.string } ?? []
        }
        func isOld(_ message: String, _ entry: String) -> Bool {
            message.hasPrefix("no class '\(entry)' in this binary: it is misspelt, or target ")
        }
        let slip =
            "no class 'Modules.PushModul' in this binary; did you mean 'Modules.PushModule'?"
        let without = try messages("check")
        #expect(without.count == 5 && isOld(without[1], "Modules.DeepModule"))

        // From here on the slatefile belongs to a package.
        try folder.write("", to: "Package.swift")
        let within = try messages("check")
        func rebuild(_ name: String) -> String {
            let entry = "Modules.\(name.split(separator: "/").last ?? "")"
            return
                "no class '\(entry)' in this binary: 'Sources/Modules/\(name).swift' is newer than the "
                + "binary; run 'swift build' and restart the host"
        }
        try #require(within.count == 5)
        #expect(within[0] == rebuild("PushModuleTwo"))
        #expect(within[1] == rebuild("Deep/DeepModule"))
        #expect(isOld(within[2], "Modules.OldModule"))
        #expect(isOld(within[3], "Other.DeepModule"))
        #expect(within[4] == slip)

        let run = try HostProcess.run(["run"], program: program, in: folder.path)
        #expect(run.exit == .code(78))
        #expect(run.error.contains(": error: \(rebuild("Deep/DeepModule"))\n"))

        // Below the root of the package; and beside none, run in one.
        try folder.write(folder.text(of: "slatefile.json"), to: "app/app.json")
        #expect(try messages("check", "app/app.json") == within)
        let elsewhere = try TemporaryFolder()
        try elsewhere.write(folder.text(of: "slatefile.json"), to: "app.json")
        #expect(try messages("check", elsewhere.path("app.json")) == within)

        // A binary that was not built there.
        func builtElsewhere(_ name: String) -> String {
            let entry = "Modules.\(name.split(separator: "/").last ?? "")"
            return
                "no class '\(entry)' in this binary: 'Sources/Modules/\(name).swift' is of a package that "
                + "this binary was not built in; 'swift run' in that package runs a host that has it"
        }
        #expect(
            try messages("check", by: nil)
                == ["PushModuleTwo", "Deep/DeepModule", "OldModule"].map(builtElsewhere)
                + without[3...])
    }
}
