/// An event that is submitted to the inbox of a running host.
package struct InboxSubmission: Sendable {
    /// The acceptance of a submission.
    package enum Acceptance: Sendable {
        /// The event is on the disk at this position, and will be delivered whatever happens.
        case accepted(EventPosition)
        /// This event was accepted before, with this id: nothing was added.
        case duplicate
        /// The event is not accepted; no part of it is left. An ``IDConflict`` where its id was used for another one.
        case failed(any Error)
    }

    /// The result of the delivery of an accepted event.
    package enum DeliveryResult: Sendable {
        case done(EventOutcome)
        /// It is in the inbox already, with the same id.
        case duplicate
        /// It is in the inbox already, and not every module has received it.
        case pending
        /// The event was moved to the dead letters, for this reason.
        case rejected(String)
        /// The app stops before the event is delivered: the next host delivers it.
        case left
    }

    /// The closures by which a sender receives the acceptance and the delivery of its event.
    struct Sender: Sendable {
        /// Called once, on any thread, before the event is delivered.
        let onAcceptance: @Sendable (Acceptance) -> Void
        /// Called at most once, for an accepted event, on any thread; nil if no caller waits.
        let onDelivery: (@Sendable (DeliveryResult) -> Void)?
    }

    /// The event as a line of the inbox.
    let line: [UInt8]
    let id: String?
    /// The module whose events are to stand in the order in which they were submitted; nil where that does not matter.
    let module: ModuleID?
    /// The parsed line, so that it is not parsed again; nil if it was not parsed.
    let record: InboxRecord?
    let sender: Sender

    var onAcceptance: @Sendable (Acceptance) -> Void { sender.onAcceptance }
    var onDelivery: (@Sendable (DeliveryResult) -> Void)? { sender.onDelivery }

    /// The parsed line; nil if it is not a record.
    var parsed: InboxRecord? { record ?? (try? InboxRecord(parsing: line[...])) }

    /// Creates a submission.
    ///
    /// - Parameters:
    ///   - line: The event as a line of the inbox, checked.
    ///   - id: The id of the event, if it has one.
    ///   - module: The module whose events are to stand in the order in which they were submitted.
    ///   - record: The parsed line; nil to have it parsed.
    ///   - onAcceptance: Called once, on any thread, with the acceptance.
    ///   - onDelivery: Called once, where the event was accepted, with the result of its delivery.
    package init(
        line: [UInt8], id: String?, of module: ModuleID? = nil, record: InboxRecord? = nil,
        onAcceptance: @escaping @Sendable (Acceptance) -> Void,
        onDelivery: (@Sendable (DeliveryResult) -> Void)? = nil
    ) {
        self.line = line
        self.id = id
        self.module = module
        self.record = record
        sender = Sender(onAcceptance: onAcceptance, onDelivery: onDelivery)
    }
}
