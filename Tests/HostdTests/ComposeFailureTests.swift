import Glibc
import TestSupport
import Testing

@testable import ModuleHost

/// Each error of `hostd compose`, provoked with real repositories, and what stays of the app.
@Suite("hostd: compose fails", .timeLimit(.minutes(10)))
struct ComposeFailureTests {
    private let fixture: ComposeFixture

    init() throws {
        fixture = try ComposeFixture()
        try fixture.repository("push", targets: ["Push"])
    }

    private func program() throws -> String { try fixture.folder.text(of: "composed/bin/app") }

    // MARK: Repositories

    @Test("no such branch, tag or repository")
    func references() throws {
        try fixture.slatefile(ComposeFixture.module("push", #""branch": "mian""#))
        #expect(
            try fixture.failure(.unavailable) == """
                hostd compose: x.push: …/repos/push.git has no branch 'mian'; did you mean 'main'?

                """)
        try fixture.slatefile(ComposeFixture.module("push", #""tag": "2.0""#))
        #expect(
            try fixture.failure(.unavailable)
                == "hostd compose: x.push: …/repos/push.git has no tag '2.0'; it has no tags\n")
        try fixture.repository("user", targets: ["User"])
        try fixture.slatefile(
            ComposeFixture.module("push", #""tag": "2.0""#),
            ComposeFixture.module("user", #""branch": "mian""#))
        #expect(
            try fixture.failure(.unavailable) == """
                hostd compose: x.push: …/repos/push.git has no tag '2.0'; it has no tags
                hostd compose: x.user: …/repos/user.git has no branch 'mian'; did you mean 'main'?

                """)
        try fixture.slatefile(ComposeFixture.module("push", #""branch": "HEAD""#))
        #expect(
            try fixture.failure(.invalidSlatefile).contains(
                "'HEAD' stands for the default branch of a repository: leave it out"))
        try fixture.slatefile(ComposeFixture.module("news"))
        let failure = try fixture.failure(.unavailable)
        #expect(failure.hasPrefix("hostd compose: x.news: git cannot read …/repos/news.git:\n    "))
        #expect(failure.contains("does not appear to be a git repository"))
    }

    @Test("a commit of the lock that the repository has no more")
    func lostCommit() throws {
        try fixture.slatefile(ComposeFixture.module("push", #""branch": "main""#))
        let commit = String(repeating: "0123456789", count: 4)
        try fixture.folder.write(
            #"{"lock": 1, "pins": [{"git": "repos/push.git", "branch": "main", "commit": "\#(commit)"}]}"#,
            to: "slatefile.lock")
        #expect(
            try fixture.failure(.unavailable).hasSuffix(
                """
                hostd compose: x.push: …/repos/push.git does not have the commit 012345678901 of the lock: it \
                was removed there, or never pushed
                push it, or move the pin by 'compose --update x.push'

                """))
        for (text, reason) in [
            ("<<<<<<< HEAD", "slatefile.lock is not JSON: line 1, column 1: "),
            (#"{"lock": 2}"#, "slatefile.lock is not a lock of version 1; "),
            (
                #"{"lock": 1, "pins": [{"git": "--upload-pack=x", "commit": "\#(commit)"}]}"#,
                "slatefile.lock:1:22: not a valid pin; "
            ),
        ] {
            try fixture.folder.write(text, to: "slatefile.lock")
            let failure = try fixture.failure(.noInput)
            #expect(failure.hasPrefix("hostd compose: \(reason)"), "\(failure)")
            #expect(failure.contains("restore it from version control, or remove it"))
        }
    }

    @Test("two packages of one name, or two versions of one")
    func identities() throws {
        try fixture.shell("mkdir -p other; cp -r repos/push.git other/Push.git")
        try fixture.slatefile(
            ComposeFixture.module("push", #""branch": "main""#),
            #"{"id": "x.b", "entry": "B.M", "git": "other/Push.git"}"#,
            #"{"id": "x.c", "entry": "Push.N", "git": "repos/push.git", "tag": "1.0"}"#,
            #"{"id": "x.d", "entry": "Push.O", "git": "repos/push.git", "branch": "main"}"#,
            #"{"id": "x.e", "entry": "E.M", "path": "nowhere"}"#)
        #expect(
            try fixture.failure(.invalidSlatefile) == """
                hostd compose: slatefile.json:4:3: module 'x.b' is in …/other/Push.git, and 'x.push' in \
                …/repos/push.git, branch main: SwiftPM calls both packages 'push'; rename one of the \
                repositories or folders
                hostd compose: slatefile.json:5:3: module 'x.c' needs …/repos/push.git, tag 1.0, and 'x.push' \
                needs …/repos/push.git, branch main: an app has one version of a package, so give both the \
                same branch or tag
                hostd compose: slatefile.json:7:3: module 'x.e': there is no folder '…/nowhere'

                """)
    }

    // MARK: Packages

    @Test("no such target or product, or none that can be linked")
    func products() throws {
        try fixture.repository("tool", targets: ["Tool"])
        try fixture.commit(
            "tool", ComposeFixture.description(of: ["Tool"], type: #"{"executable": null}"#),
            to: "describe.json")
        try fixture.slatefile(
            ComposeFixture.module("push", target: "Pusch"),
            ComposeFixture.module("tool"),
            #"{"id": "x.c", "entry": "Push.N", "git": "repos/push.git", "product": "Pushes"}"#,
            #"{"id": "x.d", "entry": "Tool.N", "git": "repos/tool.git", "product": "Tool"}"#)
        let failure = try fixture.failure(.invalidSlatefile)
        for line in [
            """
            slatefile.json:3:3: module 'x.push' (…/composed/modules/push): the package has no target 'Pusch'; \
            did you mean 'Push'?
            """,
            """
            slatefile.json:4:3: module 'x.tool' (…/composed/modules/tool): the target 'Tool' is only in 'Tool', \
            an executable: add '.library(name: "Tool", targets: ["Tool"])' to the products of its Package.swift
            """,
            """
            slatefile.json:5:3: module 'x.c' (…/composed/modules/push): the package has no product 'Pushes'; \
            did you mean 'Push'?
            """,
            """
            slatefile.json:6:3: module 'x.d' (…/composed/modules/tool): the product 'Tool' is an executable: name \
            a '.library' product without a type
            """,
        ] {
            #expect(failure.contains("hostd compose: \(line)\n"), "\(failure)")
        }
    }

    @Test(
        "targets of one name in two packages, a package without a manifest, a manifest that fails")
    func targets() throws {
        // A library that the program is not linked with counts, too, and executables do not.
        try fixture.repository("user", targets: ["User", "Push"])
        for (name, targets) in [("push", ["Push"]), ("user", ["User", "Push"])] {
            let tool =
                #"{"name": "tool", "type": "executable", "product_memberships": ["tool"]}, "#
            let text = ComposeFixture.description(of: targets)
                .replacing(
                    #""products": ["#,
                    with: #""products": [{"name": "tool", "type": {"executable": null}}, "#
                ).replacing(#""targets": [{"name""#, with: #""targets": [\#(tool){"name""#)
            try fixture.commit(name, text, to: "describe.json")
        }
        try fixture.slatefile(ComposeFixture.module("push"), ComposeFixture.module("user"))
        #expect(
            try fixture.failure(.invalidSlatefile).hasSuffix(
                """
                hostd compose: 'x.user' and 'x.push' both have a target 'Push', in …/composed/modules/user and \
                …/composed/modules/push: Swift has one module of a name in a program; rename one of them

                """))
        try fixture.slatefile(ComposeFixture.module("push"))
        try fixture.shell("rm composed/modules/push/Package.swift")
        #expect(
            try fixture.failure(.failed).contains(
                "x.push: …/composed/modules/push has no Package.swift: the class of an 'entry' is in a"
            ))
        try fixture.folder.write("// 2", to: "composed/modules/push/Package.swift")
        try fixture.folder.write("", to: "describe-fails")
        #expect(
            try fixture.failure(.failed).hasSuffix(
                """
                hostd compose: x.push: 'swift package describe' fails in …/composed/modules/push:
                    error: manifest

                """))
    }

    @Test("ModuleHost by a folder of another name would be in the program twice")
    func hostTwice() throws {
        try fixture.shell("cp -r host work/framework")
        let description = ComposeFixture.description(of: ["Push"]).replacing(
            #""dependencies": []"#,
            with:
                #""dependencies": [{"identity": "framework", "path": "\#(fixture.folder.path)/work/framework"}]"#
        )
        try fixture.commit("push", description, to: "describe.json")
        try fixture.slatefile(ComposeFixture.module("push"))
        #expect(
            try fixture.failure(.invalidSlatefile).hasSuffix(
                """
                hostd compose: 'x.push': …/composed/modules/push/Package.swift names ModuleHost by the folder \
                …/work/framework, which SwiftPM calls 'framework': name it by its URL, or by a link or folder \
                with the name ModuleHost, as in path: "../ModuleHost"

                """))
    }

    @Test("git or the compiler is missing")
    func tools() throws {
        try fixture.slatefile(ComposeFixture.module("push"))
        try fixture.shell("mkdir empty onlygit; ln -s ../tools/git onlygit/git")
        #expect(
            try fixture.compose(tools: "empty").error
                == "hostd compose: there is no 'git' in the folders of PATH; install git, such as by 'apt-get install git'\n"
        )
        #expect(
            try fixture.compose(tools: "onlygit").error.hasSuffix(
                "hostd compose: there is no 'swift' in the folders of PATH; install Swift 6.3, by swiftly or from https://www.swift.org/install\n"
            ))
    }

    // MARK: Work in a checkout

    @Test("a file that git ignores is not overwritten")
    func ignored() throws {
        try fixture.commit("push", "secret.txt\n", to: ".gitignore")
        try fixture.slatefile(ComposeFixture.module("push", #""branch": "main""#))
        try fixture.composed()
        let file = "composed/modules/push/secret.txt"
        try fixture.folder.write("mine", to: file)
        try fixture.folder.write("theirs", to: "work/push/secret.txt")
        try fixture.shell(
            "cd work/push; git add -f secret.txt; git commit -q -m x; git push -q origin HEAD")
        let failure = try fixture.failure(.failed, "--update")
        #expect(failure.contains("secret.txt"), "\(failure)")
        #expect(
            failure.hasSuffix(
                "nothing was changed there; move files away that are in the way, and compose again\n"
            ), "\(failure)")
        #expect(try fixture.folder.text(of: file) == "mine")
        try fixture.shell("rm \(file)")
        try fixture.composed("--update")
        #expect(try fixture.folder.text(of: file) == "theirs")
    }

    @Test("a merge that has changed no files yet is kept")
    func unfinished() throws {
        try fixture.slatefile(ComposeFixture.module("push", #""branch": "main""#))
        try fixture.composed()
        try fixture.shell(
            """
            cd composed/modules/push; git checkout -q -b side; git commit -q --allow-empty -m side
            git checkout -q main; git merge -q --no-ff --no-commit side
            """)
        try fixture.commit("push", "new\n", to: "new")
        let failure = try fixture.failure(.failed, "--update")
        #expect(
            failure.contains("x.push: …/composed/modules/push has an unfinished merge, and is at "),
            "\(failure)")
        #expect(
            failure.hasSuffix("finish it, or end it by 'git merge --abort', and compose again\n"))
        try fixture.shell("cd composed/modules/push; git merge --abort")
        try fixture.composed("--update")
    }

    @Test("compiled modules of Python are not local changes")
    func caches() throws {
        try fixture.slatefile(ComposeFixture.module("push", #""branch": "main""#))
        try fixture.composed()
        _ = try fixture.calls()
        try fixture.shell(
            "cd composed/modules/push; mkdir __pycache__; touch __pycache__/a.pyc"
        )
        try fixture.composed()
        #expect(try fixture.calls() == [])
        try fixture.commit("push", "new\n", to: "new")
        try fixture.composed("--update")
        #expect(try fixture.folder.text(of: "composed/modules/push/new") == "new\n")
    }

    // MARK: The build

    @Test(
        "a build that fails shows the lines of the module that is at fault, and leaves the last program"
    )
    func build() throws {
        try fixture.repository("user", targets: ["User"])
        try fixture.slatefile(ComposeFixture.module("push"), ComposeFixture.module("user"))
        try fixture.composed()
        let before = try program()
        let modules = fixture.folder.path("composed/modules")
        let block = """
            \(modules)/push/Sources/Push/M.swift:2:1: error: cannot find '\u{1B}[31mx' in scope
            1 | import ModuleHost
            2 | x
              | `- error: cannot find 'x' in scope
            """
        try fixture.folder.write(
            """
            [3/9] Compiling User M.swift
            warning: 'user': Conflicting identity for modulehost: …
            \(block)
            error: emit-module command failed with exit code 1
            \(block)
            [4/9] Compiling Push M.swift

            """, to: "build-fails")
        try fixture.folder.write("change", to: "composed/modules/push/file")
        let failure = try fixture.failure(.failed)
        #expect(
            failure.hasSuffix(
                """
                hostd compose: module 'x.push' does not compile:
                    …/composed/modules/push/Sources/Push/M.swift:2:1: error: cannot find '\u{FFFD}[31mx' in scope
                    1 | import ModuleHost
                    2 | x
                      | `- error: cannot find 'x' in scope
                the whole output is in …/composed/build.log

                """), "\(failure)")
        #expect(
            try fixture.folder.text(of: "composed/build.log").contains("emit-module command failed")
        )
        #expect(try program() == before)

        let conflict =
            "error: Dependencies could not be resolved because 'push' depends on 'a' 1.0.0 and 'user' on 'a' 2.0.0."
        try fixture.folder.write(
            "Updating\n\(conflict)\nerror: ExitCode(rawValue: 1)\n", to: "build-fails")
        #expect(
            try fixture.failure(.failed).hasSuffix(
                """
                hostd compose: the build fails: swift build ended with code 1
                    \(conflict)
                the whole output is in …/composed/build.log

                """))
        try fixture.shell("rm build-fails")
        try fixture.composed()
    }

    @Test("a program that does not accept the slatefile does not replace the last one")
    func check() throws {
        try fixture.slatefile(ComposeFixture.module("push"))
        try fixture.folder.write("exit 78\n", to: "program")
        #expect(
            try fixture.failure(.invalidSlatefile).hasSuffix(
                "the new program does not accept slatefile.json; …/composed/bin/app was not created\n"
            ))
        try fixture.folder.write("exit 0\n", to: "program")
        try fixture.composed()
        let before = try program()
        try fixture.folder.write(
            "echo \"$2:3:20: error: no class 'Push.M' in this program\" >&2; exit 78\n",
            to: "program")
        try fixture.folder.write("change", to: "composed/modules/push/file")
        #expect(
            try fixture.failure(.invalidSlatefile).hasSuffix(
                """
                hostd compose: the new program does not accept slatefile.json; …/composed/bin/app stays as it was
                    …/slatefile.json:3:20: error: no class 'Push.M' in this program

                """))
        #expect(try program() == before)
    }

    // MARK: Interruptions

    @Test(
        "interrupted, it ends what it has started, and the next one continues",
        arguments: [SIGINT, SIGKILL])
    func interrupted(signal: Int32) throws {
        try fixture.slatefile(ComposeFixture.module("push"))
        try fixture.composed()
        let before = try program()
        try fixture.folder.write("", to: "build-hangs")
        try fixture.folder.write("change", to: "composed/modules/push/file")
        try fixture.shell("mkdir composed/modules/.unfinished-1-news")
        let process = try fixture.start()
        try process.waitForLine(containing: "building app")
        // Its own part is done where the child is waited for.
        let deadline = ContinuousClock.now + HostProcess.patience
        while !fileExists(fixture.folder.path("hangs")) {
            try #require(ContinuousClock.now < deadline)
            sched_yield()
        }
        let second = try fixture.failure(.busy)
        #expect(second.hasPrefix("hostd compose: another compose works in …/composed; "))
        process.send(signal)
        let outcome = try process.waitForExit()
        #expect(outcome.exit == .signal(signal))
        if signal == SIGINT {
            #expect(
                outcome.error.hasSuffix(
                    "hostd compose: interrupted; the last program stays as it was, and the next compose continues\n"
                ))
            #expect(fixture.folder.names.contains("cancelled"))
        }
        #expect(try program() == before)
        try fixture.shell("rm build-hangs")
        try fixture.composed()
        #expect(fixture.folder.names.contains("slatefile.lock"))
        #expect(try fixture.shell("ls -A composed/modules") == "ModuleHost\npush")
    }

    // MARK: Hostile repositories and folders

    @Test("what a repository says is escaped, and no link leads out of the folder")
    func hostile() throws {
        try fixture.commit(
            "push",
            ComposeFixture.description(of: [#"A\u001b[31m"#]), to: "describe.json")
        try fixture.slatefile(ComposeFixture.module("push"))
        let failure = try fixture.failure(.invalidSlatefile)
        #expect(
            failure.hasSuffix("the package has no target 'Push'; it has 'A\u{FFFD}[31m'\n"),
            "\(failure)")
        try fixture.shell("rm -r composed/bin; mkdir elsewhere; ln -s ../elsewhere composed/bin")
        #expect(
            try fixture.failure(.cannotCreate)
                == "hostd compose: cannot write to '…/composed/bin': it is a symbolic link, which is not followed here\n"
        )
        try fixture.shell(
            "rm composed/bin; rm -rf composed/modules/push; mkdir composed/modules/push")
        #expect(
            try fixture.failure(.cannotCreate)
                == "hostd compose: x.push: …/composed/modules/push is not a checkout that compose made; move it away\n"
        )
    }

    @Test("hooks of a repository and submodules are left alone")
    func hooks() throws {
        try fixture.slatefile(ComposeFixture.module("push", #""branch": "main""#))
        try fixture.composed()
        try fixture.shell(
            """
            printf '#!/bin/sh\\n: >%s/hooked\\n' "$PWD" >composed/modules/push/.git/hooks-x
            mkdir -p composed/modules/push/.git/hooks
            mv composed/modules/push/.git/hooks-x composed/modules/push/.git/hooks/post-checkout
            chmod +x composed/modules/push/.git/hooks/post-checkout
            cd work/push; git -c protocol.file.allow=always submodule --quiet add ../../repos/push.git sub
            git commit -q -m sub; git push -q origin HEAD
            """)
        try fixture.composed("--update")
        #expect(!fileExists(fixture.folder.path("hooked")))
        #expect(try fixture.shell("ls -A composed/modules/push/sub") == "")
    }
}
