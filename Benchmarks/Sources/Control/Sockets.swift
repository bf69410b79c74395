import Glibc

/// One connection that blocks: as little as a client can be.
struct Client {
    private let descriptor: Int32
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

    init(_ path: String) throws {
        descriptor = streamSocket()
        guard withAddress(of: path, { connect(descriptor, $0, $1) }) == 0 else {
            throw ControlFailure.system("connect to \(path)")
        }
    }

    /// Sends all of it.
    func send(_ bytes: [UInt8]) throws {
        guard bytes.withUnsafeBytes({ sendAll($0, to: descriptor) }) else {
            throw ControlFailure.system("write")
        }
    }

    /// Reads so many bytes, which end a line.
    func receive(_ count: Int) throws {
        var rest = count
        while rest > 0 {
            let received = read(descriptor, buffer.baseAddress, min(rest, buffer.count))
            guard received > 0 else { throw ControlFailure.system("read") }
            rest -= received
            guard rest > 0 || buffer[received - 1] == UInt8(ascii: "\n") else {
                throw ControlFailure("an answer is longer than the first")
            }
        }
    }

    /// Reads one line, with its end, where nothing comes after it.
    func receiveLine() throws -> [UInt8] {
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n") {
            let received = read(descriptor, buffer.baseAddress, buffer.count)
            guard received > 0 else { throw ControlFailure.system("read") }
            line += buffer[..<received]
        }
        return line
    }
}

/// Sends back what it reads, on one thread: what the sockets themselves cost, and the least that a server
/// can do.
enum EchoServer {
    /// Serves the connections of one client, which may all be open at a time, until TERM.
    static func run(at path: String) -> Never {
        let listener = streamSocket()
        guard withAddress(of: path, { bind(listener, $0, $1) }) == 0, listen(listener, 8) == 0
        else {
            fatalError("\(ControlFailure.system("bind \(path)"))")
        }
        print("ready")
        fflush(nil)
        var polled = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        while true {
            guard poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
            for connection in polled.dropFirst() where connection.revents != 0 {
                let received = read(connection.fd, buffer.baseAddress, buffer.count)
                guard received > 0, sendAll(.init(rebasing: buffer[..<received]), to: connection.fd)
                else { exit(0) }
            }
            if polled[0].revents != 0 {
                let connection = accept(listener, nil, nil)
                polled.append(pollfd(fd: connection, events: Int16(POLLIN), revents: 0))
            }
        }
    }
}

private func streamSocket() -> Int32 {
    socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
}

/// - Returns: False where the other side has gone.
private func sendAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
        let count = write(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
        guard count > 0 else { return false }
        sent += count
    }
    return true
}

private func withAddress<Result>(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { field in
        precondition(path.utf8.count < field.count, "too long for a socket: \(path)")
        field.copyBytes(from: path.utf8)
    }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
}
