/// An event of another host, for the inbox of this one.
public struct IncomingEvent: Hashable, Sendable {
    /// The sender's id, or the stream and position: an inbox accepts each only once.
    public let id: String
    /// The host that accepted the event first, such as `redis:7f3c09aa5d21e846`.
    public let source: String
    /// The topic of the message.
    public let topic: String
    /// The payload of the message, as JSON text that was not checked.
    public let body: String
}

/// The outcome of sending an event to the inbox.
public enum IncomingOutcome: Hashable, Sendable {
    /// The event is on the disk, now or from before.
    case accepted
    /// The event is not valid, with the reason: sending it again is of no use.
    case invalid(String)
    /// The inbox does not accept the event now, with the reason.
    case notNow(String)
}

/// The parts of a host that a bridge uses.
///
/// - Thread: Any.
public protocol BridgeHost: Sendable {
    /// Sends events to the inbox, in their order.
    ///
    /// - Returns: The outcome of each.
    func send(_ events: [IncomingEvent]) async -> [IncomingOutcome]

    /// Logs what a person should know.
    func notice(_ message: String)

    /// Logs a condition that lasts, or what a person must do.
    func warning(_ message: String)

    /// Waits; returns early if the bridge shall end.
    func wait(_ duration: Duration) async
}
