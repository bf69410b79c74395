import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Loading tokens")
struct TokenLoadingTests {
    private let folder: TemporaryFolder
    private static let sound =
        #"[{"token": "0123456789abcdef", "name": "ci", "scopes": ["slate://*"]}]"#

    init() throws { folder = try TemporaryFolder() }

    private func write(_ text: String = sound, mode: UInt32 = 0o600) throws {
        try writeFile(text.utf8, to: folder.path("tokens.json"), mode: mode)
        try #require(chmod(folder.path("tokens.json"), mode) == 0)
    }

    private func load(_ path: String? = "tokens.json") throws -> TokenStore {
        let security = path.map { #", "security": {"tokens": "\#($0)"}"# } ?? ""
        let slatefile = try SlatefileTests.read(
            """
            {"slate": 1, "app": "a", "schemes": ["slate"]\(security),
             "modules": [{"id": "a.b", "command": ["true"], "main": true}]}
            """)
        return try slatefile.loadTokens(beside: folder.path("slatefile.json"))
    }

    private func failure(_ path: String = "tokens.json") throws -> SlatefileFailure {
        try #require(throws: SlatefileFailure.self) { try load(path) }
    }

    private func said(_ reason: String) -> String {
        """
        hostd check: \(folder.path("tokens.json")): \(reason)
        it is 'security.tokens' of \(folder.path("slatefile.json")):1:71

        """
    }

    @Test("beside the slatefile, by an absolute path, by a link, or none at all")
    func paths() throws {
        try write()
        #expect(try load().names == ["ci"])
        #expect(try load(folder.path("tokens.json")).names == ["ci"])
        try #require(symlink("tokens.json", folder.path("link")) == 0)
        #expect(try load("link").names == ["ci"])
        #expect(try load("./tokens.json").names == ["ci"])
        #expect(try load(nil).names == [])
    }

    @Test("the app's schemes are the slatefile's")
    func schemes() throws {
        try write()
        let token = RouteToken("0123456789abcdef")
        let grant = try load().grant(for: token, now: WallTime(seconds: 0))
        #expect(grant?.scopes.map(\.isOfApp) == [true])
    }

    @Test(
        "refused where its group or others have any permission",
        arguments: [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o644, 0o666] as [UInt32])
    func permissions(mode: UInt32) throws {
        try write(mode: mode)
        let failure = try failure()
        #expect(failure.exitCode == .notPermitted)
        #expect(
            failure.text(for: "hostd check", colored: false).string
                == said("may be used by others than its owner; 'chmod 600' it"))
        try #require(symlink("tokens.json", folder.path("link")) == 0)
        #expect(try self.failure("link").exitCode == .notPermitted)
    }

    @Test("refused where it belongs to another user", .enabled(if: CurrentProcess.userID == 0))
    func owner() throws {
        try write()
        try #require(chown(folder.path("tokens.json"), 4711, 0) == 0)
        let failure = try failure()
        #expect(failure.exitCode == .notPermitted)
        #expect(
            failure.text(for: "hostd check", colored: false).string
                == said("belongs to user 4711, who could change it; 'chown 0' it"))
    }

    @Test("a folder, a pipe without a writer, nothing at all: what the slatefile says is wrong")
    func notRegular() throws {
        #expect(
            try failure().text(for: "hostd check", colored: false).string == said("no such file"))
        #expect(try failure().exitCode == .invalidSlatefile)
        try #require(mkfifo(folder.path("pipe"), 0o600) == 0)
        try #require(mkdir(folder.path("folder"), 0o700) == 0)
        for (name, reason) in [
            ("pipe", FileReadError.Reason.notRegular), ("folder", .isDirectory),
        ] {
            let error = FileReadError(path: folder.path(name), reason: reason)
            #expect(
                try failure(name)
                    == .tokens(error, slatefile: folder.path("slatefile.json") + ":1:71"))
            #expect(try failure(name).exitCode == .invalidSlatefile)
        }
    }

    @Test("more than a mebibyte is not read")
    func tooLarge() throws {
        try write(String(repeating: " ", count: 1 << 20) + "[]")
        #expect(try failure().exitCode == .invalidSlatefile)
        #expect(
            try failure().text(for: "hostd check", colored: false).string
                == said("is larger than 1 MiB"))
    }

    @Test("an invalid file is named by its own path")
    func invalid() throws {
        try write("[5]")
        let failure = try failure()
        #expect(failure.exitCode == .invalidSlatefile)
        #expect(failure.path == folder.path("tokens.json"))
        #expect(
            failure.text(for: "hostd check", colored: false).string == """
                \(folder.path("tokens.json")):1:2: error: expected a token: an object, found a number
                1 error in \(folder.path("tokens.json"))

                """)
    }
}

