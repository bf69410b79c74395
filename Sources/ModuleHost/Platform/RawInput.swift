import Glibc

/// The functions that read from a descriptor that is owned elsewhere, such as stdin.
package enum RawInput {
    package static let standardInput: Int32 = 0

    /// Reads to the end, waiting for the writer.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor to read from; it stays open.
    ///   - limit: How many bytes there may be.
    ///   - wait: Waits until a descriptor that does not block has something to read.
    /// - Returns: The bytes, or nil where there are more than `limit`.
    /// - Throws: ``SystemError``.
    package static func readAll(
        from descriptor: Int32, limit: Int,
        waiting wait: (Int32) -> Void = {
            RawOutput.wait(until: POLLIN, on: $0, milliseconds: -1)
        }
    ) throws(SystemError) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](readingUpTo: 1 << 16)
        while bytes.count <= limit {
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 {
                bytes += buffer[..<count]
            } else if count == 0 {
                return bytes
            } else if errno == EAGAIN {
                wait(descriptor)
            } else if errno != EINTR {
                throw .last
            }
        }
        return nil
    }
}
