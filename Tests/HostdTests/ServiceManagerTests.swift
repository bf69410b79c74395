import Glibc
import ModuleHost
import TestSupport
import Testing

/// The real host and what it sends to a service manager: each datagram, in order.
@Suite("hostd run: under a service manager", .timeLimit(.minutes(10)))
struct ServiceManagerTests {
    private let folder: TemporaryFolder
    private let manager: NotifyReceiver

    init() throws {
        folder = try TemporaryFolder()
        manager = try NotifyReceiver(at: folder.path("notify"))
    }

    private func start(
        _ slatefile: String = HostdRun.slatefile(), _ arguments: [String] = [],
        watchdog: String? = nil, watchdogProcess: String? = nil, notify address: String? = nil
    ) throws -> HostdRun {
        var environment = ["NOTIFY_SOCKET": address ?? manager.address]
        environment["WATCHDOG_USEC"] = watchdog
        environment["WATCHDOG_PID"] = watchdogProcess
        return try HostdRun(slatefile, in: folder, arguments, environment: environment)
    }

    /// The microseconds of a datagram that says `RELOADING=1`.
    private func instant(of reloading: String) throws -> UInt64 {
        let lines = reloading.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.first == "RELOADING=1")
        #expect(lines.last == "STATUS=reloading the slatefile")
        return try #require(UInt64(lines[1].dropFirst("MONOTONIC_USEC=".count)))
    }

    private let ready = "READY=1\nSTATUS=active: 2 modules"

    private func stopping(_ run: HostdRun) -> String {
        "STOPPING=1\nSTATUS=stopping: signal TERM from pid \(getpid()) (uid \(getuid()))\n"
            + "EXTEND_TIMEOUT_USEC=40000000"
    }

    // MARK: The order of things

    @Test("start, reload, a refused reload, and stop", arguments: ["path", "abstract"])
    func order(kind: String) throws {
        let manager =
            kind == "path" ? manager : try NotifyReceiver(at: "@modulehost-\(folder.path)")
        let run = try start(notify: manager.address)
        #expect(try manager.next() == "STATUS=launching: 2 modules")
        #expect(try manager.next() == ready)
        let before = NotifySocket.monotonicMicroseconds
        run.process.send(SIGHUP)
        let first = try instant(of: manager.next())
        #expect(before <= first && first <= NotifySocket.monotonicMicroseconds)
        #expect(try manager.next().hasPrefix(ready))

        try run.folder.write("{", to: "slatefile.json")
        run.process.send(SIGHUP)
        #expect(try instant(of: manager.next()) >= first)
        // Ready all the same: what ran before runs on.
        let refused = try manager.next()
        #expect(refused.hasPrefix(ready + "; reload refused: slatefile.json:1:2: "), "\(refused)")

        try run.folder.write(HostdRun.slatefile(), to: "slatefile.json")
        run.process.send(SIGHUP)
        _ = try instant(of: manager.next())
        #expect(try manager.next() == ready)
        #expect(try run.terminated().exit == .code(0))
        #expect(manager.all() == [stopping(run), "STATUS=stopped"])
    }

    @Test("the state of the app, and a module that is late, are shown while they last")
    func status() throws {
        let pipe = try FullPipe(folder.path("pipe"))
        let run = try start(
            HostdRun.slatefile(
                journal: #""config": {"file": "\#(folder.path("pipe"))"}"#,
                top: #""deadlines": {"event": "50ms"}"#))
        _ = try run.ready()
        pipe.fill()
        run.process.send(SIGUSR1)
        var said: [String] = []
        while said.last != "STATUS=unhealthy, background: 2 modules; unresponsive: x.journal" {
            said.append(try manager.next())
        }
        pipe.empty()
        while said.last != "STATUS=background: 2 modules" { said.append(try manager.next()) }
        #expect(said.prefix(2) == ["STATUS=launching: 2 modules", ready])
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a host that cannot run says why, and how it ends")
    func failure() throws {
        let outcome = try start("{}").ended()
        #expect(outcome.exit == .code(78))
        #expect(manager.all() == ["STATUS=failed: the slatefile is invalid\nEXIT_STATUS=78"])

        let required = try start(
            HostdRun.slatefile(journal: #""required": true, "config": {"file": "none/journal"}"#)
        ).ended()
        #expect(required.exit == .code(70))
        let said = manager.all()
        #expect(said.first == "STATUS=launching: 2 modules")
        #expect(!said.contains { $0.contains("READY=1") })
        #expect(said.contains { $0.hasPrefix("STOPPING=1\nSTATUS=stopping: required module ") })
        #expect(
            said.last?.hasPrefix("STATUS=failed: required module 'x.journal' failed in launch: ")
                == true)
        #expect(said.last?.hasSuffix("\nEXIT_STATUS=70") == true)
    }

    @Test("a stop that leaves a module behind says which")
    func overdue() throws {
        let pipe = try FullPipe(folder.path("pipe"))
        let run = try start(
            HostdRun.slatefile(
                journal: #""config": {"file": "\#(folder.path("pipe"))"}"#,
                top: #""deadlines": {"stop": "50ms", "stopAll": "500ms"}"#)
        ).ready()
        pipe.fill()
        #expect(try run.terminated().exit == .code(70))
        let said = manager.all()
        #expect(said.contains { $0.hasSuffix("\nEXTEND_TIMEOUT_USEC=10500000") })
        #expect(
            said.last == "STATUS=failed: the stop took longer than deadlines.stopAll; left behind: "
                + "x.journal\nEXIT_STATUS=70")
    }

    @Test("a reload while the app launches does not say that it is ready")
    func reloadWhileLaunching() throws {
        let pipe = try FullPipe(folder.path("pipe"))
        pipe.fill()
        let run = try start(
            HostdRun.slatefile(
                journal: #""config": {"file": "\#(folder.path("pipe"))"}"#,
                top: #""deadlines": {"launch": "1h"}"#))
        #expect(try manager.next() == "STATUS=launching: 2 modules")
        try run.folder.write("{", to: "slatefile.json")
        run.process.send(SIGHUP)
        // Refused at once, while the app launches: one that is taken waits for READY.
        try run.process.waitForLine(containing: "reload refused")
        pipe.empty()
        _ = try run.ready()
        #expect(try run.terminated().exit == .code(0))
        let said = manager.all()
        #expect(said.count { $0.hasPrefix("READY=1") } == 1)
        #expect(!said.contains { $0.hasPrefix("RELOADING=1") })
    }

    // MARK: The watchdog

    @Test("pings come from READY on, as often as asked for, and end with the stop")
    func pings() throws {
        let run = try start(watchdog: "100000")
        var said: [String] = []
        while said.count(where: { $0 == "WATCHDOG=1" }) < 5 { said.append(try manager.next()) }
        #expect(said.prefix(3) == ["STATUS=launching: 2 modules", ready, "WATCHDOG=1"])
        try run.process.waitForLine(
            containing: "the service manager's watchdog is too short: a module may keep the lane "
                + "20s, so that it must wait for at least 40s (WatchdogSec=)")
        run.process.send(SIGTERM)
        said = []
        // Taken as it comes: there is room for a few only.
        while said.last != "STATUS=stopped" { said.append(try manager.next()) }
        #expect(said.drop { $0 == "WATCHDOG=1" } == [stopping(run), "STATUS=stopped"])
        #expect(try run.ended().exit == .code(0))
    }

    @Test("pings are for the process that they are asked of")
    func otherProcess() throws {
        // The shell that becomes the host has its number.
        let own = try HostdRun(
            HostdRun.slatefile(), in: folder,
            environment: ["NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "20000"],
            shell: "export WATCHDOG_PID=$$")
        while try manager.next() != "WATCHDOG=1" {}
        #expect(try own.terminated().exit == .code(0))
        _ = manager.all()
        let other = try start(watchdog: "20000", watchdogProcess: "\(getpid())").ready()
        #expect(try other.terminated().exit == .code(0))
        #expect(!manager.all().contains("WATCHDOG=1"))
    }

    @Test("a lane that does not come round is not answered for, and is when it goes on")
    func hungLane() throws {
        let pipe = try FullPipe(folder.path("pipe"))
        let run = try start(
            HostdRun.slatefile(
                journal: #""config": {"file": "\#(folder.path("pipe"))"}"#,
                top: #""deadlines": {"event": "1h"}"#), watchdog: "2000000"
        ).ready()
        pipe.fill()
        run.process.send(SIGUSR1)
        try run.process.waitForLine(
            containing: "the service manager's watchdog is not answered: the lane was not "
                + "free within 1s, module 'x.journal' is running")
        // Since then nothing but silence; the command takes two more turns.
        _ = manager.all()
        #expect(try run.hostd("modules").exit == .code(75))
        #expect(manager.all() == [])
        pipe.empty()
        #expect(try manager.next() == "WATCHDOG=1")
        try run.process.waitForLine(containing: "the service manager's watchdog is answered again")
        #expect(try run.terminated().exit == .code(0))
    }

    @Test("a host that is unhealthy is not answered for, though its lane comes round")
    func unhealthy() throws {
        let pipe = try FullPipe(folder.path("pipe"))
        let run = try start(
            HostdRun.slatefile(
                journal: #""config": {"file": "\#(folder.path("pipe"))"}"#,
                top: #""deadlines": {"event": "50ms"}"#), watchdog: "2000000"
        ).ready()
        pipe.fill()
        run.process.send(SIGUSR1)
        try run.process.waitForLine(
            containing: "the service manager's watchdog is not answered: the host is unhealthy, "
                + "background: 2 modules; unresponsive: x.journal")
        // While it answers others.
        #expect(try run.hostd("health").exit == .code(70))
        pipe.empty()
        try run.process.waitForLine(containing: "the service manager's watchdog is answered again")
        #expect(try run.terminated().exit == .code(0))
    }

    // MARK: A socket that is none

    @Test(
        "a socket that is missing or wrong does no harm, and is reported once",
        arguments: [
            ("/nonexistent/notify", "No such file or directory"), ("notify", "Invalid argument"),
            ("@", "Invalid argument"),
            ("/\(String(repeating: "x", count: 108))", "Invalid argument"),
            ("/dev/null", "Connection refused"),
        ])
    func broken(address: String, reason: String) throws {
        let run = try start(notify: address).ready()
        run.process.send(SIGHUP)
        try run.process.waitForLine(containing: " configuration-changed  ")
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0))
        let warnings = outcome.error.split(separator: "\n").filter {
            $0.contains("NOTIFY_SOCKET")
        }
        #expect(warnings.count == 1)
        #expect(
            warnings.first?.hasSuffix(
                "cannot notify the service manager: NOTIFY_SOCKET: \(reason)"
            )
                == true)
    }

    @Test("a socket that is full for a while gets everything, in order")
    func full() throws {
        let sender = try NotifySocket(to: manager.address)
        var count = 0
        while (try? sender.send("x")) != nil { count += 1 }
        let run = try start().ready()
        for _ in 0..<count { #expect(try manager.next() == "x") }
        #expect(try manager.next() == "STATUS=launching: 2 modules")
        #expect(try manager.next() == ready)
        let outcome = try run.terminated()
        #expect(outcome.exit == .code(0))
        #expect(!outcome.error.contains("NOTIFY_SOCKET"))
    }
}
