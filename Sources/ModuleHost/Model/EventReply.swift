/// The reply of a module to an event.
enum EventReply: Sendable {
    /// The module was notified, and the event asks for no other reply.
    case received
    /// The module was not notified: the event does not concern it.
    case notConcerned
    case fetch(FetchResult)
    /// The module receives every event, and so does not count as a receiver of this one.
    case observed(FetchResult?)
    case claim(Bool)
    /// The module was notified, and its reply comes later.
    case open

    /// Whether the reply comes later.
    var isOpen: Bool { if case .open = self { true } else { false } }
}
