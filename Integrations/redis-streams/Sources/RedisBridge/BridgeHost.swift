import EventStreams

/// An event of another host, for the inbox of this one.
public struct IncomingEvent: Hashable, Sendable {
    /// The sender's id, or the stream and position: an inbox accepts each only once.
    public internal(set) var id: String
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

extension IncomingEvent {
    init(_ event: StreamEvent, in entry: StreamEntry) {
        self.init(
            id: event.id ?? "\(entry.source)/\(entry.position)", source: "redis:\(entry.source)",
            topic: event.topic, body: event.body)
    }
}

/// The outcome of delivering an event to the modules.
public enum WorkOutcome: Hashable, Sendable {
    /// The modules have received it, now or before, or it is a dead letter of this host.
    case delivered
    /// A module has yet to receive it, or to answer; the inbox keeps it for that. Delivering it again says whether it has.
    case waiting
    /// No module was there to receive it, in words.
    case unheard(String)
    /// The event is not valid, with the reason: sending it again is of no use.
    case invalid(String)
    /// The inbox does not accept the event now, with the reason.
    case notNow(String)
    /// The host or the bridge ends before.
    case left
}

/// The parts of a host that a bridge uses.
///
/// - Thread: Any.
public protocol BridgeHost: Sendable {
    /// Sends events to the inbox, in their order.
    ///
    /// - Returns: The outcome of each.
    func send(_ events: [IncomingEvent]) async -> [IncomingOutcome]

    /// Sends an event to the inbox, and waits until the modules have received it.
    ///
    /// Returns early if the bridge shall end.
    func deliver(_ event: IncomingEvent) async -> WorkOutcome

    /// Logs what a person should know.
    func notice(_ message: String)

    /// Logs a condition that lasts, or what a person must do.
    func warning(_ message: String)

    /// Waits; returns early if the bridge shall end.
    func wait(_ duration: Duration) async
}
