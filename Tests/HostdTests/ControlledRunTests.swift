import Glibc
import ModuleHost
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims
import TestSupport
import Testing

extension HostdRun {
    /// Runs a command of `hostd` in the folder of this host.
    func hostd(_ arguments: String..., userID: UInt32? = nil) throws -> HostProcess.Outcome {
        try HostProcess.run(arguments, in: folder.path, userID: userID)
    }

    /// Starts `hostd tail` and waits until it receives everything; the host logs debug lines.
    func tail(_ arguments: String...) throws -> HostProcess {
        let tail = try HostProcess(["tail"] + arguments, in: folder.path)
        try process.waitForLine(containing: "control socket: process \(tail.processID) follows")
        return tail
    }

    fileprivate var controlSocket: String { folder.path(".hostd/control.sock") }
}

@Suite("hostd run: its control socket", .timeLimit(.minutes(10)))
struct ControlledRunTests {
    private static let hour = #"{"event": "1h", "launch": "1h", "stop": "1h", "stopAll": "1h"}"#

    private func busy(_ command: String) -> String {
        "hostd \(command): the host is busy: module 'x.journal' is running, and the request was "
            + "not reached within 2s; try again\n"
    }

    // MARK: status and modules

    private func withoutTimes(_ text: String) -> String {
        text.replacing(/\d{4}-\d\d-\d\dT[\d:.]+Z/, with: "…")
    }

