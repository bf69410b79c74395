import Glibc
import TestSupport
import Testing

@testable import ModuleHostCore

@Suite("Reading all of an input", .timeLimit(.minutes(10)))
struct RawInputTests {
    /// A pipe whose reading end does not block.
    private func makePipe() throws -> TestPipe {
        let pipe = try TestPipe()
        #expect(fcntl(pipe.readEnd, F_SETFL, O_NONBLOCK) == 0)
        return pipe
    }

    @Test("waits once for each time that there is nothing to read, and ends with the writer")
    func waits() throws {
        let pipe = try makePipe()
        var waits = 0
        let bytes = try RawInput.readAll(from: pipe.readEnd, limit: 10) { descriptor in
            #expect(descriptor == pipe.readEnd)
            waits += 1
            if waits == 1 { write(pipe.writeEnd, "ab", 2) } else { pipe.closeWriteEnd() }
        }
        #expect(bytes == Array("ab".utf8))
        #expect(waits == 2)
    }

    @Test("waits by itself until the writer is gone")
    func polls() throws {
        let pipe = try makePipe()
        // The first read comes before or after the write of this thread; both must end the same.
        let writeEnd = fcntl(pipe.writeEnd, F_DUPFD_CLOEXEC, 0)
        pipe.closeWriteEnd()
        try NativeThread.start(name: "writer", stackSize: 512 << 10) {
            write(writeEnd, "ab", 2)
            close(writeEnd)
        }
        #expect(try RawInput.readAll(from: pipe.readEnd, limit: 10) == Array("ab".utf8))
    }

    @Test("more than the limit is nothing")
    func limit() throws {
        let pipe = try makePipe()
        write(pipe.writeEnd, "abc", 3)
        pipe.closeWriteEnd()
        #expect(try RawInput.readAll(from: pipe.readEnd, limit: 2) == nil)
    }
}
