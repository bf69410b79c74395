import Glibc

/// A service manager as far as a service sees it: the socket that `$NOTIFY_SOCKET` names.
package final class NotifyReceiver {
    /// What `$NOTIFY_SOCKET` is to be.
    package let address: String
    private let number: Int32

    /// Makes a socket that takes datagrams.
    ///
    /// - Parameter address: A path, or `@` and a name; the socket goes with its process.
    /// - Throws: ``PipeFailure`` where it cannot be made.
    package init(at address: String) throws {
        self.address = address
        var bytes = Array(address.utf8)
        let isAbstract = bytes.first == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        let kind = SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue
        number = socket(AF_UNIX, Int32(kind), 0)
        var unix = sockaddr_un()
        unix.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &unix.sun_path) { $0.copyBytes(from: bytes) }
        // The name ends where the address does: what is sent to it with more at its end gets nowhere.
        let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let result = withUnsafePointer(to: &unix) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, size) }
        }
        guard result == 0 else { throw PipeFailure(code: errno) }
    }

    deinit { close(number) }

    /// The next datagram.
    ///
    /// - Throws: ``NothingCame`` where none comes for a long time.
    package func next() throws -> String {
        guard let text = nextIfAny(within: HostProcess.patience) else { throw NothingCame() }
        return text
    }

    /// What has come already, in order.
    package func all() -> [String] {
        var texts: [String] = []
        while let text = nextIfAny(within: .zero) { texts.append(text) }
        return texts
    }

    package struct NothingCame: Error {}

    private func nextIfAny(within time: Duration) -> String? {
        var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, Int32(time.components.seconds) * 1000) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(number, &bytes, bytes.count, 0)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
