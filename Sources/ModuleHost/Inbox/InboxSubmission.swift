/// An event that is handed to the inbox of a running host.
package struct InboxSubmission: Sendable {
    /// The acceptance of a submission.
    package enum Acceptance: Sendable {
        /// It is on the disk at this place, and will be delivered whatever happens.
        case accepted(EventPosition)
        /// An event of this id was accepted before: nothing was added.
        case duplicate
        /// It is not accepted; nothing of it is left.
        case failed(any Error)
    }

    /// The result of the delivery of an accepted event.
    package enum DeliveryResult: Sendable {
        case done(EventOutcome)
        /// An event of this id stood in the inbox before.
        case duplicate
        /// It was moved to the dead letters, for this reason.
        case rejected(String)
        /// The app stops before it comes to it: the next host delivers it.
        case left
    }

    /// The event as a line of the inbox.
    let line: [UInt8]
    let id: String?
    /// The same, read, which saves reading it again; nil if it was not read.
    let record: InboxRecord?
    /// Called once, on any thread, before the event is delivered.
    let onAcceptance: @Sendable (Acceptance) -> Void
    /// Called at most once, after an accepted one, on any thread; nil if no caller waits.
    let onDelivery: (@Sendable (DeliveryResult) -> Void)?

    /// Makes a submission.
    ///
    /// - Parameters:
    ///   - line: The event as a line of the inbox, checked.
    ///   - id: Its id, if it has one.
    ///   - record: What reading the line gives; nil to have it read.
    ///   - onAcceptance: Called once, on any thread, what became of it.
    ///   - onDelivery: Called once, where it was accepted, what came of its delivery.
    package init(
        line: [UInt8], id: String?, record: InboxRecord? = nil,
        onAcceptance: @escaping @Sendable (Acceptance) -> Void,
        onDelivery: (@Sendable (DeliveryResult) -> Void)? = nil
    ) {
        self.line = line
        self.id = id
        self.record = record
        self.onAcceptance = onAcceptance
        self.onDelivery = onDelivery
    }
}
