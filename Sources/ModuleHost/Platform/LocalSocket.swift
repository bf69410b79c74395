import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// UNIX stream sockets, by the path of their file.
package enum LocalSocket {
    /// The longest path that an address can hold, in bytes.
    ///
    /// A socket with a longer path is reached through the descriptor of its folder, which takes `/proc`.
    static let pathLimit = 107

    /// Creates a socket that takes connections at `path`, and replaces a file or an unanswered socket of that
    /// name.
    ///
    /// The socket gets its name only when it has its permissions and takes connections: a client never finds
    /// a socket that is open to others, or that refuses it for a moment.
    ///
    /// - Parameters:
    ///   - path: The socket's path; its folder must exist.
    ///   - mode: Its permissions, whatever the umask. A user with write permission may connect.
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
    /// - Parameter time: How long to wait where too many other connections wait already.
    /// - Throws: ``SystemError``: `notFound` or `connectionRefused` if there is no listener,
    ///   `accessDenied` where this user may not, `wouldBlock` on a timeout.
    static func connect(to path: String, within time: Duration) throws(SystemError) -> Descriptor {
        let socket = try make(nonblocking: false)
        let (seconds, attoseconds) = time.components
        // Zero would mean no limit.
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
        /// The number of the process, where it is known.
        let processID: Int32?
    }

    /// Finds out whether connections to `path` are taken; never waits.
    ///
    /// - Returns: The process that takes them, also if it is stopped or too busy to accept one; nil if no
    ///   process takes them, or the file at `path` cannot be connected to.
    static func answerer(at path: String) -> Answerer? {
        do throws(SystemError) {
            let socket = try make(nonblocking: true)
            try connect(socket, to: path)
            // A process in another container has no number here.
            let process = (try? socket.peer())?.processID ?? 0
            return Answerer(processID: process > 0 ? process : nil)
        } catch {
            // The backlog is full.
            return error == .wouldBlock ? Answerer(processID: nil) : nil
        }
    }

    /// Creates two sockets that are connected to each other.
    ///
    /// - Parameter nonblocking: Whether calls return at once.
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

    /// Removes the socket's file; a file that does not exist is not an error.
    ///
    /// - Parameter identity: The identity of the file (``identity(of:)``); another file that has
    ///   the name by now stays.
    static func remove(_ path: String, ifStill identity: String?) {
        if identity == nil || identity == self.identity(of: path) { unlink(path) }
    }

    /// Returns the device and the inode of the file at a path, links not followed; nil for none.
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
    /// Accepts a connection that waits at this socket.
    ///
    /// - Returns: The connection, or nil where none waits.
    /// - Throws: ``SystemError``, such as having no room for another descriptor.
    borrowing func accept() throws(SystemError) -> Descriptor? {
        while true {
            let number = Glibc.accept(self.number, nil, nil)
            if number >= 0 {
                // Not in one step: `accept4` is not visible to Swift. A child that is spawned between the two
                // calls does not inherit it either, because children are passed their descriptors explicitly.
                _ = fcntl(number, F_SETFD, FD_CLOEXEC)
                return Descriptor(owning: number)
            }
            // The connection that waited may be closed again.
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
        /// The number of bytes read.
        case bytes(Int)
        /// No bytes are available yet.
        case nothing
        /// The other end sends nothing more, intentionally or because it has ended.
        case end
    }

    /// Reads the available bytes, without waiting, into the front of `buffer`.
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

    /// Sends as many of `bytes` as the connection takes without waiting.
    ///
    /// - Returns: The number of bytes that were sent.
    /// - Throws: ``SystemError`` where the connection will never take any.
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

    /// Ends the sending direction of the connection; the other end may still send.
    borrowing func endSending() { shutdown(number, Int32(SHUT_WR)) }
}
