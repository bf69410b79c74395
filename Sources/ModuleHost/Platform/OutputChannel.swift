import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// A descriptor that is written to without ever waiting.
///
/// Setting `O_NONBLOCK` on an inherited stderr would set it for every process that shares it, the user's
/// shell included. So a socket is written to with a flag for each call; a pipe or a terminal is opened once
/// more, which gives it flags of its own; and a file never makes a writer wait.
struct OutputChannel: ~Copyable, Sendable {
    enum Outcome: Hashable {
        /// This many bytes were written, perhaps none.
        case wrote(Int)
        /// The bytes cannot be written.
        case failed(SystemError)
    }

    private enum Way {
        /// A file: writing does not wait.
        case file
        /// A socket: a flag of each call prevents waiting.
        case socket
        /// A pipe or terminal that does not wait by its own flags.
        case nonblocking
        /// A descriptor that could not be opened again (another user's): poll before each write, and write no
        /// more than a pipe takes at once. This can still wait only where there is another writer.
        case polled
    }

    private let number: Int32
    private let own: Descriptor?
    private let way: Way

    init(_ descriptor: Int32) {
        var status = stat()
        let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
        let canWait = kind == S_IFIFO || kind == S_IFCHR
        let path = "/proc/self/fd/\(descriptor)"
        if canWait, let again = try? Descriptor(opening: path, O_WRONLY | O_NONBLOCK) {
            number = again.number
            own = consume again
        } else {
            number = descriptor
            own = nil
        }
        switch kind {
        case S_IFSOCK: way = .socket
        case S_IFIFO, S_IFCHR: way = number == descriptor ? .polled : .nonblocking
        default: way = .file
        }
    }

    /// Writes the bytes that can be written at once: in one system call, unless it is interrupted.
    borrowing func write(_ bytes: ArraySlice<UInt8>) -> Outcome {
        bytes.withUnsafeBytes { buffer in
            while true {
                let count = writeOnce(buffer)
                if count >= 0 { return .wrote(count) }
                if errno == EAGAIN { return .wrote(0) }
                if errno != EINTR { return .failed(.last) }
            }
        }
    }

    private borrowing func writeOnce(_ buffer: UnsafeRawBufferPointer) -> Int {
        switch way {
        case .file, .nonblocking:
            return Glibc.write(number, buffer.baseAddress, buffer.count)
        case .socket:
            return send(
                number, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        case .polled:
            guard RawOutput.wait(until: POLLOUT, on: number, milliseconds: 0) else {
                errno = EAGAIN
                return -1
            }
            return Glibc.write(number, buffer.baseAddress, min(buffer.count, Int(PIPE_BUF)))
        }
    }

    /// Waits until a write may succeed or must fail.
    ///
    /// - Parameter time: The longest wait; nil for no limit.
    borrowing func waitUntilWritable(within time: Duration?) {
        guard let time else {
            RawOutput.wait(until: POLLOUT, on: number, milliseconds: -1)
            return
        }
        let (seconds, attoseconds) = time.components
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        let rest = attoseconds / 1_000_000_000_000_000 + 1
        RawOutput.wait(
            until: POLLOUT, on: number,
            milliseconds: milliseconds.overflow
                ? .max : Int32(clamping: milliseconds.partialValue + rest))
    }
}
