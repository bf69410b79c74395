/// The acceptance of an event by the inbox.
public enum EventAcceptance: Hashable, Sendable {
    /// The event is on the disk at this position, and will be delivered whatever happens.
    case accepted(EventPosition)
    /// An event with this id was accepted before: nothing was added.
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
        let record = try SendRequest.record(
            event, payload: JSONValue(parsing: JSONEncoding.bytes(payload)), id: id, source: source,
            trace: host.services.gate.lane.currentTrace, from: .local(self.id))
        let (services, sender) = (host.services, self.id)
        let acceptance = await withCheckedContinuation { continuation in
            services.submit(record, of: sender) { continuation.resume(returning: $0) }
        }
        return try acceptance.sendOutcome()
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
