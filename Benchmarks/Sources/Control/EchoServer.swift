import Glibc
import Served

/// Sends back what it reads, on one thread: what the sockets themselves cost, and the least that a server
/// can do.
enum EchoServer {
    /// Serves the connections of one client, which may all be open at a time, until TERM.
    static func run(at path: String) -> Never {
        let listener = streamSocket()
        guard withAddress(of: path, { bind(listener, $0, $1) }) == 0, listen(listener, 8) == 0
        else {
            fatalError("\(Failure.system("bind \(path)"))")
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
