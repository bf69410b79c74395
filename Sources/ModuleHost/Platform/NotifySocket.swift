import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// The socket of a service manager that monitors the state of a service (`$NOTIFY_SOCKET`): a datagram for
/// each notification.
package struct NotifySocket: ~Copyable, Sendable {
    /// The variables that are meant for the service alone: messages that a child sends with them would be
    /// taken for the service's own.
    package static let variables = ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"]

    private let socket: Descriptor
    /// The address without its family: a path, or a NUL byte and a name.
    private let name: [UInt8]

    /// Creates a socket to send from; whether there is a listener is known only when a datagram is sent.
    ///
    /// - Parameter address: An absolute path, or `@` and a name that is not a file's.
    /// - Throws: ``SystemError``: `invalid` for an address that is neither, or too long.
    package init(to address: String) throws(SystemError) {
        var name = Array(address.utf8)
        let room = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        switch name.first {
        case UInt8(ascii: "@") where name.count > 1: name[0] = 0
        // With the NUL byte at its end.
        case UInt8(ascii: "/"): name.append(0)
        default: throw .invalid
        }
        guard name.count <= room else { throw .invalid }
        let kind = SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue
        let number = Glibc.socket(AF_UNIX, Int32(kind), 0)
        guard number >= 0 else { throw .last }
        self.name = name
        socket = Descriptor(owning: number)
    }

    /// Sends one datagram, without waiting.
    ///
    /// - Throws: ``SystemError``: `wouldBlock` where there is no room for it now.
    package borrowing func send(_ text: String) throws(SystemError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // The exact size: every further NUL byte would be part of a name that is not a path.
        let size = MemoryLayout<sa_family_t>.size + name.count
        let bytes = Array(text.utf8)
        let number = socket.number
        while true {
            let count = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(
                        number, bytes, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL), $0,
                        socklen_t(size))
                }
            }
            if count >= 0 { return }
            if errno != EINTR { throw .last }
        }
    }

    /// The monotonic clock in microseconds, as service managers read it.
    package static var monotonicMicroseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }
}
