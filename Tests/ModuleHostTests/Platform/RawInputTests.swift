import Glibc
import Testing

@testable import ModuleHost

@Suite("Reading all of an input", .timeLimit(.minutes(1)))
struct RawInputTests {
    /// A pipe whose reading end does not block.
    private func makePipe() -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        #expect(Glibc.pipe(&ends) == 0)
        #expect(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
        return (ends[0], ends[1])
    }

    @Test("waits once for each time that there is nothing to read, and ends with the writer")
    func waits() throws {
        let ends = makePipe()
        defer { close(ends.reading) }
        var waits = 0
        let bytes = try RawInput.readAll(from: ends.reading, limit: 10) { descriptor in
            #expect(descriptor == ends.reading)
            waits += 1
            if waits == 1 { write(ends.writing, "ab", 2) } else { close(ends.writing) }
        }
        #expect(bytes == Array("ab".utf8))
        #expect(waits == 2)
    }

    @Test("waits by itself until the writer is gone")
    func polls() throws {
        let ends = makePipe()
        defer { close(ends.reading) }
        // Waits for another thread, which writes when the first look has found nothing.
        try NativeThread.start(name: "writer", stackSize: 512 << 10) {
            write(ends.writing, "ab", 2)
            close(ends.writing)
        }
        #expect(try RawInput.readAll(from: ends.reading, limit: 10) == Array("ab".utf8))
    }

    @Test("more than the limit is nothing")
    func limit() throws {
        let ends = makePipe()
        defer { close(ends.reading) }
        write(ends.writing, "abc", 3)
        close(ends.writing)
        #expect(try RawInput.readAll(from: ends.reading, limit: 2) == nil)
    }
}
