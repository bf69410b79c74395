import Glibc
import ModuleHost
import TestSupport
import Testing

/// `"isolation": "auto"`, with deaths of the real host while a module is at work.
@Suite("hostd run: isolation auto", .timeLimit(.minutes(10)))
struct AutoIsolationTests {
    private let folder: TemporaryFolder
    private let pipe: FullPipe

    init() throws {
        folder = try TemporaryFolder()
        pipe = try FullPipe(folder.path("pipe"))
        try folder.write(slatefile(), to: "slatefile.json")
    }

    private func slatefile(_ more: String = "") -> String {
        HostdRun.slatefile(
            journal: #""config": {"file": "\#(folder.path("pipe"))"}\#(more)"#,
            top:
                #""isolation": "auto", "deadlines": {"event": "1h", "stop": "1h", "stopAll": "1h"}"#
        )
    }

    /// Kills a host while its journal module is busy.
    private func die() throws {
        pipe.empty()
        let run = try HostdRun(nil, in: folder).ready()
        pipe.fill()
        run.process.send(SIGUSR1)
        let directory = StateDirectory(path: folder.path(".hostd"))
        let deadline = ContinuousClock.now + HostProcess.patience
        while BlackBox.Contents(in: directory)?.module == nil {
            try #require(ContinuousClock.now < deadline, "the module was never busy")
            sched_yield()
        }
        run.process.send(SIGKILL)
        #expect(try run.ended().exit == .signal(SIGKILL))
        pipe.empty()
    }

    private func hostd(_ arguments: String...) throws -> HostProcess.Outcome {
        try HostProcess.run(arguments, in: folder.path)
    }

    /// Whether the journal module has a process of its own; that is named after it.
    private func isIsolated() throws -> Bool {
        let modules = try JSONValue(parsing: hostd("modules", "--json").output)
        guard let process = Array(modules.elements).last?["process"]?["pid"] else { return false }
        let name = try readFile(at: "/proc/\(process.text)/comm", limit: 64)
        #expect(name == Array("x.journal\n".utf8))
        return true
    }

    @Test("after two deaths a module is isolated, until it is forgiven")
    func twice() throws {
        try die()
        let second = try HostdRun(nil, in: folder).ready()
        #expect(try !isIsolated())
        #expect(try second.terminated().exit == .code(0))
        try die()
        let third = try HostdRun(nil, in: folder).ready()
        let line = try third.process.waitForLine(containing: "a process of its own")
        #expect(
            line.hasSuffix(
                "x.journal         runs in a process of its own, since 2 hosts died while it was "
                    + "running; to take it back: 'hostd modules --reset-crashes x.journal'"))
        #expect(try isIsolated())
        #expect(try hostd("status").output.contains("\nisolated      x.journal\n"))
        #expect(try hostd("modules").output.contains("isolated: it was running when 2 hosts died"))
        // Nothing is held against it again, and it is counted no more.
        #expect(try third.terminated().exit == .code(0))
        let fourth = try HostdRun(nil, in: folder).ready()
        #expect(try isIsolated())

        let forgiven = try hostd("modules", "--reset-crashes", "x.journal")
        #expect(forgiven.exit == .code(0))
        #expect(
            forgiven.output
                == "crashes reset: it runs in the host from the next start on, or after 'hostd reload'\n"
        )
        #expect(try isIsolated())
        #expect(try hostd("reload").exit == .code(0))
        #expect(try !isIsolated())
        #expect(try !hostd("status").output.contains("isolated"))
        #expect(try fourth.terminated().exit == .code(0))
    }

    @Test("the slatefile has the last word")
    func slatefileDecides() throws {
        try die()
        try die()
        try folder.write(slatefile(#", "isolation": "none""#), to: "slatefile.json")
        let run = try HostdRun(nil, in: folder).ready()
        #expect(try !isIsolated())
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("--reset-crashes for a module that nothing is held against, and a broken count")
    func resetCrashes() throws {
        let unknown = try hostd("modules", "--reset-crashes", "x.none")
        #expect(unknown.exit == .code(69))
        #expect(unknown.error == "hostd modules: no crashes are counted for 'x.none'\n")
        try die()
        // Counted where the next host starts.
        #expect(try HostdRun(nil, in: folder).ready().terminated().exit == .code(0))
        let other = try hostd("modules", "--reset-crashes", "x.none")
        #expect(
            other.error
                == "hostd modules: no crashes are counted for 'x.none'; only for x.journal\n"
        )
        let json = try hostd("modules", "--reset-crashes", "x.journal", "--json")
        #expect(json.output == #"{"reset":"x.journal","deaths":1}"# + "\n")

        try folder.write("{", to: ".hostd/isolated.json")
        let broken = try hostd("modules", "--reset-crashes", "x.journal")
        #expect(broken.exit == .code(74))
        #expect(broken.error.contains("remove it, and the count begins again"))
        let run = try HostdRun(nil, in: folder).ready()
        try run.process.waitForLine(containing: "remove it, and the count begins again")
        #expect(try run.terminated().exit == .code(0))
    }

    @Test(
        "a module that registers an undeclared service stays in the host, however often it crashes")
    func undeclaredService() throws {
        let slatefile = """
            {"slate": 1, "app": "test", "isolation": "auto", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.provider", "entry": "TestHost.CrashingProvider"}
            ]}
            """
        let folder = try TemporaryFolder()
        let program = HostProcess.program("TestHost")
        for _ in 0..<2 {
            let run = try HostdRun(slatefile, in: folder, program: program).ready()
            _ = try run.hostd("post", "crash")
            guard case .signal = try run.ended().exit else {
                Issue.record("the host did not crash")
                return
            }
        }
        let run = try HostdRun(slatefile, in: folder, program: program).ready()
        let line = try run.process.waitForLine(containing: "stays in the host")
        #expect(
            line.hasSuffix(
                "it registers a service that its class does not declare (ServiceProvider)"))
        #expect(try !run.hostd("modules").output.contains("failed"))
        #expect(try run.terminated().exit == .code(0))
    }
}
