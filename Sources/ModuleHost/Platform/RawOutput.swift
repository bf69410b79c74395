import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// The functions that write bytes to a descriptor that is owned elsewhere, such as stdout.
package enum RawOutput {
    package static let standardOutput: Int32 = 1
    package static let standardError: Int32 = 2

    /// Writes all of `bytes`, in one `write` where the system takes them at once.
    ///
    /// Interruptions are retried, and a descriptor that does not block is waited for. With SIGPIPE ignored
    /// (``Signals/turnIntoErrors()``) a reader that has gone is an error, and does not end the process.
    ///
    /// - Throws: ``SystemError``, such as ``SystemError/brokenPipe``. The number of bytes written before is
    ///   not reported: use it where a failure makes the whole output useless.
    package static func writeAll(
        _ bytes: some Collection<UInt8>, to descriptor: Int32
    ) throws(SystemError) {
        let failure =
            bytes.withContiguousStorageIfAvailable { failureOfWriting($0, to: descriptor) }
            ?? Array(bytes).withUnsafeBufferPointer { failureOfWriting($0, to: descriptor) }
        if let failure { throw failure }
    }

    private static func failureOfWriting(
        _ bytes: UnsafeBufferPointer<UInt8>, to descriptor: Int32
    ) -> SystemError? {
        var rest = UnsafeRawBufferPointer(bytes)[...]
        while !rest.isEmpty {
            let count = write(UnsafeRawBufferPointer(rebasing: rest), to: descriptor)
            guard count >= 0 else { return .last }
            rest = rest.dropFirst(count)
        }
        return nil
    }

    /// Writes as many of `bytes` as the system takes at once.
    ///
    /// Interruptions are retried, and a descriptor that does not block is waited for.
    ///
    /// - Returns: The number of bytes written; -1 on a failure, whose reason is in `errno`.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int {
        while true {
            let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            if count >= 0 { return count }
            if errno == EAGAIN {
                wait(until: POLLOUT, on: descriptor, milliseconds: -1)
            } else if errno != EINTR {
                return -1
            }
        }
    }

    /// Waits until the descriptor is ready or closed at its other end.
    ///
    /// - Returns: False on a timeout.
    @discardableResult
    static func wait(until events: Int32, on descriptor: Int32, milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        // An interruption counts as ready: the caller tries, and waits again.
        return poll(&entry, 1, milliseconds) != 0
    }

    /// Returns whether the descriptor is a terminal.
    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Returns the device and the inode of an open file in the form of `$JOURNAL_STREAM`: `8:1234`.
    package static func deviceAndInode(of descriptor: Int32) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        return "\(status.st_dev):\(status.st_ino)"
    }

    /// Makes every write to stdout and stderr append, if they are regular files.
    ///
    /// Otherwise, after a program has copied and truncated such a file (`copytruncate` of logrotate), the next
    /// line is written behind a hole as long as the old file.
    static func appendToFiles() {
        for number in [standardOutput, standardError] {
            var status = stat()
            guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            let flags = fcntl(number, F_GETFL)
            if flags >= 0 { _ = fcntl(number, F_SETFL, flags | O_APPEND) }
        }
    }

    /// Occupies the descriptors 0, 1 and 2 where the parent process left them closed.
    ///
    /// Otherwise the next file that is opened gets such a number, and printed text is written into it. The
    /// replacement cannot be written to, so that writing to a closed stdout stays an error. Call it before
    /// anything is opened.
    package static func occupyClosedStandardDescriptors() {
        for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 {
            // Opening takes the lowest free number, which is this one. It stays open permanently.
            _ = open("/dev/null", O_RDONLY)
        }
    }
}
