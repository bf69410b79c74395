import AppService

/// The sending side of a connection: of the server's thread, and for a lone answer of whichever thread has it.
///
/// A client that waits for one answer gets it without a detour: to wake the server's thread takes longer than to send.
/// Answers to requests that a client sends in advance are left to the server's thread, which sends many at once.
final class ConnectionOutput: Sendable {
    /// The largest answer that is sent at once, in bytes.
    ///
    /// A UNIX socket takes that many as a whole or not at all: it divides what is larger than half of its buffer
    /// (`unix_stream_sendmsg` in Linux).
    private static let limit = 4096

    private final class Socket: Sendable {
        let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }

    private struct State {
        /// The socket; nil when the connection is closed.
        var socket: Socket?
        /// The number of requests without an answer.
        var open = 0
        /// Whether other bytes wait to be sent before an answer.
        var isQueued = false
        /// Whether the server's thread has more to do with an answer than to send it.
        var isHeld = false
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
        state = Guarded(State(socket: Socket(socket)))
    }

    // MARK: From any thread

    /// Sends an answer at once where the client waits for nothing else and the server's thread sleeps; else leaves it to
    /// that thread.
    ///
    /// - Parameters:
    ///   - ticket: The ticket of the request.
    ///   - response: The answer, without a newline; empty for a notification.
    func answer(_ ticket: RPCSession.Ticket, with response: [UInt8]) {
        let isSent = state.withLock { state -> Bool in
            state.open -= 1
            guard state.open == 0, ticket.isAlone, !state.isQueued, !state.isHeld,
                response.count < Self.limit, mailbox.bell.isOwnerAsleep, let socket = state.socket
            else { return false }
            let line = response + [UInt8(ascii: "\n")]
            guard let count = try? socket.descriptor.send(line[...]), count > 0 else {
                return false
            }
            // Never seen; half a line must not be followed by another.
            if count < line.count { socket.descriptor.endSending() }
            // Here, and not after the lock: who takes the client's next request, or the end of its input, finds it.
            mailbox.leave(.answered(id, ticket))
            return true
        }
        if !isSent { mailbox.post(.answer(id, ticket, response)) }
    }

    // MARK: On the server's thread

    /// Notes a request, which will get one answer.
    func enter() { state.withLock { $0.open += 1 } }

    /// Leaves all further answers to the server's thread.
    func hold() { state.withLock { $0.isHeld = true } }

    /// Sends what the client takes of the output of its session.
    ///
    /// - Throws: ``SystemError`` where the connection is broken.
    func flush(_ session: inout RPCSession) throws(SystemError) {
        try state.withLock { state throws(SystemError) in
            guard let socket = state.socket else { return }
            if !session.output.isEmpty {
                session.sent(try socket.descriptor.send(session.output.rest))
            }
            state.isQueued = !session.output.isEmpty
        }
    }

    /// Reads the available bytes, up to the size of `buffer`.
    func receive(into buffer: inout [UInt8]) -> Descriptor.Reception {
        guard let socket = state.withLock({ $0.socket }) else { return .end }
        return socket.descriptor.receive(into: &buffer)
    }

    /// Closes the connection, once the thread that is about to send has done so.
    func close() { state.withLock { $0.socket = nil } }
}
