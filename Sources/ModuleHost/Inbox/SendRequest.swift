import AppService

/// A checked request to deliver an event.
struct SendRequest {
    /// The event; a durable one comes from the inbox.
    let event: LifecycleEvent
    /// The record for the inbox; nil for an event that is not durable and is delivered at once.
    let record: InboxRecord?

    /// - Parameters:
    ///   - name: The event's name.
    ///   - payload: The payload.
    ///   - id: The sender's id for it, if it has one.
    ///   - source: Where it comes from, in the sender's words.
    ///   - trace: The trace that it is a part of; an event that is not durable has none.
    ///   - origin: The origin of the request, and of an event that is not durable.
    /// - Throws: The error in it.
    init(
        _ name: String, payload: JSONValue?, id: String?, source: String? = nil,
        trace: TraceContext? = nil, from origin: Origin
    ) throws(RPCError) {
        guard let kind = EventKind(rawValue: name) else {
            let near = nearestName(to: name, in: EventKind.allCases.map(\.rawValue))
                .map { "; did you mean '\($0)'?" }
            throw .invalidParameters("/event: unknown event \(quoted(name))\(near ?? "")")
        }
        do throws(EventError) {
            event = try LifecycleEvent(
                kind, payload: payload, origin: kind.isDurable ? .inbox : origin
            ).traced(by: kind.isDurable ? trace : nil)
        } catch {
            throw .invalidParameters("\(error)")
        }
        guard kind.isDurable else {
            guard id == nil else {
                throw .invalidParameters("event '\(kind.rawValue)' is not durable: it has no id")
            }
            guard source == nil else {
                throw .invalidParameters(
                    "event '\(kind.rawValue)' is not durable: it has no source")
            }
            record = nil
            return
        }
        if let id, !(1...InboxRecord.longestID).contains(id.utf8.count) {
            throw .invalidParameters("/id: 1 to \(InboxRecord.longestID) bytes")
        }
        if let source, !(1...InboxRecord.longestSource).contains(source.utf8.count) {
            throw .invalidParameters("/source: 1 to \(InboxRecord.longestSource) bytes")
        }
        record = InboxRecord(
            event: event, payload: payload, id: id, time: WallTime.now().iso8601,
            modules: nil, source: source, isRetried: false)
    }
}

extension InboxRecord {
    /// The event as a line of the inbox.
    var line: [UInt8] {
        Self.line(
            event.kind, payload: payload, id: id, time: time, source: source, trace: trace)
    }
}

extension RPCError {
    /// Returns the error for an event that the inbox did not accept.
    static func notAccepted(_ error: any Error) -> RPCError {
        // Of the host that controls this process.
        if let error = error as? RPCError { return error }
        if let conflict = error as? IDConflict { return .invalidParameters("/id: \(conflict)") }
        let reason = (error as? InboxError)?.refusal ?? "\(error)"
        return RPCError(.notAccepted, "not accepted", detail: reason)
    }
}
