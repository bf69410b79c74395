import Glibc
import ModuleHost
import TestSupport
import Testing

/// What modules in processes of their own leave when the host is killed, with the real host.
@Suite("hostd run: processes left by a dead host", .timeLimit(.minutes(10)))
struct LeftProcessesTests {
    /// A module that does not heed the end of its input, and starts a process that leaves its group.
    private static let stubborn =
        ShellModule.startOfOther
        + ShellModule.program("x.stubborn", "", #"*'"shutdown"'*) exit ;;"#)
        + "exec sleep 300 >&- 2>&-\n"

    private static let slatefile = """
        {"slate": 1, "app": "test", "modules": [
          {"id": "x.main", "entry": "Modules.MainModule", "main": true},
          {"id": "x.stubborn", "command": ["sh", "stubborn.sh"]}
        ]}
        """

    private func start(in folder: TemporaryFolder? = nil) throws -> HostdRun {
        let folder = try folder ?? TemporaryFolder()
        try folder.write(Self.stubborn, to: "stubborn.sh")
        return try HostdRun(Self.slatefile, in: folder).ready()
    }

    /// The processes of the module that a host has started last: the module's own, and the other.
    private func processes(of run: HostdRun) throws -> [Int32] {
        try ShellModule.numbers("pids", of: run)
    }

    private func kill(_ run: HostdRun) throws {
        run.process.send(SIGKILL)
        #expect(try run.ended().exit == .signal(SIGKILL))
    }

    @Test("the next host kills them all, and those of no other state directory")
    func left() throws {
        let first = try start()
        let other = try start()
        let left = try processes(of: first)
        let others = try processes(of: other)
        #expect(left.count == 2 && others.count == 2)
        try kill(first)
        #expect(ShellModule.running(left) == left)

        let second = try start(in: first.folder)
        let line = try second.process.waitForLine(
            containing: "killed processes that modules of the last host")
        for process in left { #expect(line.contains("(process \(process), of x.stubborn)")) }
        for process in others { #expect(!line.contains("(process \(process)")) }
        #expect(ShellModule.running(left) == [])
        #expect(ShellModule.running(others) == others)
        let own = try processes(of: second)
        #expect(ShellModule.running(own) == own)

        // The next slatefile has no such module; its processes are killed all the same.
        try kill(second)
        try kill(other)
        for folder in [first.folder, other.folder] {
            let last = try HostdRun(HostdRun.slatefile(), in: folder).ready()
            #expect(try last.terminated().exit == .code(0))
        }
        #expect(ShellModule.running(own + others) == [])
    }

    @Test("a host that ends in good order kills what has left the module's group itself")
    func ended() throws {
        let first = try start()
        let left = try processes(of: first)
        let ended = try first.terminated()
        #expect(ended.exit == .code(0))
        #expect(ended.error.contains("killed processes that modules of this host had left: "))
        #expect(ended.error.contains("(process \(left[1]), of x.stubborn)"))
        #expect(ShellModule.running(left) == [])
        let second = try HostdRun(HostdRun.slatefile(), in: first.folder).ready()
        #expect(try !second.terminated().error.contains("modules of the last host"))
    }

    @Test(
        "a host that a module of the last one has started is not its own victim, nor is its parent")
    func startedByModule() throws {
        let first = try start()
        let left = try processes(of: first)
        let environment = try readFile(at: "/proc/\(left[0])/environ", limit: 1 << 20)
        let mark = try #require(
            environment.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
                .first { $0.hasPrefix("MODULEHOST_OWNER=") })
        try kill(first)
        let second = try HostdRun(
            HostdRun.slatefile(), in: first.folder, ["--respawn"],
            environment: ["MODULEHOST_OWNER": String(mark.dropFirst("MODULEHOST_OWNER=".count))]
        ).ready()
        #expect(ShellModule.running(left) == [])
        #expect(try second.terminated().exit == .code(0))
    }
}
