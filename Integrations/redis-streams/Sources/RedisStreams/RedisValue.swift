public import EventStreams

/// A value of an app beside its streams, such as a document for all hosts: the key `APP:NAME`.
///
/// Each call has a connection of its own.
///
/// - Thread: Any; each call waits for the server, for `answerSeconds` of the settings at each step.
public struct RedisValue: Sendable {
    private let settings: RedisSettings
    private let name: String
    private var key: String { "\(settings.app):\(name)" }

    /// Creates a place for a value; a call connects.
    ///
    /// - Parameters:
    ///   - settings: The server and the app.
    ///   - name: A word that neither is a host's id nor `hosts`, `seen`, `groups` or `dead`.
    public init(_ settings: RedisSettings, name: String) {
        (self.settings, self.name) = (settings, name)
    }

    /// Returns the value.
    ///
    /// - Parameter limit: The bytes that it may have; the server sends no more than one beyond.
    /// - Returns: Nil if there is none.
    /// - Throws: ``StreamError``; `invalid` if the value is larger.
    public func read(limit: Int) throws(StreamError) -> [UInt8]? {
        let action = "read \(quoted(key))"
        let connection = try RedisConnection.login(settings)
        let reply = try connection.one(
            RedisCommand("GETRANGE", key, "0", String(limit)), action)
        guard let bytes = reply.value else {
            throw reply.notExpected(action, at: settings.address)
        }
        guard bytes.count <= limit else {
            throw .invalid(
                "\(quoted(key)) in \(settings.address) has more than \(limit) bytes")
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Replaces the value.
    ///
    /// - Throws: ``StreamError``; after `away` it is not known whether the value was replaced.
    public func write(_ bytes: [UInt8]) throws(StreamError) {
        let connection = try RedisConnection.login(settings)
        try connection.one(
            RedisCommand([Array("SET".utf8), Array(key.utf8), bytes]), "write \(quoted(key))")
    }
}

extension RedisValue: CustomStringConvertible {
    /// The key and the server, for messages.
    public var description: String { "\(quoted(key)) in \(settings.address)" }
}
