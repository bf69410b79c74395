import AppService
import Synchronization

/// The reply to a call: given once, by any thread, at any time.
///
/// If it is released without a result, the caller receives an internal error: no caller waits for ever
/// because of a forgotten reply. A reply to a notification is discarded.
package final class RPCReply: Sendable {
    private let ticket: RPCSession.Ticket
    private let deliver: @Sendable (RPCSession.Ticket, [UInt8]) -> Void
    private let onFailure: (@Sendable (RPCError) -> Void)?
    private let isGiven = Atomic(false)
    /// The call as an item in flight: until the reply is released, or something else owns it.
    private let load: Guarded<InFlight?>

    /// - Parameters:
    ///   - ticket: The ticket with which the session passed the request on.
    ///   - load: The call as an item in flight; nil if it is not counted.
    ///   - onFailure: Called with an error before it is sent.
    ///   - deliver: Passes the response to the other end; without bytes where none is sent.
    init(
        to ticket: RPCSession.Ticket, load: consuming InFlight? = nil,
        onFailure: (@Sendable (RPCError) -> Void)? = nil,
        through deliver: @escaping @Sendable (RPCSession.Ticket, [UInt8]) -> Void
    ) {
        self.ticket = ticket
        self.load = Guarded(load)
        self.onFailure = onFailure
        self.deliver = deliver
    }

    /// Returns the same reply as another object, which takes the place of this one.
    ///
    /// - Parameter body: Called with an error before it is sent.
    func noting(_ body: @escaping @Sendable (RPCError) -> Void) -> RPCReply {
        guard !isGiven.exchange(true, ordering: .relaxed) else { return self }
        return RPCReply(to: ticket, load: takeLoad(), onFailure: body, through: deliver)
    }

    /// Returns the call as an item in flight, for what it has begun: the item is no longer done with the reply.
    ///
    /// - Returns: Nil from the second time on, and for a call that is not counted.
    func takeLoad() -> InFlight? { load.withLock { $0.take() } }

    deinit { fail(.internalError("the call was released without an answer")) }

    /// Completes the call with a result.
    ///
    /// - Parameter result: Writes exactly one value.
    package func succeed(_ result: (inout JSONWriter) -> Void) {
        give { $0.rpcResult(id: $1, result) }
    }

    /// Completes the call with a result that is already JSON text: one value, which is not checked.
    package func succeed(raw text: some Sequence<UInt8>) {
        succeed { $0.raw(text) }
    }

    /// Completes the call with an error.
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
