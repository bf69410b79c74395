/// The entry of an event in the inbox.
///
/// A class, so that an event without an entry carries only one word more.
package final class InboxEntry: Sendable {
    /// The position at which it begins.
    package let position: EventPosition
    /// The position at which the next entry begins.
    package let end: EventPosition
    /// The id that the sender gave the event; nil where its position alone identifies it.
    package let id: String?
    /// The place that the event comes from, in its sender's words; nil where that does not say it.
    package let source: String?
    /// The number of the attempt to deliver it, from 1.
    package let attempt: Int
    /// Whether a module may have received the event before.
    package let isRepeated: Bool
    /// The only modules that are to receive the event, since all others have received it; nil for all.
    package let only: Set<ModuleID>?

    package init(
        position: EventPosition, end: EventPosition, id: String? = nil, source: String? = nil,
        attempt: Int = 1, isRepeated: Bool = false, only: Set<ModuleID>? = nil
    ) {
        self.position = position
        self.end = end
        self.id = id
        self.source = source
        self.attempt = attempt
        self.isRepeated = isRepeated || attempt > 1
        self.only = only
    }

    /// The entry, as one that a module has received before.
    var repeated: InboxEntry {
        InboxEntry(
            position: position, end: end, id: id, source: source, attempt: attempt,
            isRepeated: true, only: only)
    }

    /// Returns whether the event is for a module.
    func isFor(_ module: ModuleID?) -> Bool {
        guard let only else { return true }
        return module.map(only.contains) ?? false
    }
}

extension LifecycleEvent {
    /// The position of the event in the inbox; nil for one that is not durable.
    ///
    /// Positions grow in the order of acceptance and are never reused. A module that stores the position
    /// together with the event's effect can distinguish a repeated event from a new one.
    public var position: EventPosition? { entry?.position }

    /// The id of a durable event: the one that its sender gave it, or else its position as text; nil for an
    /// event that is not durable.
    public var id: String? { entry.map { $0.id ?? $0.position.description } }

    /// The place that a durable event comes from, in its sender's words, such as another host; nil where that does not say it.
    ///
    /// The host does not use it, and does not check it: a program that sends events on, to other hosts, tells by it which
    /// ones came from there.
    public var source: String? { entry?.source }

    /// The number of the attempt to deliver the event, from 1.
    ///
    /// More than 1 only for a durable event during whose delivery the host died before: a module may have
    /// received it then.
    public var attempt: Int { entry?.attempt ?? 1 }

    /// Whether a module may have received the event before.
    ///
    /// True for a durable event of which more than one ``attempt`` was made, whose answer had not come when the last host
    /// ended, or which was in the inbox when the machine went down and may have been delivered before that.
    public var isRepeated: Bool { entry?.isRepeated ?? false }

    /// Returns whether the event is for a module.
    func isFor(_ module: ModuleID?) -> Bool {
        entry?.isFor(module) ?? true
    }

    /// Returns the event with an entry of the inbox.
    package func standing(at entry: InboxEntry) -> LifecycleEvent {
        var event = self
        event.entry = entry
        return event
    }
}
