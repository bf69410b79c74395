import Glibc
import TestSupport
import Testing

/// A pipe in the place of a journal, which takes no more once it is full: the module hangs until it
/// is read.
final class FullPipe {
    let descriptor: Int32

    init(_ path: String) throws {
        try #require(mkfifo(path, 0o600) == 0)
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        try #require(descriptor >= 0)
    }

    /// Starts a host whose journal is such a pipe, and waits until it is ready.
    ///
    /// - Parameters:
    ///   - deadlines: The slatefile's `deadlines`.
    ///   - isFull: Whether the module hangs from its launch on: then the host is not waited for.
    /// - Returns: The host and its pipe.
    /// - Throws: Where the host cannot be started.
    static func run(_ deadlines: String, isFull: Bool = false) throws -> (HostdRun, FullPipe) {
        let folder = try TemporaryFolder()
        let pipe = try FullPipe(folder.path("pipe"))
        let slatefile = HostdRun.slatefile(
            journal: #""config": {"file": "\#(folder.path("pipe"))"}"#,
            top: #""deadlines": \#(deadlines)"#)
        if isFull { pipe.fill() }
        let run = try HostdRun(slatefile, in: folder)
        return (isFull ? run : try run.ready(), pipe)
    }

    func fill() {
        let bytes = [UInt8](repeating: 0x20, count: 1)
        while write(descriptor, bytes, 1) == 1 {}
    }

    func empty() {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while read(descriptor, &bytes, bytes.count) > 0 {}
    }

    deinit { close(descriptor) }
}
