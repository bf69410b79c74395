import TestSupport
import Testing

@testable import ModuleHost

/// `hostd compose` with real repositories: what is fetched, pinned, kept and built.
@Suite("hostd: compose", .timeLimit(.minutes(10)))
struct ComposeTests {
    private let fixture: ComposeFixture

    init() throws {
        fixture = try ComposeFixture()
        try fixture.repository("push", targets: ["Push"])
        try fixture.repository("user", targets: ["User", "UserExtra"])
        try fixture.commit("user", "1", to: "file", tag: "1.0")
        try fixture.slatefile(
            ComposeFixture.module("push", #""branch": "main""#),
            ComposeFixture.module("user", #""tag": "1.0""#))
    }

    private func text(_ name: String) throws -> String { try fixture.folder.text(of: name) }

    @Test("clones, pins, builds, and does nothing where nothing has changed")
    func composes() throws {
        let (push, user) = (try fixture.head("push"), try fixture.head("user"))
        let outcome = try fixture.composed()
        let folder = fixture.folder.path
        #expect(outcome.output == "\(folder)/composed/bin/app\n")
        #expect(
            outcome.error == """
                push: cloning \(folder)/repos/push.git, branch main
                user: cloning \(folder)/repos/user.git, tag 1.0
                building app; the output is in \(folder)/composed/build.log

                """)
        #expect(
            try text("slatefile.lock") == """
                {
                  "lock": 1,
                  "pins": [
                    {"git":"repos/push.git","branch":"main","commit":"\(push)","for":["x.push"]},
                    {"git":"repos/user.git","tag":"1.0","commit":"\(user)","for":["x.user"]}
                  ]
                }

                """)
        let manifest = try text("composed/Package.swift")
        for line in [
            #".package(path: "\#(folder)/composed/modules/ModuleHost")"#,
            #".package(path: "\#(folder)/composed/modules/push")"#,
            #".product(name: "Modules", package: "ModuleHost")"#,
            #".product(name: "User", package: "user")"#,
        ] {
            #expect(manifest.contains(line))
        }
        #expect(!manifest.contains("UserExtra"))
        let main = try text("composed/Sources/ComposedHost/main.swift")
        #expect(
            main.contains(
                #"modules: ["x.push"], targets: ["Push"], source: "\#(folder)/repos/push.git", reference: "branch main", commit: "\#(push)")"#
            ))
        #expect(
            try fixture.shell("git -C composed/modules/push symbolic-ref HEAD") == "refs/heads/main"
        )
        #expect(
            try fixture.shell("git -C composed/modules/push rev-parse --abbrev-ref '@{upstream}'")
                == "origin/main")
        #expect(try fixture.calls().count == 4)

        #expect(
            try fixture.composed().output == "\(folder)/composed/bin/app: nothing has changed\n")
        #expect(try fixture.calls() == [])
        // Unlike a change of a module: but then its manifest is known.
        try fixture.folder.write("2", to: "composed/modules/push/Source.swift")
        #expect(try fixture.composed().error.hasPrefix("push: local changes are used\n"))
        #expect(try fixture.calls() == ["build …/composed"])
        #expect(
            try text("composed/Sources/ComposedHost/main.swift").contains("isModified: true"))
    }

    @Test("moves the pins that it is told to, and no others")
    func updates() throws {
        try fixture.composed()
        let (push, user) = (try fixture.head("push"), try fixture.head("user"))
        try fixture.commit("push", "2", to: "file")
        try fixture.commit("user", "2", to: "file")
        try fixture.slatefile(
            ComposeFixture.module("push", #""branch": "main""#),
            ComposeFixture.module("user", #""branch": "main""#))
        // Another reference is another pin; the one of the tag is not needed any more.
        let moved = try fixture.composed()
        #expect(
            moved.error.contains(
                "user: \(user.prefix(12)) → \(try fixture.head("user").prefix(12))\n"))
        #expect(try text("slatefile.lock").contains(push))
        #expect(!(try text("slatefile.lock").contains("1.0")))
        try fixture.composed("--update", "x.user")
        #expect(try text("slatefile.lock").contains(push))
        #expect(
            try fixture.composed("--update").error.contains(
                "push: the pin moves from \(push.prefix(12)) to \(try fixture.head("push").prefix(12))\n"
            ))
        #expect(!(try text("slatefile.lock").contains(push)))
        #expect(
            try fixture.failure(.usage, "--update", "x.main") == """
                hostd compose: no module 'x.main' of slatefile.json has a repository; modules with a \
                repository: 'x.push' and 'x.user'

                """)
    }

    @Test("fetches nothing that the lock already has, and goes back with the lock")
    func offline() throws {
        try fixture.composed()
        let lock = try text("slatefile.lock")
        let first = try fixture.head("push")
        try fixture.commit("push", "2", to: "file")
        try fixture.composed("--update")
        try fixture.shell("mv repos elsewhere; rm -r composed/bin")
        try fixture.folder.write(lock, to: "slatefile.lock")
        let outcome = try fixture.composed()
        #expect(outcome.error.contains("→ \(first.prefix(12))\n"))
        #expect(try fixture.shell("git -C composed/modules/push rev-parse HEAD") == first)
        // One that is yet to be cloned is needed.
        try fixture.shell("rm -rf composed/modules/push")
        let failure = try fixture.failure(.unavailable)
        #expect(failure.contains("x.push: git cannot clone …/repos/push.git:\n    fatal: "))
        #expect(failure.contains("check the address, the network and your access"))
    }

    @Test("work in a checkout is used or in the way, and never lost")
    func work() throws {
        try fixture.composed()
        let old = try fixture.head("push")
        // Ahead of the pin: joint work on a branch.
        try fixture.shell(
            "cd composed/modules/push; echo 2 >mine; git add .; git commit -q -m mine")
        let mine = try fixture.shell("git -C composed/modules/push rev-parse HEAD")
        #expect(
            try fixture.composed().error.hasPrefix(
                "push: 1 commit ahead of the lock, used as it is\n"))
        #expect(try text("composed/Sources/ComposedHost/main.swift").contains(mine))
        #expect(try text("slatefile.lock").contains(old))
        // Another commit is wanted, which is not below that work.
        try fixture.commit("push", "2", to: "file")
        let new = try fixture.head("push")
        #expect(
            try fixture.failure(.failed, "--update").hasSuffix(
                """
                hostd compose: x.push: …/composed/modules/push has commits that are nowhere else, and is at \
                \(mine.prefix(12)), while the app takes \(new.prefix(12)); nothing was changed there
                push them, or remove them by 'git reset', and compose again

                """))
        try fixture.shell("cd composed/modules/push; git reset -q --hard HEAD~1; echo 3 >file")
        #expect(
            try fixture.failure(.failed, "--update").contains("has local changes, and is at"))
        #expect(try text("composed/modules/push/file") == "3\n")
        #expect(try text("slatefile.lock").contains(old))
        try fixture.shell("git -C composed/modules/push stash -q -u")
        try fixture.composed("--update")
        #expect(try text("composed/modules/push/file") == "2")
    }

    @Test("work on a branch that is not checked out is in the way, and not lost")
    func otherBranch() throws {
        try fixture.composed()
        try fixture.shell(
            """
            cd composed/modules/push; echo 2 >mine; git add .; git commit -q -m mine
            git switch -q --detach HEAD~1
            """)
        let mine = try fixture.shell("git -C composed/modules/push rev-parse main")
        try fixture.commit("push", "2", to: "file")
        let failure = try fixture.failure(.failed, "--update")
        #expect(
            failure.hasSuffix(
                """
                hostd compose: x.push: the branch 'main' in …/composed/modules/push has commits that are nowhere \
                else, while the app takes \(try fixture.head("push").prefix(12)); nothing was changed there
                push them, or check the branch out to compose with it

                """), "\(failure)")
        #expect(!failure.contains("the pin moves"))
        #expect(try fixture.shell("git -C composed/modules/push rev-parse main") == mine)
        try fixture.shell("git -C composed/modules/push push -q origin main:mine")
        try fixture.composed("--update")
        #expect(try text("composed/modules/push/file") == "2")
    }

    @Test("a folder is used in place, with the commit of its repository")
    func folders() throws {
        try fixture.slatefile(
            #"{"id": "x.push", "entry": "Push.M", "path": "work/push"}"#,
            #"{"id": "x.tool", "command": ["true"], "git": "repos/user.git"}"#)
        let outcome = try fixture.composed("--json")
        let report = try JSONValue(parsing: outcome.output)
        let packages = try #require(report["packages"]).elements
        #expect(packages.map { $0["name"]?.string } == ["ModuleHost", "push", "user"])
        #expect(packages.map { $0["commit"]?.string }[1] == (try fixture.head("push")))
        #expect(report["changed"]?.bool == true)
        // A command is cloned, and not built.
        #expect(!(try text("composed/Package.swift").contains("user")))
        #expect(try text("composed/modules/user/file") == "1")
        try fixture.folder.write("x", to: "work/push/more")
        try fixture.composed()
        #expect(try fixture.calls().last == "build …/composed")
    }

    @Test("a host in a repository is pinned like a module")
    func host() throws {
        try fixture.repository("ModuleHost", targets: ["ModuleHost", "Modules"])
        try fixture.shell("cd work/ModuleHost; mkdir -p Sources/ModuleHost")
        try fixture.commit("ModuleHost", "x", to: "Sources/ModuleHost/x", tag: "0.1.0")
        let text = try text("slatefile.json").replacing(
            #"{"path": "host"}"#, with: #"{"git": "repos/ModuleHost.git", "tag": "0.1.0"}"#)
        try fixture.folder.write(text, to: "slatefile.json")
        try fixture.composed()
        #expect(
            try self.text("slatefile.lock").contains(
                #""tag":"0.1.0","commit":"\#(try fixture.head("ModuleHost"))","for":["host"]"#))
        // An option has another one for once, which the folder of the checkout stands in the way of.
        #expect(
            try fixture.failure(.cannotCreate, "--host", "host").contains(
                "composed/modules/ModuleHost is a checkout, while the package ModuleHost is in the folder"
            ))
        try fixture.composed("--host", "host", "-o", "other")
        #expect(try self.text("slatefile.lock").contains(#""for":["host"]"#))
    }

    @Test("a module and what it needs, with the pins of all")
    func only() throws {
        try fixture.repository("news", targets: ["News"])
        try fixture.slatefile(
            ComposeFixture.module("user", #""branch": "main""#),
            ComposeFixture.module("push", #""branch": "main", "needs": ["x.user"]"#),
            ComposeFixture.module("news", #""branch": "main""#))
        try fixture.composed()
        let lock = try text("slatefile.lock")
        try fixture.shell("rm -rf composed")
        let outcome = try fixture.composed("--only", "x.push")
        #expect(outcome.output.hasSuffix("/composed/bin/push\n"))
        #expect(!outcome.error.contains("news"))
        #expect(try text("slatefile.lock") == lock)
        #expect(
            try text("composed/Sources/ComposedHost/main.swift").contains(
                #"], only: ["x.push", "x.user"]))"#))
        #expect(try fixture.composed("--only", "x.push").output.contains("nothing has changed"))
        #expect(
            try fixture.failure(.usage, "--only", "x.psh")
                == "hostd compose: slatefile.json has no enabled module 'x.psh'; did you mean 'x.push'?\n"
        )
    }

    @Test("shows the package, and changes nothing")
    func preview() throws {
        let outcome = try fixture.composed("--dry-run")
        let folder = fixture.folder.path
        #expect(
            outcome.output.hasPrefix(
                """
                // app: \(folder)/composed/bin/app
                // ModuleHost: \(folder)/host, in place
                // push: \(folder)/repos/push.git, branch main, the newest commit: no pin
                // user: \(folder)/repos/user.git, tag 1.0, the newest commit: no pin
                // swift-tools-version: 6.3

                """))
        #expect(outcome.output.contains(#".product(name: "User", package: "user")"#))
        #expect(!fixture.folder.names.contains("composed"))
        #expect(!fixture.folder.names.contains("slatefile.lock"))
        #expect(try fixture.calls() == [])
    }

    @Test("a folder with other files is left alone")
    func foreignFolder() throws {
        try fixture.folder.write("mine", to: "Package.swift")
        #expect(
            try fixture.failure(.cannotCreate, "-o", fixture.folder.path)
                == "hostd compose: … has files that compose did not make; name a new folder by --output\n"
        )
        #expect(try text("Package.swift") == "mine")
        #expect(
            try fixture.failure(.cannotCreate, "-o", "apps/Push")
                == "hostd compose: the folder …/apps/Push has the name of the package 'push', and SwiftPM names packages by their folders; name another one by --output\n"
        )
    }

    @Test("a package around the app is composed once")
    func around() throws {
        try fixture.folder.write("// app", to: "Package.swift")
        try fixture.folder.write(
            ComposeFixture.description(of: ["App"]), to: "describe.json")
        let folder = fixture.folder.path.split(separator: "/").last ?? ""
        try fixture.slatefile(#"{"id": "x.app", "entry": "App.M", "path": "."}"#)
        try fixture.composed()
        #expect(
            try text("composed/Package.swift").contains(
                #"package: "\(folder)")"#.replacing(#"\(folder)"#, with: folder)))
        #expect(try fixture.composed().output.contains("nothing has changed"))
    }
}
