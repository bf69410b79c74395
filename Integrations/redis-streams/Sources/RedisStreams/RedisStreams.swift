public import EventStreams

/// An engine on Redis 7 Streams.
///
/// The stream of a host is the key `APP:HOSTID`, and the id of an entry the position of the event, so Redis itself refuses a
/// second one. `APP:hosts` has the mark of each stream's owner, `APP:seen` what each host has taken over, `APP:dead` the dead letters.
///
/// A connection publishes, another reads; each is made when it is needed, and made again in a later call after it was lost.
public struct RedisStreams: StreamEngine {
    private let publisher: RedisPublisher
    private let reader: RedisReader

    /// Creates an engine; it connects with the first call.
    public init(_ settings: RedisSettings, owner: StreamOwner) {
        publisher = RedisPublisher(settings, owner)
        reader = RedisReader(settings)
    }

    /// Publishes events: all of them, or none.
    public func publish(_ window: [StreamEvent]) async throws(StreamError) -> StreamPosition {
        try await publisher.publish(window)
    }

    /// Returns the entries behind the cursors.
    public func read(
        after cursors: [StreamName: StreamPosition], limit: Int
    ) async throws(StreamError) -> [StreamEntry] {
        try await reader.read(after: cursors, limit: limit)
    }

    /// Notes what this host has taken over, and trims.
    public func seen(_ cursors: [StreamName: StreamPosition]) async throws(StreamError) {
        try await publisher.seen(cursors)
    }

    /// Returns the streams of all hosts.
    public func hosts() async throws(StreamError) -> [StreamName: StreamPosition] {
        try await reader.hosts()
    }

    /// Keeps an entry that no host can take over.
    public func dead(_ entry: StreamEntry, reason: String) async throws(StreamError) {
        try await reader.dead(entry, reason: reason)
    }
}
