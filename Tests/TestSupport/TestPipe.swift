import AppService
import Glibc

/// A pipe whose two ends a test holds.
package final class TestPipe {
    package private(set) var readEnd: Int32
    package private(set) var writeEnd: Int32

    /// Makes a pipe that takes `capacity` bytes, or as many as the system likes.
    package init(capacity: Int32? = nil) throws {
        (readEnd, writeEnd) = try spawning.withLock { _ throws in try Self.makeEnds() }
        let setPipeSize: Int32 = 1031  // F_SETPIPE_SZ, which Swift does not see
        if let capacity { _ = fcntl(writeEnd, setPipeSize, capacity) }
    }

    /// Makes a pipe while `spawning` is held.
    init(unlocked: Void) throws {
        (readEnd, writeEnd) = try Self.makeEnds()
    }

    private static func makeEnds() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw PipeFailure(code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    deinit {
        closeReadEnd()
        closeWriteEnd()
    }

    package func closeReadEnd() {
        if readEnd >= 0 { close(readEnd) }
        readEnd = -1
    }

    package func closeWriteEnd() {
        if writeEnd >= 0 { close(writeEnd) }
        writeEnd = -1
    }

    /// What has been written and not read yet: waits for something, or the end, which is empty.
    package func read(upTo count: Int = 1 << 16) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, Glibc.read(readEnd, buffer.baseAddress, count))
        }
    }

    /// Everything up to the end; every other holder of a write end must have closed it.
    package func readToEnd() -> String {
        closeWriteEnd()
        var bytes: [UInt8] = []
        while true {
            let more = read()
            if more.isEmpty { return String(decoding: bytes, as: UTF8.self) }
            bytes += more
        }
    }

    /// Reads until the text so far contains `text`, and returns it.
    ///
    /// Waits as long as it takes.
    package func read(until text: String) -> String {
        var bytes: [UInt8] = []
        while true {
            let more = read()
            bytes += more
            let soFar = String(decoding: bytes, as: UTF8.self)
            if more.isEmpty || soFar.contains(text) { return soFar }
        }
    }
}

/// A system call of a test's own equipment failed.
package struct PipeFailure: Error {
    package let code: Int32
}
