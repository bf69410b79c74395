import AppService

/// One client of a control server: its socket, its session, its deadlines.
final class ControlConnection {
    let id: ConnectionID
    let peer: SocketPeer
    let socket: ConnectionSocket
    var session: RPCSession
    /// The account of its calls and events that are not done.
    let account: InFlightAccount
    /// The function that passes responses on, shared by all replies of the connection.
    let deliver: @Sendable (RPCSession.Ticket, [UInt8]) -> Void
    var follower: TailFollower?
    var cancellableCalls = CancellableCalls()
    /// Whether other threads may send answers.
    private var answersDirectly = true
    /// The bytes of lines that were recently taken from it; halved at each turn.
    var recent = 0
    /// Whether there may be lines that were read and not taken.
    var mayHaveLines = false
    /// Its index in the poll set; nil if it waits for nothing.
    var pollIndex: Int?

    /// The deadline of the line that has begun, or of the first one.
    private(set) var lineDeadline: ContinuousClock.Instant? { didSet { noteDeadlines() } }
    /// The deadline for reading the responses up to `owed`.
    private(set) var readDeadline: ContinuousClock.Instant? { didSet { noteDeadlines() } }
    /// Whether one of these is set.
    ///
    /// Each turn asks this of each connection, and to examine an optional instant takes several calls of its library.
    private(set) var hasDeadline = true
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
        let socket = ConnectionSocket(id, socket, mailbox: mailbox)
        self.socket = socket
        let account = InFlightAccount(budget) { mailbox.post(.room(id)) }
        self.account = account
        session = RPCSession(limits: limits)
        lineDeadline = deadline
        deliver = { socket.answer($0, with: $1) }
    }

    // Open replies keep the object alive; the client is to see the end now.
    deinit { socket.close() }

    /// Whether the connection is finished.
    var isOver: Bool { isBroken || (session.isOver && follower == nil) }

    /// Whether there is nothing to send, to wait for, or to end.
    var isQuiet: Bool { session.output.isEmpty && follower == nil && !hasDeadline && !isOver }

    var descriptor: Int32 { socket.number }

    /// The events to wait for.
    var interest: PollSet.Interest {
        var interest: PollSet.Interest = []
        if !mayHaveLines, session.wantsInput, account.hasRoom { interest.insert(.reading) }
        if !session.output.isEmpty { interest.insert(.writing) }
        return interest
    }

    /// Reads the available bytes, up to the size of `buffer`.
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

    /// Requests a call when there is room, where lines or bytes wait for it.
    func awaitRoom() {
        if account.hasRoom {
            if session.canTakeWaitingLines { mayHaveLines = true }
        } else if account.awaitRoom() {
            // There is room by now.
            mayHaveLines = true
        }
    }

    /// Decides whether other threads may send answers until the next turn.
    ///
    /// Before the mail of this turn is read: the answer of a thread that is about to send is in it.
    func updateDirectAnswers() {
        // After its last answer a connection that ends is closed; after any, lines that wait are taken.
        let isAllowed = !session.isEnding && !session.hasLinesWaiting
        guard isAllowed != answersDirectly else { return }
        answersDirectly = isAllowed
        socket.setDirectAnswers(isAllowed)
    }

    /// Logs, once, that calls are refused because of the total in flight.
    func noteOverload(in log: Log) {
        guard !isOverloadReported else { return }
        isOverloadReported = true
        log.warning(
            "control socket: calls of process \(peer.processID) are refused: the events and calls that wait for modules "
                + "are at their limit")
    }

    /// Notes that the other end has closed: no further byte will be read.
    func hangUp() { isBroken = true }

    /// Sends as much as the client takes, followed events between responses included.
    func flush(_ clock: any TimeSource, within time: Duration) {
        // Bytes queued last may stay unsent: they wait for the socket, and other connections have their turn.
        for _ in 0..<4 where !isBroken {
            takeNews()
            guard !session.output.isEmpty else { break }
            send()
        }
        takeNews()
        updateReadDeadline(clock, time)
    }

    private func send() {
        do throws(SystemError) {
            try socket.flush(&session)
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

    /// Updates the deadline for reading.
    ///
    /// A client that reads its responses byte by byte has no more time than one that does not read: the bytes
    /// owed at one instant must be read by the deadline set then.
    private func updateReadDeadline(_ clock: any TimeSource, _ time: Duration) {
        guard session.output.totalSent < session.answersEnd else {
            // Followed events are not owed: a client that does not read them only loses them.
            if hasDeadline { readDeadline = nil }
            return
        }
        if readDeadline == nil || session.output.totalSent >= owed {
            owed = session.answersEnd
            readDeadline = clock.now() + time
        }
    }

    /// Sets the deadline of a line that has begun; called after complete lines only.
    func updateLineDeadline(_ clock: any TimeSource, _ time: Duration) {
        if session.isInsideLine, account.hasRoom {
            if lineDeadline == nil { lineDeadline = clock.now() + time }
        } else if hasDeadline, session.lines > 0 || session.isInputDone {
            lineDeadline = nil
        }
    }

    private func noteDeadlines() { hasDeadline = lineDeadline != nil || readDeadline != nil }

    /// Ends the session since a line was not completed in time.
    func refuseLateLine(_ limits: ControlServer.Limits) {
        lineDeadline = nil
        session.refuse(
            .invalidRequest("no whole line within \(limits.lineTime.briefText)"))
    }
}