    @Test("status and modules of a host that runs")
    func status() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        let text = try run.hostd("status")
        #expect(text.exit == .code(0))
        #expect(text.error == "")
        let process = run.process.processID
        #expect(
            withoutTimes(text.output).hasPrefix(
                "app           test\nstate         active since …\nprocess       \(process)\n"))
        #expect(
            text.output.contains(
                "\nmodules       2 running, 0 failed\nevents        launch 1, activate 1\n"))

        let json = try JSONValue(parsing: run.hostd("status", "--json").output)
        #expect(json["pid"]?.int == Int(process))
        #expect(json["state"]?.string == "active")
        // From wherever it is asked.
        #expect(json["slatefile"]?.string == run.folder.path("slatefile.json"))
        #expect(json["stateDirectory"]?.string == run.folder.path(".hostd"))

        #expect(
            try run.hostd("modules").output.replacing(#/  \d+s +/#, with: "  …  ") == """
                module     state    for  entry
                x.main     running  …  Modules.MainModule     main
                x.journal  running  …  Modules.JournalModule

                """)
        var status = stat()
        #expect(stat(run.controlSocket, &status) == 0)
        #expect(status.st_mode == S_IFSOCK | 0o600)
        #expect(try run.terminated().exit == .code(0))
        #expect(stat(run.controlSocket, &status) == -1)
    }

    @Test("a module that failed is shown with its reason")
    func failedModule() throws {
        let run = try HostdRun(
            HostdRun.slatefile(journal: #""config": {"file": "none/journal.ndjson"}"#)
        ).ready()
        #expect(
            try run.hostd("modules").output.contains(
                #/\nx\.journal  failed +\d+s +Modules\.JournalModule\n    launch: cannot open /#))
        #expect(try run.hostd("status").output.contains("\nmodules       1 running, 1 failed\n"))
    }

    @Test("two hosts, each asked by its state directory")
    func twoHosts() throws {
        let first = try HostdRun(HostdRun.slatefile()).ready()
        let second = try HostdRun(nil, in: first.folder, ["--state-dir", "other"]).ready()
        for (arguments, run) in [([], first), (["--state-dir", "other"], second)] {
            let outcome = try HostProcess.run(
                ["status", "--json"] + arguments, in: first.folder.path)
            #expect(
                try JSONValue(parsing: outcome.output)["pid"]?.int == Int(run.process.processID))
        }
        #expect(try first.hostd("stop", "--state-dir", "other").exit == .code(0))
        #expect(try second.ended().exit == .code(0))
        #expect(try first.hostd("status").exit == .code(0))
        #expect(try first.hostd("status", "--state-dir", "other").exit == .code(69))
    }

    @Test("the socket of a host that was killed: 69; the next host replaces it")
    func staleSocket() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        run.process.send(SIGKILL)
        #expect(try run.ended().exit == .signal(SIGKILL))
        var status = stat()
        #expect(stat(run.controlSocket, &status) == 0)
        let refused = try run.hostd("status")
        #expect(refused.exit == .code(69))
        #expect(
            refused.error == """
                hostd status: no host runs on the state directory '.hostd'
                start one with 'hostd run'; one that has another state directory is found by --state-dir or $STATE_DIRECTORY

                """)
        let next = try HostdRun(nil, in: run.folder).ready()
        #expect(try next.hostd("status").exit == .code(0))
    }

    @Test("a host that cannot have its socket ends with 73")
    func noSocket() throws {
        let folder = try TemporaryFolder()
        try makeFolders(folder.path(".hostd/control.sock/x"))
        let outcome = try HostdRun(HostdRun.slatefile(), in: folder).ended()
        #expect(outcome.exit == .code(73))
        #expect(
            outcome.error.hasSuffix(
                "no control socket: cannot listen at '.hostd/control.sock': Is a directory\n"))
    }

    @Test(
        "another user may not reach it", .enabled(if: CommandTests.canRunAsNobody && getuid() == 0))
    func otherUser() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        try #require(chmod(run.folder.path, 0o755) == 0)
        let text = """
            hostd status: the host on the state directory '.hostd' is another user's; only that user \
            and root may control it

            """
        let closed = try run.hostd("status", userID: CommandTests.nobody)
        #expect(closed.exit == .code(77))
        #expect(closed.error == text)
        // Nor where the socket was opened to all: then the host refuses the connection.
        try #require(chmod(run.folder.path(".hostd"), 0o755) == 0)
        try #require(chmod(run.controlSocket, 0o666) == 0)
        let open = try run.hostd("status", userID: CommandTests.nobody)
        #expect(open.exit == .code(77))
        #expect(
            open.error == "hostd status: not permitted: only the host's own user and root may "
                + "control it\n")
        try run.process.waitForLine(
            containing: "refused: user \(CommandTests.nobody) may not control this host")
    }

    // MARK: stop

    @Test("stop waits for the end of the process and returns the outcome")
    func stop() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        let outcome = try run.hostd("stop")
        #expect(outcome.exit == .code(0))
        #expect(outcome.output == "stopped\n")
        // No other process holds the state directory by then.
        #expect(PidFile.holder(of: StateDirectory(path: run.folder.path(".hostd"))) == .nobody)
        let ended = try run.ended()
        #expect(ended.exit == .code(0))
        #expect(ended.error.contains("stopping: control from pid "))
        #expect(
            try run.journaledEvents()
                == ["launch", "activate", "resign-active", "background", "terminate"])
        let origin = try run.journal().last?["origin"]
        #expect(origin?["kind"]?.string == "control")
    }

    @Test("a module that a stop leaves behind is named, with 70")
    func leftBehind() throws {
        let (run, pipe) = try FullPipe.run(#"{"stop": "50ms", "stopAll": "500ms"}"#)
        pipe.fill()
        let outcome = try run.hostd("stop")
        #expect(outcome.exit == .code(70))
        #expect(
            outcome.error == "hostd stop: the stop took too long; left behind: x.journal\n")
        #expect(try run.ended().exit == .code(70))
        #expect(try run.hostd("status").exit == .code(69))
    }

    @Test("a stop while a module hangs in its launch")
    func stopWhileLaunching() throws {
        let (run, pipe) = try FullPipe.run(
            #"{"launch": "1h", "stopAll": "500ms"}"#, isFull: true)
        try run.process.waitForLine(containing: " runs 'test' of ")
        while try run.hostd("modules").exit == .code(0) {}
        let outcome = try run.hostd("stop")
        #expect(outcome.exit == .code(70))
        #expect(
            outcome.error == "hostd stop: the stop took too long; left behind: x.journal\n")
        #expect(try run.ended().exit == .code(70))
        withExtendedLifetime(pipe) {}
    }

    @Test("a stop that a signal cuts short ends with an error and 70")
    func cutShort() throws {
        let (run, pipe) = try FullPipe.run(Self.hour)
        pipe.fill()
        let stop = try HostProcess(["stop"], in: run.folder.path)
        try run.process.waitForLine(containing: "stopping: control from pid \(stop.processID) ")
        // Those that come within 250 ms of the request are the same one.
        let end = try run.process.waitForExit(sending: SIGTERM, every: .milliseconds(50))
        #expect(end.exit == .code(70))
        let outcome = try stop.waitForExit()
        #expect(outcome.exit == .code(70))
        #expect(
            outcome.error.hasPrefix(
                "hostd stop: stopped: ended at once, before the stop was done: signal TERM from "))
    }

    @Test("Ctrl-C ends the command, and not the stop")
    func interrupted() throws {
        let (run, pipe) = try FullPipe.run(Self.hour)
        pipe.fill()
        let stop = try HostProcess(["stop"], in: run.folder.path)
        try run.process.waitForLine(containing: "stopping: control from pid \(stop.processID) ")
        stop.send(SIGINT)
        #expect(try stop.waitForExit().exit == .signal(SIGINT))
        pipe.empty()
        #expect(try run.ended().exit == .code(0))
    }

    // MARK: A host that is busy

    @Test("a host that hangs while it launches says so, and answers when it goes on")
    func launching() throws {
        let (run, pipe) = try FullPipe.run(Self.hour, isFull: true)
        try run.process.waitForLine(containing: " runs 'test' of ")
        var outcome = try run.hostd("status")
        // As long as it does not hang yet.
        while !outcome.output.contains("\nrunning       x.journal\n") {
            #expect(outcome.output.contains("\nstate         launching since "))
            outcome = try run.hostd("status")
        }
        #expect(outcome.exit == .code(0))
        outcome = try run.hostd("modules")
        #expect(outcome.exit == .code(75))
        #expect(outcome.error == busy("modules"))
        pipe.empty()
        #expect(try run.ready().hostd("status").output.contains("\nstate         active since "))
    }

    @Test("a module that is late is shown as late, and does not keep others from an answer")
    func overdue() throws {
        let (run, pipe) = try FullPipe.run(#"{"event": "50ms"}"#)
        pipe.fill()
        run.process.send(SIGUSR1)
        try run.process.waitForLine(containing: " background  ")
        #expect(try run.hostd("modules").output.contains("\nx.journal  unresponsive  "))
        #expect(try run.hostd("status").output.contains(", unresponsive once, "))
        pipe.empty()
    }

    @Test("a host that hangs while it stops says so")
    func stopping() throws {
        let (run, pipe) = try FullPipe.run(Self.hour)
        pipe.fill()
        run.process.send(SIGTERM)
        try run.process.waitForLine(containing: "stopping: ")
        let outcome = try run.hostd("modules")
        #expect(outcome.exit == .code(75))
        #expect(outcome.error == busy("modules"))
        pipe.empty()
        #expect(try run.ended().exit == .code(0))
    }

    // MARK: tail

    @Test("tail shows what happens, to the end of the host")
    func tail() throws {
        let run = try HostdRun(HostdRun.slatefile(), ["--log-level", "debug"]).ready()
        let text = try run.tail()
        let json = try run.tail("--json", "--lines", "0")
        run.process.send(SIGUSR1)
        try text.waitForLine(
            containing: " info     host              background  1 module in ", on: .output)
        #expect(try run.hostd("stop").exit == .code(0))
        #expect(try run.ended().exit == .code(0))
        for outcome in [try text.waitForExit(), try json.waitForExit()] {
            #expect(outcome.exit == .code(0))
            #expect(outcome.error == "")
        }
        #expect(text.textSoFar(.output).hasSuffix(" notice   host              stopped\n"))
        let events = try json.textSoFar(.output).split(separator: "\n").map {
            try JSONValue(parsing: String($0))
        }
        #expect(events.last?["message"]?.string == "stopped")
        #expect(
            events.compactMap { $0["event"]?.string }
                == ["resign-active", "background", "terminate"])
    }

    @Test("tail of a host that is killed ends, too")
    func tailOfKilled() throws {
        let run = try HostdRun(HostdRun.slatefile(), ["--log-level", "debug"]).ready()
        let tail = try run.tail()
        run.process.send(SIGUSR1)
        try tail.waitForLine(containing: "  background  ", on: .output)
        run.process.send(SIGKILL)
        #expect(try tail.waitForExit().exit == .code(0))
    }

    @Test("a follower that reads nothing does not keep the host from its work, nor from its end")
    func stoppedFollower() throws {
        let run = try HostdRun(HostdRun.slatefile(), ["--log-level", "debug"]).ready()
        let tail = try run.tail()
        tail.suspend()
        for count in 1...50 {
            run.process.send(count % 2 == 0 ? SIGUSR2 : SIGUSR1)
            try run.process.waitForLine(
                containing: count % 2 == 0 ? " activate  " : " background  ",
                count: (count + 1) / 2 + (count % 2 == 0 ? 1 : 0))
        }
        #expect(try run.hostd("stop").output == "stopped\n")
        #expect(try run.ended().exit == .code(0))
        tail.send(SIGCONT)
        #expect(try tail.waitForExit().output.hasSuffix(" stopped\n"))
    }
}
