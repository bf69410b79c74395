import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// UNIX stream sockets, by the path of their file.
package enum LocalSocket {
    /// The longest path that an address can hold, in bytes.
    ///
    /// A longer one is reached through the descriptor of its folder, which takes `/proc`.
    static let pathLimit = 107

    /// Makes a socket that takes connections at `path`, in the place of a socket or file of that name that
    /// is not answered.
    ///
    /// It gets its name only when it has its permissions and takes connections: no client ever finds one
    /// that is open to others, or refuses him for a moment.
    ///
    /// - Parameters:
    ///   - path: The socket's path; its folder must exist.
    ///   - mode: Its permissions, whatever the umask. Who may write to it may connect.
    ///   - backlog: How many connections may wait to be accepted; more wait in `connect`.
    /// - Returns: The socket; accepting from it does not wait.
    /// - Throws: ``FileError``; ``SystemError/addressInUse`` where a connection to `path` is answered.
    static func listen(
        at path: String, mode: UInt32 = 0o600, backlog: Int32 = 128
    ) throws(FileError) -> Descriptor {
        let temporary = "\(path).\(getpid()).tmp"
        do throws(SystemError) {
            guard answerer(at: path) == nil else { throw .addressInUse }
            let socket = try make(nonblocking: true)
            unlink(temporary)
            try withAddress(of: temporary) { address, size in
                Glibc.bind(socket.number, address, size)
            }
            guard chmod(temporary, mode) == 0, Glibc.listen(socket.number, backlog) == 0,
                rename(temporary, path) == 0
            else {
                let error = SystemError.last
                unlink(temporary)
                throw error
            }
            return socket
        } catch {
            throw FileError("listen at", path, error)
        }
    }

    /// Connects to the socket at `path`.
    ///
    /// - Parameters:
    ///   - path: The socket's path.
    ///   - time: How long to wait where too many others wait already.
    /// - Returns: The connection.
    /// - Throws: ``SystemError``: `notFound` or `connectionRefused` if there is no listener,
    ///   `accessDenied` where this user may not, `wouldBlock` where time was up.
    static func connect(to path: String, within time: Duration) throws(SystemError) -> Descriptor {
        let socket = try make(nonblocking: false)
        let (seconds, attoseconds) = time.components
        // Zero would be for ever.
        var limit = timeval(
            tv_sec: Int(seconds), tv_usec: max(1, Int(attoseconds / 1_000_000_000_000)))
        setsockopt(
            socket.number, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        try connect(socket, to: path)
        return socket
    }

    private static func connect(
        _ socket: borrowing Descriptor, to path: String
    ) throws(SystemError) {
        let number = socket.number
        try withAddress(of: path) { address, size in
            while Glibc.connect(number, address, size) != 0 {
                if errno != EINTR { return -1 }
            }
            return 0
        }
    }

    /// The process that accepts connections at a path.
    struct Answerer: Hashable {
        /// Its process, where that is known.
        let processID: Int32?
    }

    /// Finds out whether connections to `path` are taken; never waits.
    ///
    /// - Returns: The process that takes them, also if it is stopped or too busy to accept one; nil if none
    ///   does, or what stands there cannot be connected to.
    static func answerer(at path: String) -> Answerer? {
        do throws(SystemError) {
            let socket = try make(nonblocking: true)
            try connect(socket, to: path)
            // One in another container has no number here.
            let process = (try? socket.peer())?.processID ?? 0
            return Answerer(processID: process > 0 ? process : nil)
        } catch {
            // As many wait as may.
            return error == .wouldBlock ? Answerer(processID: nil) : nil
        }
    }

    /// Makes two sockets that lead to each other.
    ///
    /// - Parameter nonblocking: Whether its calls return at once.
    /// - Returns: Their descriptors, which the caller owns; closed on `exec`.
    /// - Throws: ``SystemError`` where there is no room for two descriptors.
    static func pair(nonblocking: Bool) throws(SystemError) -> (Int32, Int32) {
        var ends: (Int32, Int32) = (-1, -1)
        let kind =
            SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
            | (nonblocking ? SOCK_NONBLOCK.rawValue : 0)
        let result = withUnsafeMutablePointer(to: &ends) {
            $0.withMemoryRebound(to: Int32.self, capacity: 2) {
                socketpair(AF_UNIX, Int32(kind), 0, $0)
            }
        }
        guard result == 0 else { throw .last }
        return ends
    }

    /// Removes the socket's file; one that is not there is fine.
    ///
    /// - Parameters:
    ///   - path: The socket's path.
    ///   - identity: Which file it was (``identity(of:)``); another one that has the name by now stays.
    static func remove(_ path: String, ifStill identity: String?) {
        if identity == nil || identity == self.identity(of: path) { unlink(path) }
    }

    /// The device and the inode of what has a path, links not followed; nil for nothing.
    static func identity(of path: String) -> String? {
        var status = stat()
        return lstat(path, &status) == 0 ? "\(status.st_dev):\(status.st_ino)" : nil
    }

    private static func make(nonblocking: Bool) throws(SystemError) -> Descriptor {
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        let flags = nonblocking ? SOCK_NONBLOCK.rawValue : 0
        let number = socket(AF_UNIX, Int32(kind | flags), 0)
        guard number >= 0 else { throw .last }
        return Descriptor(owning: number)
    }

    /// Calls `body`, which returns 0 or fails with `errno`, with the address of `path`.
    private static func withAddress(
        of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemError) {
        if path.utf8.count <= pathLimit { return try withAddress(fitting: path, body) }
        let folder = try Descriptor(opening: parentFolder(of: path) ?? ".", O_RDONLY | O_DIRECTORY)
        let name = path.split(separator: "/").last ?? ""
        let short = "/proc/self/fd/\(folder.number)/\(name)"
        guard short.utf8.count <= pathLimit else { throw SystemError(code: ENAMETOOLONG) }
        try withAddress(fitting: short, body)
    }

    private static func withAddress(
        fitting path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw .last }
    }
}

