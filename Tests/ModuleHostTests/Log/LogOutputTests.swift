import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Log output", .timeLimit(.minutes(10)))
struct LogOutputTests {
    init() { Signals.turnIntoErrors() }

    private func record(_ message: String) -> LogRecord {
        LogRecord(time: WallTime(seconds: 0), level: .info, message: message)
    }

    private func line(_ message: String) -> String { "<6>info     host              \(message)\n" }

    /// One page: the least a pipe can be.
    private let pipeSize: Int32 = 4096

    @Test("lines go out in order")
    func order() throws {
        let pipe = try TestPipe()
        do {
            let output = LogOutput(descriptor: pipe.writeEnd, format: .journal)
            for number in 1...3 { output.write(record("\(number)")) }
        }
        #expect(pipe.readToEnd() == line("1") + line("2") + line("3"))
    }

    @Test("a line is one write")
    func oneWrite() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, closingOnSpawn(SOCK_SEQPACKET), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let output = LogOutput(descriptor: ends[0], format: .journal)
        output.write(record("first"))
        output.write(record("second"))
        for message in ["first", "second"] {
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = recv(ends[1], &buffer, buffer.count, 0)
            #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == line(message))
        }
    }

    @Test("a full pipe keeps no writer waiting; the lines come when it is emptied")
    func fullPipe() throws {
        let pipe = try TestPipe(capacity: pipeSize)
        let output = LogOutput(descriptor: pipe.writeEnd, format: .journal)
        for number in 1...1000 { output.write(record("\(number)")) }
        #expect(output.waitingBytes > 0)
        // Nothing is written any more: that the rest arrives is the work of the sink's own thread.
        let text = pipe.read(until: line("1000"))
        #expect(text == (1...1000).map { line("\($0)") }.joined())
    }

    @Test("what is beyond the limit is dropped and counted")
    func limit() throws {
        let pipe = try TestPipe(capacity: pipeSize)
        let output = LogOutput(descriptor: pipe.writeEnd, format: .journal, limit: 1000)
        var kept = 0
        while output.waitingBytes < 1000 - line("0000").utf8.count {
            output.write(record(String(1000 + kept)))
            kept += 1
        }
        for _ in 1...17 { output.write(record("lost")) }
        let text = pipe.read(until: "stderr was not read in time")
        #expect(text.contains(line(String(999 + kept))))
        #expect(!text.contains(line("lost")))
        #expect(
            text.contains(
                "<4>warning  host              17 lines of the log lost: "
                    + "stderr was not read in time lost=17\n"))
    }

    @Test("stderr closed (EPIPE is not fatal)")
    func closedPipe() throws {
        let pipe = try TestPipe()
        let output = LogOutput(descriptor: pipe.writeEnd, format: .journal)
        output.write(record("read"))
        #expect(String(decoding: pipe.read(), as: UTF8.self) == line("read"))
        pipe.closeReadEnd()
        for _ in 1...3 { output.write(record("unread")) }
        #expect(output.waitingBytes == 0)
        #expect(output.flush(within: .zero))
    }

    @Test("a descriptor that was never open is not fatal")
    func noDescriptor() {
        let output = LogOutput(descriptor: 1_000_000, format: .journal)
        output.write(record("nowhere"))
        #expect(output.waitingBytes == 0)
    }

    @Test("a full disk is not fatal, and what was lost is reported")
    func fullDisk() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("log")
        let file = try Descriptor(opening: path, O_WRONLY | O_CREAT | O_APPEND)
        let output = LogOutput(descriptor: file.number, format: .journal)
        output.write(record("first"))

        let same = fcntl(file.number, F_DUPFD_CLOEXEC, 3)
        let full = try Descriptor(opening: "/dev/full", O_WRONLY)
        dup2(full.number, file.number)
        for _ in 1...2 { output.write(record("lost")) }
        dup2(same, file.number)
        close(same)

        output.write(record("after"))
        let text = String(decoding: try readFile(at: path, limit: 10_000), as: UTF8.self)
        #expect(
            text == line("first")
                + "<4>warning  host              2 lines of the log lost: "
                + "stderr was not read in time lost=2\n" + line("after"))
    }

    @Test("a line that was torn ends before the next begins")
    func tornLine() throws {
        let (ours, theirs) = try socketPair()
        let output = LogOutput(descriptor: ours, format: .journal)
        output.write(record(String(repeating: "x", count: 1 << 20)))
        #expect(output.waitingBytes > 0)
        // A process that is just being started has what this one has, for a moment: to close our own end
        // alone would not end the connection.
        let inChild = fcntl(theirs, F_DUPFD_CLOEXEC, 3)
        defer { close(inChild) }
        shutdown(theirs, Int32(SHUT_RDWR))
        close(theirs)
        #expect(output.flush(within: .zero))

        let (replacement, reader) = try socketPair()
        dup2(replacement, ours)
        _ = fcntl(ours, F_SETFD, FD_CLOEXEC)
        output.write(record("after"))
        for descriptor in [ours, replacement] { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = recv(reader, &buffer, buffer.count, Int32(MSG_WAITALL))
        close(reader)
        let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        #expect(text.hasPrefix("\n<4>warning  host              1 line of the log lost: "))
        #expect(text.hasSuffix("\n" + line("after")))
    }

    private func socketPair() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, closingOnSpawn(SOCK_STREAM), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    @Test("flush waits no longer than its limit")
    func flush() throws {
        let pipe = try TestPipe(capacity: pipeSize)
        let output = LogOutput(descriptor: pipe.writeEnd, format: .journal)
        for number in 1...1000 { output.write(record("\(number)")) }
        #expect(!output.flush(within: .zero))
    }
}

/// The type of a socket that no process inherits which another test starts meanwhile: that one would
/// keep it open.
private func closingOnSpawn(_ type: __socket_type) -> Int32 {
    Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
}