@Suite("Reading tokens again")
struct TokenReloadTests {
    private let folder: TemporaryFolder
    private let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    private func slatefile(_ security: String, schemes: String = "slate") -> String {
        """
        {"slate": 1, "app": "a", "schemes": ["\(schemes)"], "security": {\(security)},
         "modules": [{"id": "a.b", "command": ["true"], "main": true}]}
        """
    }

    private func tokens(_ name: String) -> String {
        #"[{"token": "0123456789abcdef", "name": "\#(name)", "scopes": ["slate://*"]}]"#
    }

    private func write(_ text: String, to name: String) throws {
        try writeFile(text.utf8, to: folder.path(name), mode: 0o600)
    }

    @Test("new tokens count; invalid ones, and those of an invalid slatefile, leave the old ones")
    func reload() async throws {
        func slatefile(_ security: String) -> String {
            """
            {"slate": 1, "app": "a", "schemes": ["slate"], "security": {\(security)}, "modules": [
             {"id": "a.b", "entry": "ModuleHostTests.CallProbe", "main": true,
              "config": {"probe": "none"}}]}
            """
        }
        try write(slatefile(#""tokens": "one.json""#), to: "slatefile.json")
        try write(tokens("one"), to: "one.json")
        try write(tokens("two"), to: "two.json")
        let path = folder.path("slatefile.json")
        let (ready, ended) = (Promise<Void>(), Promise<Void>())
        let host = AppHost(
            slatefile: try .load(path, environment: [:]), stateDirectory: folder.path,
            log: log.log,
            observer: AppHost.Observer(
                onReady: { _, _, _ in ready.keep(()) }, onEnd: { _ in ended.keep(()) }))
        try host.launch()
        await ready.value
        let reloader = SlatefileReloader(
            host, options: HostDaemonOptions(slatefile: path), log: log.log)
        func names() async -> [String] {
            let report = await withCheckedContinuation { continuation in
                reloader.reload(.asked(.host)) { continuation.resume(returning: $0) }
            }
            let tokens = await withCheckedContinuation { continuation in
                host.onLane { app, _ in continuation.resume(returning: app.calls?.tokens.names) }
            }
            return (tokens ?? []) + ["\(report.exitCode)"]
        }
        #expect(await names() == ["one", "success"])
        #expect(reloader.lastReload?.summary == "security.tokens")
        #expect(await names() == ["one", "success"])
        #expect(reloader.lastReload?.summary == "nothing changed")

        try write(tokens("changed"), to: "one.json")
        #expect(await names() == ["changed", "success"])
        #expect(reloader.lastReload?.summary == "security.tokens")
        try write(slatefile(#""tokens": "two.json""#), to: "slatefile.json")
        #expect(await names() == ["two", "success"])
        try write("[5]", to: "two.json")
        #expect(await names() == ["two", "invalidSlatefile"])
        #expect(
            log.messages.contains {
                $0.hasPrefix("reload refused, the current slatefile stays in effect (host): ")
                    && $0.contains("two.json:1:2: ")
            })
        try write("{", to: "slatefile.json")
        #expect(await names() == ["two", "invalidSlatefile"])
        try write(slatefile(""), to: "slatefile.json")
        #expect(await names() == ["success"])
        host.stop(because: "the test is over")
        await ended.value
    }
}