/// The process at the other end of a socket, as the kernel knew it when the connection was made.
package struct SocketPeer: Hashable, Sendable {
    package let processID: Int32
    package let userID: UInt32
    package let groupID: UInt32

    package init(processID: Int32, userID: UInt32, groupID: UInt32) {
        self.processID = processID
        self.userID = userID
        self.groupID = groupID
    }
}

extension Descriptor {
    /// Takes a connection that waits at this socket.
    ///
    /// - Returns: The connection, or nil where none waits.
    /// - Throws: ``SystemError``, such as having no room for another descriptor.
    borrowing func accept() throws(SystemError) -> Descriptor? {
        while true {
            let number = Glibc.accept(self.number, nil, nil)
            if number >= 0 {
                // Not in one step: `accept4` is not visible to Swift. A child that is spawned between
                // the two does not get it either, because children are given what they need by name.
                _ = fcntl(number, F_SETFD, FD_CLOEXEC)
                return Descriptor(owning: number)
            }
            // The one that waited may have gone again.
            if errno == EAGAIN { return nil }
            if errno != EINTR && errno != ECONNABORTED { throw .last }
        }
    }

    /// Returns the process at the other end of this connection.
    borrowing func peer() throws(SystemError) -> SocketPeer {
        // `struct ucred`, which is not visible to Swift: pid, uid, gid.
        var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
        var size = socklen_t(12)
        guard getsockopt(number, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0, size == 12
        else { throw .last }
        return SocketPeer(
            processID: credentials.0, userID: credentials.1, groupID: credentials.2)
    }

    /// The result of a read that does not wait.
    enum Reception: Hashable {
        /// This many bytes.
        case bytes(Int)
        /// None are there yet.
        case nothing
        /// The other end sends nothing more, by its will or because it is gone.
        case end
    }

    /// Takes what the connection has, without waiting, into the front of `buffer`.
    borrowing func receive(into buffer: inout [UInt8]) -> Reception {
        while true {
            let count = buffer.withUnsafeMutableBytes {
                recv(number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
            }
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            switch errno {
            case EAGAIN: return .nothing
            case EINTR: continue
            default: return .end
            }
        }
    }

    /// Hands over of `bytes` what the connection takes without waiting.
    ///
    /// - Returns: How many it took.
    /// - Throws: ``SystemError`` where it will never take any.
    borrowing func send(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
        while true {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    number, $0.baseAddress, $0.count,
                    Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            }
            if count >= 0 { return count }
            if errno == EAGAIN { return 0 }
            if errno != EINTR { throw .last }
        }
    }

    /// Tells the other end that nothing more will be sent; it may still send.
    borrowing func endSending() { shutdown(number, Int32(SHUT_WR)) }
}
