import Glibc
import ModuleHost
import TestSupport
import Testing

@Suite("hostd run: errors", .timeLimit(.minutes(10)))
struct RunFailureTests {
    /// Runs a host on a slatefile to its end.
    private func end(
        _ slatefile: String?, _ arguments: [String] = [], in folder: TemporaryFolder? = nil
    ) throws -> HostProcess.Outcome {
        try HostdRun(slatefile, in: folder, arguments).ended()
    }

    private func slatefile(entry: String) -> String {
        """
        {"slate": 1, "app": "test", "modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true},
          {"id": "x.a", "entry": "\(entry)"}]}
        """
    }

    // MARK: The slatefile

    @Test("no slatefile")
    func noSlatefile() throws {
        let outcome = try end(nil)
        #expect(outcome.exit == .code(66))
        #expect(
            outcome.error == """
                hostd run: slatefile.json: no such file
                'hostd new app NAME' creates an app with one
                see 'hostd run --help' for how to name another

                """)
        #expect(outcome.output == "")
    }

    @Test("a folder")
    func directory() throws {
        let outcome = try end(nil, ["--slatefile", "/tmp"])
        #expect(outcome.exit == .code(66))
        #expect(outcome.error == "hostd run: /tmp: is a folder, not a file\n")
    }

    @Test("a named pipe without a writer")
    func pipe() throws {
        let folder = try TemporaryFolder()
        try #require(mkfifo(folder.path("slatefile.json"), 0o600) == 0)
        let outcome = try end(nil, in: folder)
        #expect(outcome.exit == .code(66))
        #expect(outcome.error == "hostd run: slatefile.json: is not a regular file\n")
    }

    @Test("an invalid slatefile: all of its errors, and no state directory")
    func invalid() throws {
        let folder = try TemporaryFolder()
        let outcome = try end(
            #"{"slate": 2, "app": "", "modules": [], "signals": {"KILL": {"event": "push"}}}"#,
            in: folder)
        #expect(outcome.exit == .code(78))
        #expect(outcome.error.contains(" errors in slatefile.json\n"))
        #expect(outcome.error.split(separator: "\n").count { $0.contains(": error: ") } >= 4)
        #expect(folder.names == ["slatefile.json"])
    }

    @Test(
        "entries that lead to no module",
        arguments: [
            (
                "Modules.PushModul",
                "no class 'Modules.PushModul' in this binary; did you mean 'Modules.PushModule'?"
            ),
            (
                "Weather.ForecastModule",
                "no class 'Weather.ForecastModule' in this binary: it is misspelt, or target "
                    + "'Weather' is not linked into it (add it to the dependencies of the executable)"
            ),
            (
                "ModuleHostCore.App",
                "class 'ModuleHostCore.App' is not a module: make it conform to 'Module'"
            ),
            (
                "ModuleHostCore.LifecycleEvent",
                "'ModuleHostCore.LifecycleEvent' is a struct: a module is a class that conforms to "
                    + "'Module'"
            ),
        ])
    func entries(entry: String, message: String) throws {
        let outcome = try end(slatefile(entry: entry))
        #expect(outcome.exit == .code(78))
        #expect(outcome.error.contains("slatefile.json:3:26: error: \(message)\n"))
    }

    // MARK: The state directory

    @Test("a second host on the same state directory is refused; a stale pid file is taken over")
    func busy() throws {
        let first = try HostdRun(HostdRun.slatefile()).ready()
        let second = try end(nil, in: first.folder)
        #expect(second.exit == .code(75))
        #expect(
            second.error.contains(
                "another host (process \(first.process.processID)) runs on the state directory "
                    + "'.hostd'; stop it, or choose another with --state-dir"))
        #expect(try first.folder.text(of: ".hostd/hostd.pid") == "\(first.process.processID)\n")
        // Beside it, on a state directory of its own.
        let other = try HostdRun(nil, in: first.folder, ["--state-dir", "other"]).ready()
        #expect(try other.terminated().exit == .code(0))

        first.process.send(SIGKILL)
        #expect(try first.ended().exit == .signal(SIGKILL))
        #expect(try first.folder.text(of: ".hostd/hostd.pid") == "\(first.process.processID)\n")
        let third = try HostdRun(nil, in: first.folder).ready()
        #expect(try third.folder.text(of: ".hostd/hostd.pid") == "\(third.process.processID)\n")
        #expect(try third.terminated().exit == .code(0))
        #expect(
            try third.journaledEvents() == [
                "launch", "activate", "launch", "activate", "resign-active", "background",
                "terminate",
            ])
    }

    @Test("a state directory that cannot be made")
    func unusable() throws {
        let outcome = try end(HostdRun.slatefile(), ["--state-dir", "slatefile.json/state"])
        #expect(outcome.exit == .code(73))
        #expect(
            outcome.error.contains("the state directory 'slatefile.json/state' cannot be used: "))
        #expect(outcome.error.contains("; choose another with --state-dir"))
    }

    // The leak checker needs descriptors at the end.
    @Test(
        "too few descriptors: another state directory would not help", .enabled(if: !isSanitized),
        arguments: [5, 6, 9, 12, 20, 30])
    func descriptors(limit: Int) throws {
        // Those that this process was given are not to count.
        let inherited = (3...9).map { "exec \($0)>&-; " }.joined()
        let shell = "\(inherited)ulimit -n \(limit)"
        let outcome = try HostdRun(HostdRun.slatefile(), shell: shell).ended()
        #expect(outcome.exit == .code(73))
        let remedy = "let this process have more open files (ulimit -n)\n"
        #expect(outcome.error.hasSuffix(remedy), "\(outcome.error)")
        #expect(outcome.error.contains(": Too many open files"))
        #expect(!outcome.error.contains("--state-dir"))
    }

    @Test("too few descriptors for the processes of its modules", .enabled(if: !isSanitized))
    func descriptorsOfProcesses() throws {
        let inherited = (3...9).map { "exec \($0)>&-; " }.joined()
        let modules = (0..<5).map { #", {"id": "x.m\#($0)", "command": ["false"]}"# }.joined()
        let slatefile = """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true}\(modules)
            ]}
            """
        let outcome = try HostdRun(slatefile, ["--watch"], shell: "\(inherited)ulimit -n 50")
            .ended()
        #expect(outcome.exit == .code(73))
        #expect(
            outcome.error.hasSuffix(
                "no room for the host's own files, 64 at a time: Too many open files: let this "
                    + "process have more open files (ulimit -n)\n"), "\(outcome.error)")
    }

    @Test("a state directory that cannot be written")
    func unwritable() throws {
        // Also root may not write there.
        let outcome = try end(HostdRun.slatefile(), ["--state-dir", "/proc"])
        #expect(outcome.exit == .code(73))
        #expect(outcome.error.contains("the state directory '/proc' cannot be used: "))
    }

    // MARK: Modules that fail

    private static let noFolder = #""config": {"file": "none/journal.ndjson"}"#

    @Test("a module that throws in launch is left out, and the app runs")
    func throwsInLaunch() throws {
        let run = try HostdRun(HostdRun.slatefile(journal: Self.noFolder)).ready()
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0))
        #expect(
            outcome.error.contains(" error    x.journal         launch failed; the app continues "))
        #expect(outcome.output.contains(" modules=1 "))
    }

    @Test("a required module that throws in launch ends the host, with 70")
    func requiredThrowsInLaunch() throws {
        let outcome = try end(
            HostdRun.slatefile(journal: #""required": true, "# + Self.noFolder))
        #expect(outcome.exit == .code(70))
        #expect(outcome.output == "")
        #expect(
            outcome.error.contains("stopped: required module 'x.journal' failed in launch: "))
    }

    @Test("a module that throws in init is left out; a required one ends the host, with 70")
    func throwsInInit() throws {
        func slatefile(_ more: String) -> String {
            """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.child", "command": ["/bin/false"]\(more)}]}
            """
        }
        let run = try HostdRun(slatefile("")).ready()
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0))
        #expect(outcome.error.contains("init failed; the app continues without it: "))

        let required = try end(slatefile(#", "required": true"#))
        #expect(required.exit == .code(70))
        #expect(required.error.contains("stopped: required module 'x.child' failed in init: "))
    }

    @Test("a module that throws in terminate, as on a full disk: the host ends with 0")
    func throwsInTerminate() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        try run.folder.move(".hostd/journal.ndjson", to: ".hostd/old.ndjson")
        try #require(symlink("/dev/full", run.folder.path(".hostd/journal.ndjson")) == 0)
        run.process.send(SIGHUP)
        try run.process.waitForLine {
            $0.contains(" configuration-changed  ") && $0.contains("1 failed")
        }
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0))
        let failures = outcome.error.split(separator: "\n").filter {
            $0.contains(" x.journal ") && $0.contains(" terminate  failed: ")
        }
        #expect(failures.count == 1)
        #expect(failures.first?.contains("make room on that disk") == true)
        #expect(try run.journaledEvents(".hostd/old.ndjson") == ["launch", "activate"])
    }

    @Test(
        "with little address space a host runs, or exits with 70 and names the limit",
        .enabled(if: !isSanitized))
    func addressSpace() throws {
        for megabytes in stride(from: 70, through: 250, by: 12) {
            let run = try HostdRun(
                HostdRun.slatefile(), shell: "ulimit -v \(megabytes << 10)")
            let isReady = (try? run.ready()) != nil
            let outcome = try isReady ? run.terminated() : run.ended()
            #expect(outcome.exit == .code(isReady ? 0 : 70), "\(megabytes) MB: \(outcome.error)")
            if !isReady { #expect(outcome.error.contains("'ulimit -v'"), "\(megabytes) MB") }
        }
    }
}
