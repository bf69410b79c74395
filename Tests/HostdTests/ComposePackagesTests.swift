import TestSupport
import Testing

@testable import ModuleHost

/// The pins of packages that the slatefile does not name, and the resources of a composed program.
@Suite("hostd: compose with other packages and resources", .timeLimit(.minutes(10)))
struct ComposePackagesTests {
    private let fixture: ComposeFixture

    init() throws {
        fixture = try ComposeFixture()
        try fixture.repository("push", targets: ["Push"])
        try fixture.slatefile(ComposeFixture.module("push", #""branch": "main""#))
    }

    private func text(_ name: String) throws -> String { try fixture.folder.text(of: name) }

    // MARK: Versions

    private static let commits = ["a", "b", "c"].map { String(repeating: $0, count: 40) }

    private static func pin(_ name: String, _ version: String, _ commit: Int) -> String {
        """
        {"identity": "\(name)", "kind": "remoteSourceControl", "location": "https://example.com/\(name)",
         "state": {"revision": "\(commits[commit])", "version": "\(version)"}}
        """
    }

    /// Makes these versions the newest.
    private func publish(_ pins: String...) throws {
        try fixture.folder.write(
            #"{"originHash": "1", "pins": [\#(pins.joined(separator: ", "))], "version": 3}"#,
            to: "newest")
    }

    private static func line(_ name: String, _ version: String, _ commit: Int) -> String {
        #"{"name":"\#(name)","kind":"remoteSourceControl","location":"https://example.com/\#(name)","#
            + #""version":"\#(version)","commit":"\#(commits[commit])"}"#
    }

    @Test("the lock has the versions of other packages, and gives them to another machine")
    func pins() throws {
        try publish(Self.pin("logging", "1.0.0", 0), Self.pin("atomics", "2.0.0", 1))
        try fixture.composed()
        let lock = try text("slatefile.lock")
        #expect(
            lock.hasSuffix(
                """
                ["x.push"]}
                  ],
                  "packages": [
                    \(Self.line("atomics", "2.0.0", 1)),
                    \(Self.line("logging", "1.0.0", 0))
                  ]
                }

                """), "\(lock)")
        #expect(try fixture.composed().output.contains("nothing has changed"))
        // Another machine has the lock alone, and meanwhile there are newer versions.
        try publish(Self.pin("logging", "1.1.0", 2), Self.pin("atomics", "2.0.0", 1))
        try fixture.shell("rm -r composed")
        try fixture.composed()
        #expect(try text("slatefile.lock") == lock)
        let chosen = try #require(
            ResolvedPackages(at: fixture.folder.path("composed/Package.resolved")))
        #expect(chosen["logging"]?.version == "1.0.0")
        #expect(chosen["atomics"]?.commit == Self.commits[1])
        // The pin of one module is another matter.
        try fixture.composed("--update", "x.push")
        #expect(try text("slatefile.lock") == lock)
        #expect(
            try fixture.composed("--update").error.contains(
                "logging: the pin moves from 1.0.0, aaaaaaaaaaaa to 1.1.0, cccccccccccc\n"))
        #expect(try text("slatefile.lock").contains(Self.line("logging", "1.1.0", 2)))
        #expect(
            try fixture.composed("--dry-run").output.contains(
                "// logging: https://example.com/logging, 1.1.0, cccccccccccc\n"))
    }

    @Test("the build uses the versions in the lock; without a lock, SwiftPM chooses them")
    func follows() throws {
        try publish(Self.pin("logging", "1.0.0", 0))
        try fixture.composed()
        let lock = try text("slatefile.lock")
        let other = Self.line("logging", "1.1.0", 2)
        try fixture.folder.write(
            lock.replacing(Self.line("logging", "1.0.0", 0), with: other), to: "slatefile.lock")
        // Another lock is something new, though all files are as they were.
        #expect(!(try fixture.composed().output.contains("nothing has changed")))
        #expect(try text("slatefile.lock").contains(other))
        #expect(try text("composed/Package.resolved").contains(Self.commits[2]))
        // No module needs it any more.
        try fixture.shell("rm newest composed/Package.resolved slatefile.lock")
        try fixture.composed()
        #expect(!(try text("slatefile.lock").contains("packages")))
    }

    @Test("a part of the app keeps the pins of the rest")
    func only() throws {
        try fixture.repository("user", targets: ["User"])
        try fixture.slatefile(
            ComposeFixture.module("push", #""branch": "main""#),
            ComposeFixture.module("user", #""branch": "main""#))
        try publish(Self.pin("logging", "1.0.0", 0), Self.pin("atomics", "2.0.0", 1))
        try fixture.composed()
        let lock = try text("slatefile.lock")
        // What SwiftPM leaves of the pins where the part needs one of the packages.
        try publish(Self.pin("logging", "1.0.0", 0))
        try fixture.folder.write(#"cp "$root/newest" "$resolved""#, to: "at-build")
        try fixture.composed("--only", "x.push")
        #expect(try text("slatefile.lock") == lock)
        try fixture.folder.write("1", to: "composed/modules/push/file")
        try fixture.composed()
        #expect(!(try text("slatefile.lock").contains("atomics")))
    }

    @Test("pins that cannot be read are an error")
    func invalid() throws {
        try fixture.folder.write(#"{"version": 9}"#, to: "newest")
        #expect(
            try fixture.failure(.failed).hasSuffix(
                """
                hostd compose: …/composed/Package.resolved is not a file of pins that this version knows, so the \
                lock cannot have them; remove it, and build with Swift 6.3

                """))
        try publish(Self.pin("logging", "1.0.0", 0))
        try fixture.folder.write(
            #"{"lock": 1, "pins": [], "packages": [{"name": "x", "kind": "y", "location": "z", "commit": "-1"}]}"#,
            to: "slatefile.lock")
        #expect(
            try fixture.failure(.noInput).hasPrefix(
                "hostd compose: slatefile.lock:1:38: not a valid pin; "))
    }

    // MARK: Packages that name each other by folders

    /// A folder with a package that names others by folders.
    private func folder(_ name: String, target: String, naming others: [String: String]) throws {
        let list = others.sorted { $0.key < $1.key }.map { identity, place in
            let path = fixture.folder.path(place)
            return #"{"identity": "\#(identity)", "type": "fileSystem", "path": "\#(path)"}"#
        }
        try fixture.shell("mkdir -p \(name)")
        try fixture.folder.write("// \(name)\n", to: "\(name)/Package.swift")
        try fixture.folder.write(
            ComposeFixture.description(of: [target]).replacing(
                #""dependencies": []"#,
                with: #""dependencies": [\#(list.joined(separator: ", "))]"#),
            to: "\(name)/describe.json")
    }

    @Test("a package in place finds the packages of the app beside its link")
    func beside() throws {
        let push = fixture.folder.path("composed/modules/push")
        try folder("libs/user", target: "User", naming: ["modulehost": "libs/ModuleHost"])
        try folder(
            "libs/news", target: "News",
            naming: ["modulehost": "libs/ModuleHost", "push": "libs/push", "user": "libs/user"])
        try folder("libs/chat", target: "Chat", naming: ["common": "libs/common"])
        try fixture.slatefile(
            ComposeFixture.module("push", #""branch": "main""#),
            #"{"id": "x.user", "entry": "User.M", "path": "libs/user"}"#,
            #"{"id": "x.news", "entry": "News.M", "path": "libs/news"}"#,
            #"{"id": "x.chat", "entry": "Chat.M", "path": "libs/chat"}"#)
        try fixture.composed()
        let manifest = try text("composed/Package.swift")
        let modules = fixture.folder.path("composed/modules")
        for place in [push, "\(modules)/user", "\(modules)/news", fixture.folder.path("libs/chat")]
        {
            #expect(manifest.contains(#".package(path: "\#(place)")"#), "\(manifest)")
        }
        #expect(
            try fixture.shell("readlink composed/modules/news") == fixture.folder.path("libs/news"))
    }

    @Test("another folder for a package of the app is an error")
    func conflict() throws {
        try folder("other/user", target: "User", naming: [:])
        try folder("libs/user", target: "User", naming: [:])
        try folder(
            "libs/news", target: "News",
            naming: ["user": "other/user", "modulehost": "host/../host"])
        try fixture.slatefile(
            #"{"id": "x.user", "entry": "User.M", "path": "libs/user"}"#,
            #"{"id": "x.news", "entry": "News.M", "path": "libs/news"}"#)
        #expect(
            try fixture.failure(.invalidSlatefile) == """
                hostd compose: 'x.news': …/libs/news/Package.swift names 'user' by the folder …/other/user, while \
                the app has it in …/libs/user: name it by its URL, or by a folder beside the package, as in path: \
                "../user"

                """)
        // A link of before is replaced by a checkout, and not the other way round.
        try fixture.repository("user", targets: ["User"])
        try fixture.slatefile(ComposeFixture.module("user"))
        try fixture.composed()
        try fixture.slatefile(#"{"id": "x.user", "entry": "User.M", "path": "libs/user"}"#)
        #expect(
            try fixture.failure(.cannotCreate) == """
                hostd compose: …/composed/modules/user is a checkout, while module 'x.user' is in the folder \
                …/libs/user; move the checkout away

                """)
    }

    // MARK: Resources

    @Test("resources are beside the program, and are replaced with it")
    func resources() throws {
        try fixture.shell(
            "mkdir -p resources/push_Push.resources/en; cd resources/push_Push.resources; ln -s /etc/hostname link"
        )
        let place = "resources/push_Push.resources/en/text"
        try fixture.folder.write("one", to: place)
        try fixture.composed()
        let copy = "composed/bin/push_Push.resources"
        #expect(try text("\(copy)/en/text") == "one")
        #expect(try fixture.shell("readlink \(copy)/link") == "/etc/hostname")
        // A program that is not accepted leaves those of the last one.
        try fixture.shell("rm \(place); rm resources/push_Push.resources/link")
        try fixture.folder.write("two", to: "resources/push_Push.resources/new")
        try fixture.folder.write("exit 78\n", to: "program")
        try fixture.shell("rm -r composed/.build")
        try fixture.folder.write("change", to: "composed/modules/push/file")
        _ = try fixture.failure(.invalidSlatefile)
        #expect(try text("\(copy)/en/text") == "one")
        try fixture.folder.write("exit 0\n", to: "program")
        try fixture.composed()
        #expect(
            try fixture.shell("cd composed/bin; find . | sort") == """
                .
                ./app
                ./push_Push.resources
                ./push_Push.resources/en
                ./push_Push.resources/new
                """)
        #expect(try text("\(copy)/new") == "two")
    }
}
