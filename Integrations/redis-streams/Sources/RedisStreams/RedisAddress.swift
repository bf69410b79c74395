public import EventStreams

/// The place of a Redis server.
public struct RedisAddress: Hashable, Sendable {
    /// A way to a server.
    enum Place: Hashable {
        case socket(String)
        case host(String, port: UInt16)
    }

    let place: Place
    /// The number of the database.
    let database: Int
    /// The user, if it is not the default one.
    let user: String?

    /// Reads the URL of a server: `redis://HOST:PORT/DATABASE` or `unix:PATH`.
    ///
    /// A user may stand before the host, a password may not: URLs are seen where passwords must not be.
    ///
    /// - Parameter url: The URL. The port is 6379 without one, the database 0.
    /// - Throws: ``StreamError/invalid(_:)``, whose text has no part of a URL in which a password may be.
    public init(url: String) throws(StreamError) {
        if let path = url.dropping("unix:") {
            guard path.utf8.first == UInt8(ascii: "/"), path.utf8.count <= 107,
                !path.utf8.contains(0)
            else {
                throw .invalid(
                    "'url' must have the path of a socket, such as 'unix:/run/redis/redis.sock', of at most 107 bytes"
                )
            }
            place = .socket(String(path))
            (database, user) = (0, nil)
            return
        }
        guard let rest = url.dropping("redis://") else {
            throw .invalid(
                url.dropping("rediss://") == nil
                    ? "'url' must begin with 'redis://' or 'unix:'"
                    : "'url' begins with 'rediss://', but TLS needs a tunnel: give the URL of its end on this machine, such as 'unix:/run/redis/tunnel.sock'"
            )
        }
        let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let database = parts.count == 1 || parts[1].isEmpty ? 0 : Int(parts[1])
        guard let database, (0...1 << 20).contains(database) else {
            throw .invalid("'url' must end with the number of a database, such as '/0'")
        }
        var authority = parts[0]
        if let at = authority.lastIndex(of: "@") {
            let user = authority[..<at]
            guard !user.contains(":") else {
                throw .invalid(
                    "'url' must not have a password, since URLs are shown: use 'passwordFile' or 'password'"
                )
            }
            guard !user.isEmpty, !user.contains("@") else {
                throw .invalid("'url' has no user before the '@'")
            }
            self.user = String(user)
            authority = authority[authority.index(after: at)...]
        } else {
            user = nil
        }
        self.database = database
        place = try Self.place(authority)
    }

    private static func place(_ authority: Substring) throws(StreamError) -> Place {
        var (host, port) = (authority, Substring("6379"))
        if authority.first == "[", let end = authority.firstIndex(of: "]") {
            host = authority[authority.index(after: authority.startIndex)..<end]
            let rest = authority[authority.index(after: end)...]
            if rest.first == ":" { port = rest.dropFirst() } else if !rest.isEmpty { port = "" }
        } else if let colon = authority.lastIndex(of: ":") {
            (host, port) = (authority[..<colon], authority[authority.index(after: colon)...])
        }
        guard !host.isEmpty, host.utf8.count <= 255,
            host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { throw .invalid("'url' must have the name or address of a host") }
        guard let number = UInt16(port), number > 0 else {
            throw .invalid("'url' must have a port from 1 to 65535, or none")
        }
        return .host(String(host), port: number)
    }

    /// Whether what is sent there stays on this machine.
    public var isLocal: Bool {
        switch place {
        case .socket: true
        case .host(let host, _):
            host == "localhost" || host == "::1" || Self.isLoopback(host)
        }
    }

    /// Four numbers, the first of which is 127: `127.0.0.1.example.com` is another machine.
    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil } && parts[0] == "127"
    }
}

extension RedisAddress: CustomStringConvertible {
    /// The place, for messages.
    public var description: String {
        switch place {
        case .socket(let path): "Redis at \(quoted(path))"
        case .host(let host, let port): "Redis at \(quoted("\(host):\(port)"))"
        }
    }
}

extension String {
    /// The rest behind a beginning; nil if the text begins otherwise.
    fileprivate func dropping(_ beginning: String) -> Substring? {
        hasPrefix(beginning) ? dropFirst(beginning.count) : nil
    }
}
