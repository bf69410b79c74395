import Dispatch
import TestSupport
import Testing

@testable import ModuleHostCore

/// The lines to a process: no thread waits until they are read.
@Suite("Input of a module's process", .timeLimit(.minutes(10)))
struct ModuleInputTests {
    private static func start(
        _ script: String, in folder: String? = nil,
        limits: ModuleInput.Limits = ModuleInput.Limits()
    ) throws -> ModuleProcess {
        var all = ModuleProcess.Limits()
        all.input = limits
        return try .start(
            ["/bin/sh", "-c", script], environment: ["PATH": "/usr/bin:/bin"], in: folder,
            time: SystemTimeSource.shared, limits: all,
            notifying: ModuleProcess.Observer(
                onLine: { _, _ in }, onMail: { _ in },
                onSend: { _, _, _, _ in false }))
    }

    /// More than a pipe holds.
    private static func lines(_ count: Int) -> [[UInt8]] {
        (0..<count).map { Array("\($0) ".utf8) + [UInt8](repeating: 0x61, count: 1 << 16) }
    }

    private static func end(of process: ModuleProcess) -> ProcessExit? {
        guard case .end(let end) = process.queue.next(until: .now() + .seconds(300)) else {
            return nil
        }
        return end
    }

    @Test("what a busy process has not read waits for it, in order, and the end behind that")
    func waits() throws {
        let folder = try TemporaryFolder()
        let process = try Self.start(
            "while [ ! -e go ]; do :; done; exec cut -d ' ' -f 1 >read", in: folder.path)
        let lines = Self.lines(40)
        for line in lines { process.send(line, within: .seconds(300)) }
        #expect(process.input.isWaiting)
        process.input.end(with: Array("last".utf8))
        // Behind the end there is nothing.
        process.send(Array("more".utf8))
        try folder.write("", to: "go")
        #expect(Self.end(of: process)?.exit == .code(0))
        #expect(
            try folder.text(of: "read")
                == lines.indices.map { "\($0)\n" }.joined() + "last\n")
        #expect(!process.input.isWaiting)
    }

    @Test("a line that others follow waits for the next one, for their end, or for a page of them")
    func gathers() throws {
        let folder = try TemporaryFolder()
        // No thread reads it, and writes what waits meanwhile.
        let child = try ChildProcess.start(
            ["/bin/sh", "-c", "cut -d ' ' -f 1 >read; exit 0"],
            environment: ["PATH": "/usr/bin:/bin"], in: folder.path)
        let input = ModuleInput(of: child, ModuleInput.Limits()) {}
        func write(_ line: String, followed: Bool) {
            #expect(input.write(Array(line.utf8), within: .seconds(300), followed: followed))
        }
        write("1", followed: true)
        write("2", followed: true)
        #expect(input.isWaiting)
        write("3", followed: false)
        #expect(!input.isWaiting)
        write("4", followed: true)
        input.endGathering()
        #expect(!input.isWaiting)
        write("5 " + String(repeating: "a", count: 4096), followed: true)
        #expect(!input.isWaiting)
        write("6", followed: true)
        input.end(with: Array("last".utf8))
        #expect(!input.isWaiting)
        var buffer = [UInt8](repeating: 0, count: 16)
        // Its output ends with it.
        while case .nothing = ChildProcess.read(child.output, into: &buffer, atMost: 16) {
            var set = PollSet()
            _ = set.insert(child.output.number, .reading)
            _ = set.wait(milliseconds: -1)
        }
        #expect(try folder.text(of: "read") == "1\n2\n3\n4\n5\n6\nlast\n")
    }

    @Test("lines of many threads are whole")
    func manyThreads() throws {
        let folder = try TemporaryFolder()
        let process = try Self.start("exec cut -d ' ' -f 2 >read", in: folder.path)
        let word = [UInt8](repeating: 0x61, count: 5000)
        DispatchQueue.concurrentPerform(iterations: 400) { number in
            process.send(Array("\(number) ".utf8) + word, within: .seconds(300))
        }
        process.input.end(with: Array("x end".utf8))
        #expect(Self.end(of: process)?.exit == .code(0))
        let line = String(decoding: word, as: UTF8.self) + "\n"
        #expect(
            try folder.text(of: "read") == String(repeating: line, count: 400) + "end\n")
    }

    @Test("one that reads nothing for the longest time that a line may take is killed")
    func readsNothing() throws {
        let process = try Self.start("exec sleep 1000")
        for line in Self.lines(2) { process.send(line, within: .milliseconds(20)) }
        process.send(Array("later".utf8), within: .milliseconds(40))
        let end = Self.end(of: process)
        #expect(end?.cause == .silence("read its input", .milliseconds(40)))
        #expect(
            end?.description.contains("did not read its input within 40ms, and was killed") == true)
    }

    @Test("a process that slowly reads on is not killed")
    func readsSlowly() throws {
        let folder = try TemporaryFolder()
        // A page at a time; each of them is progress, and the whole takes longer than the time for one.
        let process = try Self.start(
            """
            n=0
            while [ $n -lt 400 ]; do head -c 4096 >>read; n=$((n+1)); done
            """, in: folder.path)
        for line in Self.lines(25) { process.send(line, within: .seconds(60)) }
        #expect(Self.end(of: process)?.exit == .code(0))
        #expect(try folder.text(of: "read").utf8.count == 400 * 4096)
    }

    @Test("one for which too much waits gets no calls of others, and is killed beyond the limit")
    func tooMuch() throws {
        var limits = ModuleInput.Limits()
        (limits.callBytes, limits.bytes) = (1 << 18, 3 << 20)
        let process = try Self.start("exec sleep 1000", limits: limits)
        #expect(process.input.takesCalls)
        for line in Self.lines(40) { process.send(line, within: .seconds(300)) }
        #expect(!process.input.takesCalls)
        for line in Self.lines(20) { process.send(line, within: .seconds(300)) }
        #expect(Self.end(of: process)?.cause == .violation("left more than 3 MiB unread"))
    }
}
