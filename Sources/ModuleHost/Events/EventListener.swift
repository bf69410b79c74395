/// An object that hears events of one kind: by the kind's own protocol, or as one that hears many
/// kinds by one method.
struct EventListener<Responder> {
    /// The object as what the kind's protocol makes it; nil if it does not conform.
    let module: Responder?
    /// The object as one that hears events by one method; nil if it conforms to the kind's protocol.
    let wildcard: (any WildcardResponder)?

    /// Creates a listener; nil if the object does not hear events of the kind.
    init?(_ object: AnyObject, of kind: EventKind) {
        if let module = object as? Responder {
            self.module = module
            wildcard = nil
            return
        }
        module = nil
        if let responder = object as? any EveryEventResponder {
            wildcard = EveryEvent(responder: responder)
        } else if let responder = object as? any WildcardResponder, responder.hears(kind) {
            wildcard = responder
        } else {
            return nil
        }
    }
}

/// An object that hears events of many kinds by one method.
protocol WildcardResponder {
    /// Returns whether it hears events of a kind; asked once for each kind.
    func hears(_ kind: EventKind) -> Bool

    /// The topics of the messages that it hears.
    var topics: [String] { get }

    /// Tells it of an event.
    func hear(_ event: LifecycleEvent) throws -> EventReply
}

private struct EveryEvent: WildcardResponder {
    let responder: any EveryEventResponder

    func hears(_: EventKind) -> Bool { true }

    var topics: [String] { ["*"] }

    func hear(_ event: LifecycleEvent) throws -> EventReply {
        try responder.didHear(event.kind)
        return event.kind.wantsFetchResult ? .fetch(.noData) : .heard
    }
}
