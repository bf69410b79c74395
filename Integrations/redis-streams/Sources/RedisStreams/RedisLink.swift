import EventStreams

/// A connection of one actor, which is made when it is needed, and made again in a later call after it was lost.
struct RedisLink {
    let settings: RedisSettings
    /// Whether the last connection was lost to a reply beyond the limits.
    private(set) var isReplyTooLarge = false
    private var connection: RedisConnection?

    init(_ settings: RedisSettings) { self.settings = settings }

    /// Whether the next call makes a connection.
    var isNew: Bool { connection == nil }

    /// Calls code with the connection, which is closed if that fails.
    mutating func connected<Result>(
        _ body: (RedisConnection) throws(StreamError) -> Result
    ) throws(StreamError) -> Result {
        let current =
            if let connection { connection } else { try RedisConnection.login(settings) }
        defer { isReplyTooLarge = current.isReplyTooLarge }
        // Only after success it is used again.
        connection = nil
        let result = try body(current)
        connection = current
        return result
    }
}
