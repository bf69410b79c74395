import Glibc
import ModuleHost
import TestSupport
import Testing

@Suite("hostd run: signals at the start", .timeLimit(.minutes(10)))
struct EarlySignalTests {
    /// A signal, and the line that says that the host has taken it.
    private static let signals: [(signal: Int32, name: String, line: String)] = [
        (SIGTERM, "TERM", "stopping: signal TERM"),
        (SIGHUP, "HUP", " configuration-changed  "),
        (SIGUSR1, "USR1", " background  "),
    ]

    /// Expects that the host has taken a signal that came before it could, and ends as it was asked to.
    private func expectTaken(_ signal: Int32, _ line: String, by run: HostdRun) throws {
        try run.process.waitForLine(containing: line)
        let outcome = try signal == SIGTERM ? run.ended() : run.terminated()
        #expect(outcome.exit == .code(0))
        #expect(outcome.error.hasSuffix(" notice   host              stopped\n"))
    }

    /// Starts a host in a way of `TestHost`.
    private func testHost(
        _ way: String, _ slatefile: String = HostdRun.slatefile()
    ) throws -> HostdRun {
        try HostdRun(slatefile, [way], program: HostProcess.program("TestHost"))
    }

    @Test("a signal that waits before the program is even loaded is taken", arguments: signals)
    func pending(signal: Int32, name: String, line: String) throws {
        // By a process of its own: what the host itself sends may be a backtrace's.
        let run = try HostdRun(
            HostdRun.slatefile(), blocked: SignalSet([signal]), shell: "(kill -\(name) $$)")
        try expectTaken(signal, line, by: run)
    }

    @Test(
        "a signal that comes at the first thing that is done after main's first statement is taken",
        .enabled(if: canTrace), arguments: signals)
    func first(signal: Int32, name: String, line: String) throws {
        // What main does second is to ask which standard descriptors are open.
        let run = try HostdRun(
            HostdRun.slatefile(),
            ["-D", "-qq", "-e", "trace=fcntl", "-e", "inject=fcntl:signal=SIG\(name):when=1"]
                + ["-o", "/dev/null", HostProcess.hostd, "run"],
            program: "/usr/bin/strace")
        try expectTaken(signal, line, by: run)
    }

    /// Whether one program may follow another here.
    private static let canTrace: Bool = {
        guard !isSanitized, fileExists("/usr/bin/strace") else { return false }
        let outcome = try? HostProcess.run(
            ["-qq", "-o", "/dev/null", "/bin/true"], program: "/usr/bin/strace")
        return outcome?.exit == .code(0)
    }()

    @Test("a host that --respawn starts begins with its signals blocked, and its modules with none")
    func respawned() throws {
        let slatefile = """
            {"slate": 1, "app": "test", "modules": [
              {"id": "x.main", "entry": "Modules.MainModule", "main": true},
              {"id": "x.masks", "entry": "TestHost.CrashingModule", "isolation": "process"}
            ]}
            """
        let run = try testHost("respawn", slatefile)
        let parent = try SignalMasks(
            run.process.waitForLine(containing: "SigBlk:", on: .output, count: 1))
        #expect(parent.blocked.isEmpty)
        let host = try SignalMasks(
            run.process.waitForLine(containing: "SigBlk:", on: .output, count: 2))
        #expect(host.blocked.isSuperset(of: [SIGTERM, SIGINT, SIGHUP, SIGUSR1, realTime(1)]))
        #expect(host.blocked.isDisjoint(with: CrashRunTests.signals.filter { $0 != SIGQUIT }))
        _ = try run.ready()
        let posted = try HostProcess.run(["post", "masks"], in: run.folder.path)
        #expect(posted.exit == .code(0))
        let module = try SignalMasks(run.process.waitForLine(containing: "SigBlk:"))
        #expect(module.blocked.isEmpty)
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a module that hostd runs in a process of its own has no signal blocked there")
    func isolated() throws {
        let run = try HostdRun(HostdRun.slatefile(journal: #""isolation": "process""#)).ready()
        let modules = try JSONValue(
            parsing: HostProcess.run(["modules", "--json"], in: run.folder.path).output)
        let process = try #require(Array(modules.elements).last?["process"]?["pid"]?.text)
        let status = try readFile(at: "/proc/\(process)/status", limit: 1 << 16)
        #expect(try SignalMasks(String(decoding: status, as: UTF8.self)).blocked.isEmpty)
        #expect(try run.terminated().exit == .code(0))
    }

    // MARK: Threads

    @Test(
        "a host beside a thread that a signal would end is refused, with the thread and the remedy",
        arguments: [
            (
                "detached",
                "was called on thread [0-9]+ \\('runner'\\), not on the main thread: "
                    + "a signal that reaches the main thread would end the process"
            ),
            (
                "late",
                "was called after thread [0-9]+ \\('wor\\\\u\\{1b\\}ker'\\) was made, which does "
                    + "not block HUP, INT, TERM, USR1, USR2: such a signal would end the process"
            ),
        ])
    func refused(way: String, message: String) throws {
        let run = try testHost(way)
        let outcome = try run.ended()
        #expect(outcome.exit == .code(64))
        #expect(outcome.output == "")
        let pattern = try Regex(
            " error    host              HostDaemon\\.run \(message); call HostDaemon\\.run first thing in "
                + "main, on the main thread, before any thread is made\n$")
        #expect(outcome.error.contains(pattern), "\(outcome.error)")
        #expect(run.folder.names == ["slatefile.json"])
    }

    @Test("a host beside a thread that blocks every signal runs")
    func sheltered() throws {
        let run = try testHost("sheltered").ready()
        run.process.send(SIGUSR1)
        try run.process.waitForLine(containing: " background  ")
        #expect(try run.terminated().exit == .code(0))
    }

    // MARK: Commands

    /// Starts `hostd tail`, and waits until it follows the host.
    private func tail(
        _ host: StandIn, _ start: (String) throws -> HostProcess
    ) throws -> HostProcess {
        let process = try start(host.folder.path)
        // Each look takes as long as a command does.
        while !host.tail.isFollowed { _ = try host.hostd("status") }
        return process
    }

    @Test("Ctrl-C ends a command that waits")
    func interrupted() throws {
        let host = try StandIn(answersSend: false)
        let stop = try HostProcess(["stop"], in: host.folder.path)
        _ = host.stop.wait()
        let send = try HostProcess(
            ["send", "push", "--payload", "{}", "--wait"], in: host.folder.path)
        _ = host.send.wait()
        let tail = try tail(host) { try HostProcess(["tail"], in: $0) }
        for process in [stop, send, tail] {
            process.send(SIGINT)
            #expect(try process.waitForExit().exit == .signal(SIGINT))
        }
        withExtendedLifetime(host) {}
    }

    @Test("a command goes on to ignore what its parent had ignored")
    func ignored() throws {
        let host = try StandIn()
        let tail = try tail(host) {
            try HostProcess(
                ["-c", #"trap '' HUP QUIT; exec "$0" tail"#, HostProcess.hostd],
                program: "/bin/sh", in: $0)
        }
        tail.send(SIGHUP)
        tail.send(SIGQUIT)
        host.end()
        #expect(try tail.waitForExit().exit == .code(0))
    }
}
