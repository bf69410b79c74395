/// An engine that carries events between hosts: each host has a stream, which only it writes and all others read.
///
/// An engine belongs to one host, whose ``StreamOwner`` it was created with. Its two directions do not wait for each other:
/// `publish` and `seen` are one, `read`, `hosts` and `dead` the other.
///
/// - Order: Calls of one direction are done one after the other.
/// - Thread: Any. A call may wait for the engine for seconds, on a thread of the engine.
/// - Failure: All throw ``StreamError``. After ``StreamError/away(_:)`` a call may have been done all the same. Each verb may be repeated.
public protocol StreamEngine: Sendable {
    /// Publishes events in their order: all of them, or none.
    ///
    /// Events that the stream has already are not published again. They are compared with those of the stream, so that one is
    /// never taken for another.
    ///
    /// - Parameter window: Events whose positions grow, within the ``StreamLimits``. Each is greater than those of earlier windows, unless
    ///   their publishing failed or its outcome is not known.
    /// - Returns: The position up to which everything is on the disk of the engine.
    func publish(_ window: [StreamEvent]) async throws(StreamError) -> StreamPosition

    /// Returns the entries behind the cursors, those of each source in their order, and none left out.
    ///
    /// If there is none, the call waits for some seconds at most, then returns nothing.
    ///
    /// - Parameters:
    ///   - cursors: The position of the last entry that needs no reading, for each source.
    ///   - limit: The number of entries of each source; fewer are possible.
    func read(
        after cursors: [StreamName: StreamPosition], limit: Int
    ) async throws(StreamError) -> [StreamEntry]

    /// Notes what this host has taken over, and removes entries that every living host has had for some minutes.
    ///
    /// Of the stream of this host nothing is removed beyond its own cursor: up to there its disk says that it has published.
    /// A host is living if it has noted something in the time that the engine was given, whatever it was. Nothing is removed from the
    /// stream of a host as long as no other host lives.
    ///
    /// - Parameter cursors: The positions up to which this host has received, and, for its own stream, has published.
    func seen(_ cursors: [StreamName: StreamPosition]) async throws(StreamError)

    /// Returns the streams of all hosts, this one included, with the position of the last event of each.
    func hosts() async throws(StreamError) -> [StreamName: StreamPosition]

    /// Keeps an entry that no host can take over, with the reason.
    func dead(_ entry: StreamEntry, reason: String) async throws(StreamError)
}
