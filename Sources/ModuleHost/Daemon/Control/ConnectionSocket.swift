import AppService

/// The socket of a connection.
///
/// The server's thread uses it; another thread may send the only outstanding answer.
///
/// A client that waits for one answer gets it without a detour: to wake the server's thread takes longer than to send.
/// Answers to requests that a client sends in advance are left to the server's thread, which sends many at once.
final class ConnectionSocket: Sendable {
    /// The largest answer that another thread sends, in bytes.
    ///
    /// A UNIX socket takes that many as a whole or not at all: it divides what is larger than half of its send buffer
    /// (`unix_stream_sendmsg` in Linux).
    private static let limit = 4096

    private final class OpenSocket: Sendable {
        let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }

    private struct State {
        /// The socket; nil when the connection is closed.
        var socket: OpenSocket?
        /// The number of requests without an answer.
        var outstanding = 0
        /// Whether bytes wait to be sent; half a line may have been sent.
        var isQueued = false
        /// Whether other threads may send; not where the server's thread has more to do after an answer.
        var answersDirectly = true
    }

    /// The descriptor, valid until ``close()``.
    let number: Int32
    private let id: ConnectionID
    private let mailbox: ControlMailbox
    private let state: Guarded<State>

    init(
        _ id: ConnectionID, _ socket: consuming Descriptor, mailbox: ControlMailbox
    ) {
        self.id = id
        self.mailbox = mailbox
        number = socket.number
        state = Guarded(State(socket: OpenSocket(socket)))
    }

    // MARK: From any thread

    /// Sends an answer where the client waits for nothing else and the server's thread sleeps; else leaves it to that
    /// thread.
    ///
    /// - Parameter response: The answer, without a newline; empty for a notification.
    func answer(_ ticket: RPCSession.Ticket, with response: [UInt8]) {
        let isSent = state.withLock { state -> Bool in
            state.outstanding -= 1
            guard state.outstanding == 0, ticket.isAlone, !state.isQueued, state.answersDirectly,
                response.count < Self.limit, mailbox.bell.isOwnerAsleep, let socket = state.socket
            else { return false }
            let line = response + [UInt8(ascii: "\n")]
            guard let count = try? socket.descriptor.send(line[...]), count > 0 else {
                return false
            }
            // A partial send requires a send buffer under 8 KiB. No other line may follow half a line.
            if count < line.count { socket.descriptor.endSending() }
            // The letter is added under the lock: `noteRequest()` and `setDirectAnswers(_:)` wait for it, and the
            // server's thread reads its mail after them.
            mailbox.post(.answered(id), rings: false)
            return true
        }
        if !isSent { mailbox.post(.answer(id, ticket, response)) }
    }

    // MARK: On the server's thread

    /// Notes a request, which will get one answer.
    func noteRequest() { state.withLock { $0.outstanding += 1 } }

    /// Allows other threads to send, or leaves all further answers to the server's thread.
    func setDirectAnswers(_ isAllowed: Bool) { state.withLock { $0.answersDirectly = isAllowed } }

    /// Sends what the client takes of the output of its session, which is not empty.
    ///
    /// - Throws: ``SystemError`` where the connection is broken.
    func flush(_ session: inout RPCSession) throws(SystemError) {
        try state.withLock { state throws(SystemError) in
            guard let socket = state.socket else { return }
            session.sent(try socket.descriptor.send(session.output.rest))
            state.isQueued = !session.output.isEmpty
        }
    }

    /// Reads the available bytes, up to the size of `buffer`.
    func receive(into buffer: inout [UInt8]) -> Descriptor.Reception {
        guard let socket = state.withLock({ $0.socket }) else { return .end }
        return socket.descriptor.receive(into: &buffer)
    }

    /// Closes the connection, after a thread that is about to send has done so.
    func close() { state.withLock { $0.socket = nil } }
}
