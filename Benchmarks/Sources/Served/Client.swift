package import Glibc

/// One connection that blocks: as little as a client can be.
package final class Client {
    /// The socket, for `poll`.
    package let descriptor: Int32
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

    package init(_ path: String) throws {
        descriptor = streamSocket()
        guard withAddress(of: path, { connect(descriptor, $0, $1) }) == 0 else {
            throw Failure.system("connect to \(path)")
        }
    }

    deinit {
        close(descriptor)
        buffer.deallocate()
    }

    /// Sends all of it.
    package func send(_ bytes: [UInt8]) throws {
        guard bytes.withUnsafeBytes({ sendAll($0, to: descriptor) }) else {
            throw Failure.system("write")
        }
    }

    /// Reads so many bytes, which end a line.
    package func receive(_ count: Int) throws {
        var rest = count
        while rest > 0 {
            let received = try read(atMost: rest)
            rest -= received.count
            guard rest > 0 || received.last == UInt8(ascii: "\n") else {
                throw Failure("an answer is longer than the first")
            }
        }
    }

    /// Reads what there is, at least a byte.
    ///
    /// - Returns: What was read, until the next call.
    package func read(atMost count: Int = .max) throws -> UnsafeRawBufferPointer {
        let received = Glibc.read(descriptor, buffer.baseAddress, min(count, buffer.count))
        guard received > 0 else { throw Failure.system("read") }
        return UnsafeRawBufferPointer(rebasing: buffer[..<received])
    }

    /// Reads one line, with its end, where nothing comes after it.
    package func receiveLine() throws -> [UInt8] {
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n") { line += try read() }
        return line
    }
}

/// Why a figure cannot be had.
package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// A system call that failed just now.
    package static func system(_ call: String) -> Self {
        Self("\(call): \(String(cString: strerror(errno)))")
    }
}

/// The time of a clock that is never set.
package func nanoseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// A new stream socket of the UNIX family.
package func streamSocket() -> Int32 {
    socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
}

/// - Returns: False where the other side has gone.
package func sendAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
        let count = write(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
        guard count > 0 else { return false }
        sent += count
    }
    return true
}

/// Lends the address of a socket's path, relative to the working folder where that is shorter.
package func withAddress<Result>(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var path = path
    if let folder = getcwd(nil, 0) {
        defer { free(folder) }
        let prefix = String(cString: folder) + "/"
        if path.hasPrefix(prefix) { path.removeFirst(prefix.count) }
    }
    withUnsafeMutableBytes(of: &address.sun_path) { field in
        precondition(path.utf8.count < field.count, "too long for a socket: \(path)")
        field.copyBytes(from: path.utf8)
    }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
}
