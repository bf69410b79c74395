import Synchronization

/// The answer that is owed to a call: given once, by any thread, at any time.
///
/// Letting go of it without an answer gives one too, an internal error: no caller waits for ever
/// because a handler forgot him. An answer to a notification is thrown away.
package final class RPCReply: Sendable {
    private let ticket: RPCSession.Ticket
    private let deliver: @Sendable (RPCSession.Ticket, [UInt8]) -> Void
    private let onFailure: (@Sendable (RPCError) -> Void)?
    private let isGiven = Atomic(false)
    /// The call as something in flight: until it is answered or dropped.
    let load: InFlight?

    /// - Parameters:
    ///   - ticket: What the session handed the request on with.
    ///   - load: The call as something in flight; nil if it is not counted.
    ///   - onFailure: Is told of an error before it is given.
    ///   - deliver: Takes the response to the other end; without bytes where none is sent.
    init(
        to ticket: RPCSession.Ticket, load: InFlight? = nil,
        onFailure: (@Sendable (RPCError) -> Void)? = nil,
        through deliver: @escaping @Sendable (RPCSession.Ticket, [UInt8]) -> Void
    ) {
        self.ticket = ticket
        self.load = load
        self.onFailure = onFailure
        self.deliver = deliver
    }

    /// The same answer, to be given by the reply that is returned and no longer by this one.
    ///
    /// - Parameter body: Is told of an error before it is given.
    /// - Returns: The other reply.
    func noting(_ body: @escaping @Sendable (RPCError) -> Void) -> RPCReply {
        guard !isGiven.exchange(true, ordering: .relaxed) else { return self }
        return RPCReply(to: ticket, load: load, onFailure: body, through: deliver)
    }

    deinit { fail(.internalError("the call was let go of without an answer")) }

    /// Answers with a result.
    ///
    /// - Parameter result: Writes exactly one value.
    package func succeed(_ result: (inout JSONWriter) -> Void) {
        give { $0.rpcResult(id: $1, result) }
    }

    /// Answers with a result that is JSON text already: one value, which is not checked.
    package func succeed(raw text: some Sequence<UInt8>) {
        succeed { $0.raw(text) }
    }

    /// Answers with an error.
    package func fail(_ error: RPCError) {
        give({ $0.rpcError(error, id: $1) }, failure: error)
    }

    private func give(
        _ write: (inout JSONWriter, RPCID) -> Void, failure: RPCError? = nil
    ) {
        guard !isGiven.exchange(true, ordering: .relaxed) else { return }
        if let failure { onFailure?(failure) }
        guard let id = ticket.id else { return deliver(ticket, []) }
        var json = JSONWriter(capacity: 128)
        write(&json, id)
        deliver(ticket, json.bytes)
    }
}
