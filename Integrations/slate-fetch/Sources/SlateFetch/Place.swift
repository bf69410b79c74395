import EventStreams
import RedisStreams

/// The place where a signed slatefile is published: a file, or a key of Redis.
enum Place: Sendable, CustomStringConvertible {
    case file(String)
    case redis(RedisValue)

    /// Reads the name of a place: a path, or the URL of a Redis server.
    ///
    /// - Parameters:
    ///   - text: `unix:PATH` and `redis://…` are servers, everything else is a path.
    ///   - app: The app, with whose name the key in Redis begins.
    ///   - passwordFile: The file with the password of Redis.
    ///   - isInsecureAllowed: Whether a password may be sent unencrypted to another machine.
    init(
        _ text: String, app: String, passwordFile: String? = nil, isInsecureAllowed: Bool = false
    ) throws(StreamError) {
        guard Self.isRedis(text) else {
            guard !text.isEmpty, passwordFile == nil else {
                throw .invalid(
                    text.isEmpty
                        ? "the place is empty: give the path of a file, or the URL of a Redis server"
                        : "a password is for a Redis server, and the place is a file")
            }
            self = .file(text)
            return
        }
        let address = try RedisAddress(url: text)
        try RedisPassword.check(
            isUsed: passwordFile != nil, at: address, isInsecureAllowed: isInsecureAllowed)
        let password: RedisPassword? =
            if let passwordFile { try RedisPassword(file: passwordFile) } else { nil }
        self = .redis(
            RedisValue(
                try RedisSettings(address: address, app: app, password: password),
                name: "slatefile"))
    }

    static func isRedis(_ text: String) -> Bool {
        ["unix:", "redis:", "rediss:"].contains(where: text.hasPrefix)
    }

    var description: String {
        switch self {
        case .file(let path): "'\(path)'"
        case .redis(let value): "\(value)"
        }
    }

    /// Returns the bytes that are published, at most those of an envelope.
    ///
    /// - Thread: Waits for the disk, mount or server, however long that takes.
    /// - Throws: ``Report``.
    func read() throws(Report) -> [UInt8] {
        guard let bytes = try readIfAny() else {
            throw Report(
                .noInput,
                "there is nothing at \(self): nothing is published yet, or what fills the place is not running. Publish with 'slate-fetch sign'"
            )
        }
        return bytes
    }

    /// Returns what ``read()`` does; nil if nothing is published.
    func readIfAny() throws(Report) -> [UInt8]? {
        do {
            switch self {
            case .file(let path): return try DurableFile.read(path, limit: Envelope.limit)
            case .redis(let value): return try value.read(limit: Envelope.limit)
            }
        } catch let error as StreamError {
            if case .away = error { throw Report(.away, error.description) }
            throw Report(.noInput, error.description)
        } catch {
            throw Report(.noInput, "\(error)")
        }
    }

    /// Publishes bytes, in one step.
    ///
    /// - Throws: ``DurableFileError`` or `StreamError`.
    func write(_ bytes: [UInt8]) throws {
        switch self {
        case .file(let path):
            try DurableFile.replace(path, with: bytes, mode: 0o644, isShared: true)
        case .redis(let value): try value.write(bytes)
        }
    }
}
