import Glibc
import ModuleHost
import TestSupport
import Testing

/// What modules in processes of their own leave when the host is killed, with the real host.
@Suite("hostd run: processes left by a dead host", .timeLimit(.minutes(10)))
struct LeftProcessesTests {
    /// A module that does not heed the end of its input, and starts a process that leaves its group.
    private static let stubborn = #"""
        #!/bin/sh
        rm -f other
        setsid sh -c 'echo $$ >other; exec sleep 300' <&- >&- 2>&- &
        until [ -s other ]; do sleep 0.01; done
        echo "$$ $(cat other)" >pids
        while IFS= read -r line; do
            id=${line#*'"id":'} id=${id%%,*}
            result=null
            case $line in
            *'"initialize"'*) result='{"protocol":1,"module":"x.stubborn"}' ;;
            *'"shutdown"'*) exit ;;
            esac
            printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
        done
        exec sleep 300 >&- 2>&-
        """#

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
        try run.folder.text(of: "pids").split(whereSeparator: \.isWhitespace).compactMap {
            Int32($0)
        }
    }

    /// Those that run: one that has ended, and was not reaped, does not.
    private func running(_ processes: [Int32]) -> [Int32] {
        processes.filter { id in
            let status = (try? readFile(at: "/proc/\(id)/stat", limit: 4096)) ?? []
            // 4711 (name) S …
            return status.split(separator: UInt8(ascii: ")")).last?.dropFirst().first
                .map { $0 != UInt8(ascii: "Z") } ?? false
        }
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
        #expect(running(left) == left)

        let second = try start(in: first.folder)
        let line = try second.process.waitForLine(
            containing: "killed processes that modules of the last host")
        for process in left { #expect(line.contains("(process \(process), of x.stubborn)")) }
        for process in others { #expect(!line.contains("(process \(process)")) }
        #expect(running(left) == [])
        #expect(running(others) == others)
        let own = try processes(of: second)
        #expect(running(own) == own)

        // The next slatefile has no such module; its processes are killed all the same.
        try kill(second)
        try kill(other)
        for folder in [first.folder, other.folder] {
            let last = try HostdRun(HostdRun.slatefile(), in: folder).ready()
            #expect(try last.terminated().exit == .code(0))
        }
        #expect(running(own + others) == [])
    }

    @Test("a host that ends in good order kills what has left the module's group itself")
    func ended() throws {
        let first = try start()
        let left = try processes(of: first)
        let ended = try first.terminated()
        #expect(ended.exit == .code(0))
        #expect(ended.error.contains("killed processes that modules of this host had left: "))
        #expect(ended.error.contains("(process \(left[1]), of x.stubborn)"))
        #expect(running(left) == [])
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
        #expect(running(left) == [])
        #expect(try second.terminated().exit == .code(0))
    }
}
