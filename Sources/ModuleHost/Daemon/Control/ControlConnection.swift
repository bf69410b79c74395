/// One client of a control server: its socket, its conversation, its deadlines.
///
/// Belongs to the server's thread.
final class ControlConnection {
    let id: ConnectionID
    let peer: SocketPeer
    private let socket: Descriptor
    var session: RPCSession
    /// The account of its calls and events that are not done.
    let account: InFlightAccount
    /// The function that takes answers, shared by all replies of the connection.
    let deliver: @Sendable (RPCSession.Ticket, [UInt8]) -> Void
    var follower: TailFollower?
    /// The bytes of lines that were taken from it lately; halved at each turn.
    var recent = 0
    /// Whether lines may wait that were read and not taken.
    var mayHaveLines = false
    /// Its place in the poll set; nil if it waits for nothing.
    var place: Int?

    /// The deadline of the line that has begun, or of the first one.
    private(set) var lineDeadline: ContinuousClock.Instant?
    /// The deadline for reading the answers up to `owed`.
    private(set) var readDeadline: ContinuousClock.Instant?
    private var owed = 0
    private var isBroken = false
    private var isOverloadReported = false

    init(
        _ id: ConnectionID, _ peer: SocketPeer, _ socket: consuming Descriptor,
        mailbox: ControlMailbox, limits: RPCSession.Limits, budget: InFlightBudget,
        firstLineBy deadline: ContinuousClock.Instant
    ) {
        self.id = id
        self.peer = peer
        self.socket = socket
        let account = InFlightAccount(budget) { mailbox.post(.room(id)) }
        self.account = account
        session = RPCSession(limits: limits) { account.hasRoom }
        lineDeadline = deadline
        deliver = { mailbox.post(.answer(id, $0, $1)) }
    }

    /// Whether nothing more can come of it.
    var isOver: Bool { isBroken || (session.isOver && follower == nil) }

    /// Whether there is nothing to send, to wait for, or to end.
    var isQuiet: Bool {
        session.output.isEmpty && follower == nil && readDeadline == nil && !isOver
    }

    var descriptor: Int32 { socket.number }

    /// The events to wait for.
    var interest: PollSet.Interest {
        var interest: PollSet.Interest = []
        if session.wantsInput, !mayHaveLines { interest.insert(.reading) }
        if !session.output.isEmpty { interest.insert(.writing) }
        return interest
    }

    /// Reads what is there, up to what `buffer` holds.
    func read(_ buffer: inout [UInt8]) {
        switch socket.receive(into: &buffer) {
        case .bytes(let count):
            session.receive(buffer[..<count])
            mayHaveLines = true
        case .nothing: break
        case .end:
            session.endInput()
            mayHaveLines = true
        }
    }

    /// Asks to be called when there is room, where lines or bytes wait for that.
    func awaitRoom() {
        // There may be some by now.
        if !account.hasRoom, account.awaitRoom() { mayHaveLines = true }
    }

    /// Says, once, that it is refused for what all have in flight.
    func noteOverload(in log: Log) {
        guard !isOverloadReported else { return }
        isOverloadReported = true
        log.warning(
            "control socket: calls of process \(peer.processID) are refused: the modules have more to do than "
                + "the host keeps in memory")
    }

    /// Notes that the other end is gone for good: no further byte will be read.
    func hangUp() { isBroken = true }

    /// Sends what the client takes, and between answers what it follows.
    func flush(now: () -> ContinuousClock.Instant, within time: Duration) {
        // What is taken last may be left unsent: it waits for the socket, and others have their turn.
        for _ in 0..<4 where !isBroken {
            takeNews()
            send()
        }
        takeNews()
        updateReadDeadline(now, time)
    }

    private func send() {
        guard !session.output.isEmpty else { return }
        do throws(SystemError) {
            session.sent(try socket.send(session.output.rest))
        } catch {
            isBroken = true
        }
    }

    private func takeNews() {
        guard let follower else { return }
        while session.output.count < session.limits.outputMark, let line = follower.next() {
            session.notify(line)
        }
    }

    /// A client that reads its answers byte by byte has no more time than one that reads none: what
    /// is owed at one instant must be read by the deadline set then.
    private func updateReadDeadline(_ now: () -> ContinuousClock.Instant, _ time: Duration) {
        guard session.output.totalSent < session.answersEnd else {
            // Followed events are not owed: who does not read them loses them, no more.
            readDeadline = nil
            return
        }
        if readDeadline == nil || session.output.totalSent >= owed {
            owed = session.answersEnd
            readDeadline = now() + time
        }
    }

    /// Sets the deadline of a line that has begun; after whole lines only.
    func updateLineDeadline(_ now: () -> ContinuousClock.Instant, _ time: Duration) {
        if session.isInsideLine {
            if lineDeadline == nil { lineDeadline = now() + time }
        } else if session.lines > 0 || session.isInputDone {
            lineDeadline = nil
        }
    }

    /// Ends the conversation since a line did not come to its end in time.
    func refuseLateLine(_ limits: ControlServer.Limits) {
        lineDeadline = nil
        session.refuse(
            .invalidRequest("no whole line within \(limits.lineTime.briefText)"))
    }
}
