import Glibc
import ModuleHost
import TestSupport
import Testing

/// The real host where the system gives it no more.
@Suite("hostd run: limits of the system", .timeLimit(.minutes(10)))
struct LimitTests {
    // MARK: Descriptors

    @Test("no descriptor left: connections wait, it is said once, and then they are served")
    func descriptors() throws {
        let run = try HostdRun(HostdRun.slatefile(), ["--log-level", "debug"]).ready()
        // Once the clients are gone there must be enough for the inbox as well, which wants some then.
        try limit(run, to: 16)
        let directory = StateDirectory(path: run.folder.path(".hostd"))
        var clients = try (0..<40).map { _ in try HostClient(to: directory) }
        let refusal = "control socket: cannot accept a connection; clients wait: "
        // The first is a warning, the next ones say that it tried again, a second later each.
        try run.process.waitForLine(containing: " warning  host              \(refusal)")
        let before = try processorTime(of: run)
        try run.process.waitForLine(containing: " debug    host              \(refusal)", count: 2)
        // Two seconds in which it might have spun.
        #expect(try processorTime(of: run) - before < 0.5)
        // The app goes on.
        run.process.send(SIGUSR1)
        try run.process.waitForLine(containing: " background  1 module")
        #expect(clients.count == 40)
        clients = []
        try run.process.waitForLine(
            containing: "control socket: connections are accepted again")
        #expect(try run.hostd("status").exit == .code(0))
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0))
        let warnings = outcome.error.split(separator: "\n").count {
            $0.contains(" warning ") && $0.contains(refusal)
        }
        #expect(warnings == 1, "\(outcome.error)")
    }

    /// Leaves a host room for so many descriptors more.
    private func limit(_ run: HostdRun, to room: Int) throws {
        let stream = try #require(opendir("/proc/\(run.process.processID)/fd"))
        defer { closedir(stream) }
        var taken: [Int] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            // Far above the others is what the tests know the life of the process by.
            if let number = Int(name), number < 200 { taken.append(number) }
        }
        let free = (0..<200).filter { !taken.contains($0) }
        let outcome = try HostProcess.run(
            ["--pid", "\(run.process.processID)", "--nofile=\(free[room])"],
            program: "/usr/bin/prlimit")
        #expect(outcome.exit == .code(0), "\(outcome.error)")
    }

    /// The seconds that a process has worked.
    private func processorTime(of run: HostdRun) throws -> Double {
        let path = "/proc/\(run.process.processID)/stat"
        let text = String(decoding: try readFile(at: path, limit: 4096), as: UTF8.self)
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        let ticks = try #require(Double(fields[11])) + #require(Double(fields[12]))
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    // MARK: Signals

    @Test("no room for another signal: sigqueue says so, kill does not, and the host goes on")
    func signals() throws {
        let slatefile = HostdRun.slatefile(
            top: #""signals": {"RTMIN+1": {"event": "memory-warning"}}"#)
        let run = try HostdRun(slatefile, shell: "prlimit --pid $$ --sigpending=4").ready()
        run.process.suspend()
        var accepted: Int32 = 0
        while run.process.queue(realTime(1), value: accepted) { accepted += 1 }
        #expect(errno == EAGAIN)
        // Others of this user count too: there may be less room, never more.
        #expect(accepted <= 4)
        for _ in 0..<10 { #expect(kill(run.process.processID, realTime(1)) == 0) }
        run.process.send(SIGCONT)
        // With nothing before it one of those sent by kill stays, though the kernel forgets by whom.
        try run.process.waitForLine(
            containing: " memory-warning  1 module in ", count: max(Int(accepted), 1))
        #expect(try run.terminated().exit == .code(0))
        let events = try run.journal().filter { $0["event"]?.string == "memory-warning" }
        let values = try events.compactMap { try $0["origin"]?["value"]?.decode(Int32.self) }
        #expect(values == Array(0..<accepted))
        #expect(events.count < Int(accepted) + 10)
        for event in events where event["origin"]?["value"] == nil {
            // Process 0 is no sender, and not root.
            #expect(event["origin"]?["pid"]?.int != 0)
        }
    }

    @Test("signals says so")
    func signalTable() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        #expect(
            try run.hostd("signals").output.hasSuffix(
                "Where the queue is full (RLIMIT_SIGPENDING), sigqueue fails with EAGAIN;\n"
                    + "those that kill sends are lost in silence.\n"))
    }

    // MARK: Threads

    // The leak checker needs a thread at the end.
    @Test(
        "no thread left: the host waits for a module that takes too long, and then goes on",
        .enabled(if: CommandTests.canRunAsNobody && getuid() == 0 && !isSanitized))
    func threads() throws {
        let folder = try TemporaryFolder()
        let pipe = try FullPipe(folder.path("pipe"))
        try folder.write(
            HostdRun.slatefile(
                journal: #""config": {"file": "\#(folder.path("pipe"))"}"#,
                top: #""deadlines": {"event": "50ms"}"#), to: "slatefile.json")
        for path in [folder.path, folder.path("pipe")] { try #require(chmod(path, 0o777) == 0) }
        // Not as root, for whom the limit does not count.
        let host = try HostProcess(["run"], in: folder.path, userID: CommandTests.nobody)
        try host.waitForLine(containing: "ready pid=", on: .output)
        let outcome = try HostProcess.run(
            ["--pid", "\(host.processID)", "--nproc=1"], program: "/usr/bin/prlimit",
            userID: CommandTests.nobody)
        #expect(outcome.exit == .code(0), "\(outcome.error)")
        pipe.fill()
        host.send(SIGUSR1)
        let health = try HostProcess.run(["health"], in: folder.path)
        #expect(health.exit == .code(75))
        pipe.empty()
        try host.waitForLine(containing: " background  1 module in ")
        host.send(SIGTERM)
        let end = try host.waitForExit()
        #expect(end.exit == .code(0))
        // Alarms need a thread, too. Where there was one, deadlines were kept watch over.
        if health.error.contains("the host is busy: ") {
            #expect(
                end.error.contains(
                    "x.journal         resign-active  unresponsive, and delivery waits for it: no thread can be "
                        + "started to continue without it: Resource temporarily unavailable"))
        }
    }

    @Test("modules in processes of their own cost one thread together")
    func threadsOfIsolated() throws {
        let main = #"{"id": "x.main", "entry": "Modules.MainModule", "main": true}"#
        func threads(_ isolated: [String]) throws -> [Substring] {
            let modules = isolated.map {
                #", {"id": "\#($0)", "entry": "Modules.JournalModule", "isolation": "process"}"#
            }
            let slatefile =
                #"{"slate": 1, "app": "test", "modules": [\#(main)\#(modules.joined())]}"#
            let run = try HostdRun(slatefile).ready()
            let names = try HostProcess.run(
                ["-c", "cat /proc/\(run.process.processID)/task/*/comm"], program: "/bin/sh")
            #expect(try run.terminated().exit == .code(0))
            // Dispatch's, which come and go, have the name of the process or of its queues; two start after
            // READY, and one may end after it.
            let others = ["hostd", "-qos.overcommit", "signals", "hostd-pressure", "inbox start"]
            return names.output.split(separator: "\n").filter { !others.contains(String($0)) }
                .sorted()
        }
        /// On a busy machine a deadline may begin to pass, and a second thread stands by for the lane.
        func withOneLane(_ names: [Substring]) -> [Substring] {
            names.filter { $0 != "lane" } + ["lane"]
        }
        let without = try withOneLane(threads([]))
        let with = try withOneLane(threads(["x.a", "x.b", "x.c"]))
        #expect(with.sorted() == (without + ["modules"]).sorted())
    }

    // MARK: Time

    @Test("a process that was stopped for longer than a deadline has overrun nothing")
    func stopped() throws {
        let (run, pipe) = try FullPipe.run(#"{"event": "4s"}"#)
        pipe.fill()
        run.process.send(SIGUSR1)
        while try run.hostd("health", "--within", "20ms").exit == .code(0) {}
        run.process.suspend()
        // The one thing that this is about: time goes by.
        _ = try HostProcess.run(["4.5"], program: "/bin/sleep")
        run.process.send(SIGCONT)
        pipe.empty()
        try run.process.waitForLine(containing: " background  1 module in ")
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0), "\(outcome.error)")
        #expect(!outcome.error.contains("unresponsive: delivery continues without it"))
    }

    // MARK: The state directory

    @Test(
        "a state directory that others may write to is used, with a warning",
        arguments: [(mode_t(0o777), true), (0o770, true), (0o1777, true), (0o755, false)])
    func openDirectory(mode: mode_t, isWarned: Bool) throws {
        let folder = try TemporaryFolder()
        try makeFolders(folder.path(".hostd"))
        try #require(chmod(folder.path(".hostd"), mode) == 0)
        let outcome = try HostdRun(HostdRun.slatefile(), in: folder).ready().terminated()
        #expect(outcome.exit == .code(0))
        let warning =
            "the state directory '.hostd' may be changed by other users: other users can send "
            + "events to the host and replace its socket; 'chmod 700 .hostd'"
        #expect(outcome.error.contains(warning) == isWarned)
    }

    @Test("a state directory of another user is used, with a warning", .enabled(if: getuid() == 0))
    func foreignDirectory() throws {
        let folder = try TemporaryFolder()
        try makeFolders(folder.path(".hostd"))
        try #require(chown(folder.path(".hostd"), CommandTests.nobody, gid_t(0)) == 0)
        let outcome = try HostdRun(HostdRun.slatefile(), in: folder).ready().terminated()
        #expect(
            outcome.error.contains(
                "the state directory '.hostd' belongs to user \(CommandTests.nobody): other users "
                    + "can send events to the host and replace its socket; 'chown 0 .hostd'"))
    }

    // MARK: Memory

    @Test("memory pressure is a memory-warning")
    func memory() throws {
        let folder = try TemporaryFolder()
        let pipe = try FullPipe(folder.path("pressure"))
        let run = try HostdRun(
            HostdRun.slatefile(), in: folder, ["--log-level", "debug"],
            environment: ["MEMORY_PRESSURE_WATCH": folder.path("pressure")]
        ).ready()
        try run.process.waitForLine(
            containing: "memory pressure is watched at '\(folder.path("pressure"))'")
        try #require(write(pipe.descriptor, "x", 1) == 1)
        try run.process.waitForLine(containing: " memory-warning  1 module in ")
        #expect(try run.terminated().exit == .code(0))
        let warning = try run.journal().first { $0["event"]?.string == "memory-warning" }
        #expect(warning?["origin"]?["kind"]?.string == "host")
    }

    @Test(
        "where memory pressure cannot be watched, a line for those who look for it says so",
        arguments: [
            ("/dev/null", "MEMORY_PRESSURE_WATCH disables it"),
            ("/nonexistent", "'/nonexistent': No such file or directory"),
        ])
    func noMemory(path: String, reason: String) throws {
        let run = try HostdRun(
            HostdRun.slatefile(), ["--log-level", "debug"],
            environment: ["MEMORY_PRESSURE_WATCH": path]
        ).ready()
        try run.process.waitForLine(
            containing: " debug    host              memory pressure is not watched: \(reason)")
        #expect(try run.terminated().exit == .code(0))
    }
}
