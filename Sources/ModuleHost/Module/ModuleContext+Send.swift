/// The acceptance of an event by the inbox.
public enum EventAcceptance: Hashable, Sendable {
    /// The event is on the disk at this position, and will be delivered whatever happens.
    case accepted(EventPosition)
    /// An event with this id was accepted before: nothing was added.
    case duplicate
}

/// The delivery of an event that was accepted by the inbox.
public enum EventDelivery: Hashable, Sendable {
    /// Every module for which it is has answered: the numbers of those that have returned, and that have thrown.
    case delivered(by: Int, failed: Int)
    /// Modules have yet to receive it, or to answer: they are unresponsive, or want it later; or none has received it, since modules have failed or
    /// are not made. The inbox keeps it for them.
    case waiting
    /// No module was there to receive it, in words.
    case unheard(String)
    /// The URL was not opened, for this reason.
    case unopened(String)
    /// It is a dead letter, for this reason.
    case deadLetter(String)
    /// The app stops before that: the next host delivers it.
    case left
    /// An event with this id was accepted before, and is done. Nothing was added.
    case duplicate
}

/// The reason why an event was not accepted by the inbox; no part of it is left.
public struct SendError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Whether the event itself is not valid, or its id is another event's: sending it again is of no use.
    public let isInvalid: Bool
    /// The reason, in words.
    public let description: String

    init(_ error: RPCError) {
        isInvalid = error.code == .invalidParameters
        let detail = error.detail ?? error.message
        description = isInvalid ? detail : "\(error.message): \(detail)"
    }
}

extension ModuleContext {
    /// Sends an event to the app, by way of the inbox.
    ///
    /// When this returns the event is on the disk, and will be delivered whatever happens to this host. The lane does not wait for
    /// the disk: other modules, and this one, receive events meanwhile.
    ///
    /// - Order: Events that a module sends one after the other, without waiting in between, have their positions in this order.
    /// - Thread: Code of the module, or any other.
    /// - Parameters:
    ///   - event: An event that has a payload, such as `.message`, `.push` or `.openURL`.
    ///   - payload: The payload, as docs/modules.md describes it for the event, encoded as JSON.
    ///   - id: 1 to 200 bytes that identify the event: a second one with this id is not added.
    ///   - source: Where the event comes from, 1 to 64 bytes; see ``LifecycleEvent/source``.
    /// - Returns: Its position, or that it was accepted before.
    /// - Throws: ``SendError``, and any error of encoding the payload.
    @discardableResult
    public nonisolated(nonsending) func send(
        _ event: EventKind, _ payload: some Encodable, id: String? = nil, source: String? = nil
    ) async throws -> EventAcceptance {
        let record = try record(event, payload, id, source)
        let (services, module) = (host.services, self.id)
        let acceptance = await withCheckedContinuation { continuation in
            services.submit(
                record, of: module, onAcceptance: { continuation.resume(returning: $0) })
        }
        return try acceptance.sendOutcome()
    }

    /// Sends an event to the app, by way of the inbox, and waits until it is delivered.
    ///
    /// For an app whose modules do work that came from elsewhere, such as from a queue, and for a sender that must say that it is
    /// done. The event is as safe as by ``send(_:_:id:source:)``, also where the wait ends early. A module that waits in a handler
    /// for an event that it receives itself waits for itself, until its deadline.
    ///
    /// - Order: As ``send(_:_:id:source:)``; events may be delivered in another order where a module has several at a time.
    /// - Thread: Code of the module, or any other.
    /// - Parameters: Those of ``send(_:_:id:source:)``.
    /// - Returns: The delivery, when all modules have answered, or their deadlines are over. To wait on after ``EventDelivery/waiting``,
    ///   deliver it again with the same id.
    /// - Throws: ``SendError``, and any error of encoding the payload.
    public nonisolated(nonsending) func deliver(
        _ event: EventKind, _ payload: some Encodable, id: String? = nil, source: String? = nil
    ) async throws -> EventDelivery {
        let record = try record(event, payload, id, source)
        let (services, module) = (host.services, self.id)
        return try await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<EventDelivery, SendError>, Never>) in
            services.submit(
                record, of: module,
                onAcceptance: { acceptance in
                    switch acceptance {
                    case .accepted: break
                    case .duplicate: continuation.resume(returning: .success(.duplicate))
                    case .failed(let error):
                        continuation.resume(returning: .failure(SendError(.notAccepted(error))))
                    }
                }, onDelivery: { continuation.resume(returning: .success(EventDelivery($0))) })
        }.get()
    }

    private func record(
        _ event: EventKind, _ payload: some Encodable, _ id: String?, _ source: String?
    ) throws -> InboxRecord {
        try SendRequest.record(
            event, payload: JSONValue(parsing: JSONEncoding.bytes(payload)), id: id, source: source,
            trace: host.services.gate.lane.currentTrace, from: .local(self.id))
    }
}

extension EventDelivery {
    fileprivate init(_ result: InboxSubmission.DeliveryResult) {
        switch result {
        case .done(let outcome):
            self =
                if outcome.overdue + outcome.later > 0 {
                    .waiting
                } else if let reason = outcome.undelivered {
                    // Of a program that has failed it is not known whether it receives the event.
                    outcome.waitsFor.isEmpty ? .unheard(reason) : .waiting
                } else if let reason = outcome.failure {
                    .unopened(reason)
                } else {
                    .delivered(by: outcome.delivered, failed: outcome.failed)
                }
        case .pending: self = .waiting
        case .duplicate: self = .duplicate
        case .rejected(let reason): self = .deadLetter(reason)
        case .left: self = .left
        }
    }
}

extension SendRequest {
    /// Returns the record of an event that Swift code sends.
    ///
    /// - Throws: The error in it.
    static func record(
        _ event: EventKind, payload: JSONValue, id: String?, source: String?, trace: TraceContext?,
        from origin: Origin
    ) throws(SendError) -> InboxRecord {
        do throws(RPCError) {
            let sent = try SendRequest(
                event.rawValue, payload: payload, id: id, source: source, trace: trace,
                from: origin)
            guard let record = sent.record else {
                throw .invalidParameters(
                    "event '\(event.rawValue)' has no payload, and so no place in the inbox")
            }
            return record
        } catch {
            throw SendError(error)
        }
    }
}

extension InboxSubmission.Acceptance {
    /// Returns the acceptance of an event that Swift code has sent.
    ///
    /// - Throws: The reason why the event was not accepted.
    func sendOutcome() throws(SendError) -> EventAcceptance {
        switch self {
        case .accepted(let position): .accepted(position)
        case .duplicate: .duplicate
        case .failed(let error): throw SendError(.notAccepted(error))
        }
    }
}
