import Glibc
import ModuleHost
import TestSupport
import Testing

@Suite("hostd run after a death", .timeLimit(.minutes(10)))
struct BlackBoxRunTests {
    private static let hour = #"{"event": "1h", "stop": "1h", "stopAll": "1h"}"#

    /// The line that a host says of the one before it, without its time.
    private func death(_ run: HostdRun) throws -> String {
        let line = try run.process.waitForLine(containing: "the last host")
        return String(
            line[(line.firstRange(of: "the last host")?.lowerBound ?? line.startIndex)...])
    }

    @Test("killed while idle: no module is named, and status says the same until the next start")
    func idle() throws {
        let first = try HostdRun(HostdRun.slatefile()).ready()
        first.process.send(SIGKILL)
        #expect(try first.ended().exit == .signal(SIGKILL))
        let second = try HostdRun(nil, in: first.folder).ready()
        let words =
            "the last host (process \(first.process.processID)) died while no module was running"
        #expect(try death(second) == words)
        let status = try HostProcess.run(["status"], in: first.folder.path)
        #expect(status.output.contains("\nlast death    \(words)\n"))
        let json = try HostProcess.run(["status", "--json"], in: first.folder.path)
        let lastDeath = try JSONValue(parsing: json.output)["lastDeath"]
        #expect(lastDeath?["text"]?.string == words)
        #expect(lastDeath?["pid"]?.int == Int(first.process.processID))
        #expect(try second.terminated().exit == .code(0))
        // That one ended as it was asked to.
        let third = try HostdRun(nil, in: first.folder).ready()
        let last = try HostProcess.run(["status"], in: first.folder.path)
        #expect(!last.output.contains("last death"))
        #expect(try !third.terminated().error.contains("the last host"))
    }

    @Test("a host on a copy of a state directory says that, and not that a host has died")
    func copy() throws {
        let run = try HostdRun(HostdRun.slatefile()).ready()
        #expect(try run.folder.send(["push", "--payload", "{}"]).exit == .code(0))
        let copied = try HostProcess.run(
            ["-c", "cp -a .hostd copy"], program: "/bin/sh", in: run.folder.path)
        #expect(copied.exit == .code(0))
        let other = try HostdRun(nil, in: run.folder, ["--state-dir", "copy"]).ready()
        let words =
            "this state directory is a copy, made while the host of the original (process "
            + "\(run.process.processID)) ran, or after that had died: events that were pending then may be "
            + "delivered by both"
        try other.process.waitForLine(containing: " warning  host              \(words)")
        let status = try HostProcess.run(
            ["status", "--json", "--state-dir", "copy"], in: run.folder.path)
        let lastDeath = try JSONValue(parsing: status.output)["lastDeath"]
        #expect(lastDeath?["text"]?.string == words)
        #expect(lastDeath?["cause"]?.string == "copy")
        #expect(try !other.terminated().error.contains("died while"))
        #expect(try run.terminated().exit == .code(0))
        // Made after an orderly stop, it needs no word; nor does a moved folder.
        let moved = try HostProcess.run(
            ["-c", "cp -a .hostd copy2; mv copy moved"], program: "/bin/sh", in: run.folder.path)
        #expect(moved.exit == .code(0))
        for name in ["copy2", "moved"] {
            let next = try HostdRun(nil, in: run.folder, ["--state-dir", name]).ready()
            #expect(try !next.terminated().error.contains("is a copy"), "\(name)")
        }
    }

    @Test("killed while a module is busy: the module and its event are named")
    func busy() throws {
        let (first, pipe) = try FullPipe.run(Self.hour)
        pipe.fill()
        first.process.send(SIGUSR1)
        // Busy once the box says so: nothing else shows it from outside, since the journal is the pipe.
        let directory = StateDirectory(path: first.folder.path(".hostd"))
        let deadline = ContinuousClock.now + HostProcess.patience
        while BlackBox.Contents(in: directory)?.module == nil {
            try #require(ContinuousClock.now < deadline, "the module was never busy")
            sched_yield()
        }
        first.process.send(SIGKILL)
        #expect(try first.ended().exit == .signal(SIGKILL))
        try first.folder.write(HostdRun.slatefile(), to: "slatefile.json")
        let second = try HostdRun(nil, in: first.folder).ready()
        #expect(
            try death(second)
                == "the last host (process \(first.process.processID)) died while "
                + "'x.journal' handled 'resign-active'")
        #expect(try second.terminated().exit == .code(0))
    }

    @Test("a stop that leaves a busy module behind is no death")
    func overdue() throws {
        let (first, pipe) = try FullPipe.run(
            #"{"event": "1h", "stop": "50ms", "stopAll": "500ms"}"#)
        pipe.fill()
        #expect(try first.terminated().exit == .code(70))
        let directory = StateDirectory(path: first.folder.path(".hostd"))
        #expect(BlackBox.Contents(in: directory)?.state == .overdue)
        try first.folder.write(HostdRun.slatefile(), to: "slatefile.json")
        let second = try HostdRun(nil, in: first.folder).ready()
        #expect(try !second.terminated().error.contains("the last host"))
    }

    @Test("where no black box can be made the host runs without, and says so")
    func without() throws {
        let first = try HostdRun(HostdRun.slatefile()).ready()
        first.process.send(SIGKILL)
        _ = try first.ended()
        try makeFolders(first.folder.path(".hostd/blackbox.new"))
        let second = try HostdRun(nil, in: first.folder).ready()
        #expect(try death(second).hasSuffix("died while no module was running"))
        let error = try second.terminated().error
        #expect(
            error.contains(
                "no black box: cannot create '.hostd/blackbox.new': File exists; "
                    + "if this host dies, the next one cannot report what it was doing\n"))
        // The last one's would be taken for its own.
        #expect(throws: FileReadError.self) { try first.folder.text(of: ".hostd/blackbox") }
    }
}
