import AppService

/// The thread of a control server: it reads, has calls handled, sends, and sleeps.
///
/// Each turn serves every connection a bounded amount, so that none waits for another.
struct ControlLoop {
    /// The number of lines that are taken from one connection in a turn.
    private static let linesPerTurn = 256
    /// The bytes of lines that are taken from all connections in a turn: some milliseconds of work.
    private static let bytesPerTurn = 256 << 10

    private let server: ControlServer
    private var connections: [ControlConnection?]
    private var serial = 0
    private var letters: [ControlMailbox.Letter] = []
    private var buffer = [UInt8](readingUpTo: 1 << 16)
    private var poll = PollSet()
    /// The instant until which no connection is accepted, since the system had no room for one.
    private var pause: ContinuousClock.Instant?
    /// Whether that has been logged.
    private var isOutOfRoom = false
    /// The deadline of the end of the server; set when it is to end.
    private var end: ContinuousClock.Instant?
    private var alarm: (any Alarm)?
    private var alarmInstant: ContinuousClock.Instant?

    /// The limits on refused connections in the log, for each reason.
    private var refusals: [String: OutputRateLimit] = [:]

    init(_ server: ControlServer) {
        self.server = server
        connections = Array(repeating: nil, count: server.limits.connections)
    }

    /// Waits for requests, mail or a deadline, and serves each connection.
    ///
    /// - Returns: Whether the server goes on.
    mutating func turn() -> Bool {
        wait()
        readMail()
        takeLines()
        for case let connection? in connections { connection.updateDirectAnswers() }
        // Responses of this turn are sent in this turn.
        readMail()
        send()
        let deadline = closeOverdue()
        if isOver {
            close()
            return false
        }
        setAlarm(at: deadline)
        return true
    }

    private mutating func close() {
        alarm?.cancel()
        for case let connection? in connections { close(connection) }
        // Clients that connected before the socket lost its name wait for a response, too.
        while let socket = try? server.listener.accept() { _ = consume socket }
    }

    /// Whether the server has ended as requested: no client is owed a response, or time is up.
    private var isOver: Bool {
        guard let end else { return false }
        let isOwed = connections.contains { $0?.session.output.isEmpty == false }
        return !isOwed || server.time.now() >= end
    }

    // MARK: One turn

    private mutating func readMail() {
        server.mailbox.take(&letters)
        for letter in letters {
            switch letter {
            case .answer(let id, let ticket, let response):
                // The client may have disconnected.
                guard let connection = connection(id) else { continue }
                connection.session.answer(ticket, with: response)
                // There may be room again for lines that wait.
                connection.mayHaveLines = true
            case .answered(let id): connection(id)?.session.noteAnswer()
            case .room(let id): connection(id)?.mayHaveLines = true
            case .drained: LargeMemory.returnAll()
            case .work(let body): body()
            // These letters only wake the thread: each turn checks everything itself.
            case .news, .alarm: break
            case .end(let time): if end == nil { end = server.time.now() + time }
            }
        }
        letters.removeAll(keepingCapacity: true)
    }

    private mutating func takeLines() {
        guard end == nil else { return }
        var left = Self.bytesPerTurn
        let server = server
        // A client with few requests does not wait for one with many: a status request is handled in between.
        var ready: [ControlConnection] = []
        for case let connection? in connections {
            connection.recent /= 2
            if connection.mayHaveLines { ready.append(connection) }
        }
        for connection in ready.sorted(by: { $0.recent < $1.recent }) where left > 0 {
            let before = connection.session.bytes
            connection.mayHaveLines = connection.session.takeLines(
                upTo: Self.linesPerTurn, bytes: left, while: { connection.account.hasRoom },
                { Self.handle($0, $1, of: connection, server) })
            connection.updateLineDeadline(server.time, server.limits.lineTime)
            let taken = connection.session.bytes - before
            connection.recent += taken
            left -= taken
        }
    }

    private static func handle(
        _ request: RPCRequest, _ ticket: RPCSession.Ticket, of connection: ControlConnection,
        _ server: ControlServer
    ) {
        let isOverloaded = !connection.account.accepts
        connection.socket.noteRequest()
        let reply = RPCReply(
            to: ticket, load: connection.account.enter(ticket.footprint),
            through: connection.deliver)
        switch request.method {
        case "ping": reply.succeed { $0.value("pong") }
        case "cancel":
            guard let id = request.parameters?["id"].flatMap(RPCID.init) else {
                return reply.fail(.invalidParameters("'cancel' takes the 'id' of a call"))
            }
            connection.cancellableCalls.cancel(id)
            reply.succeed { $0.null() }
        case "tail":
            follow(request, reply, connection, server)
        default:
            guard let handler = server.methods[request.method] else {
                let names = server.methods.names + ["cancel", "ping", "tail"]
                let nearest = nearestName(to: request.method, in: names)
                let offer = nearest.map { "; did you mean '\($0)'?" } ?? ""
                return reply.fail(.methodNotFound("no method \(quoted(request.method))\(offer)"))
            }
            if isOverloaded, ControlMethods.addLoad.contains(request.method) {
                connection.noteOverload(in: server.log)
                return reply.fail(.overloaded(connection.account.limits))
            }
            let mailbox = server.mailbox
            let cancellation =
                ControlMethods.cancellable.contains(request.method)
                ? ticket.id.map { connection.cancellableCalls.add($0) } : nil
            handler(
                ControlMethods.Call(
                    peer: connection.peer, parameters: request.parameters, reply: reply,
                    cancellation: cancellation
                ) { mailbox.post(.work($0)) })
        }
    }

    private static func follow(
        _ request: RPCRequest, _ reply: RPCReply, _ connection: ControlConnection,
        _ server: ControlServer
    ) {
        do throws(RPCError) {
            let wanted = try TailRequest(request.parameters)
            if let error = wanted.module.flatMap(server.methods.missingModule) {
                throw RPCError(error)
            }
            guard connection.follower == nil else { return reply.succeed { $0.object { _ in } } }
            let (mailbox, id) = (server.mailbox, connection.id)
            let (follower, keptSince) = server.tail.follow(wanted) { mailbox.post(.news(id)) }
            reply.succeed {
                $0.object { if let keptSince { $0.member("keptSince", keptSince) } }
            }
            // After the response, which comes before the first line.
            connection.follower = follower
            server.log.debug("control socket: process \(connection.peer.processID) follows")
        } catch {
            reply.fail(error)
        }
    }

    private mutating func send() {
        var waiting = 0
        for case let connection? in connections where !connection.isQuiet {
            connection.flush(server.time, within: server.limits.readTime)
            let unsent = connection.session.output.count
            if unsent > server.limits.session.output {
                drop(connection, "it does not read its answers, and too many are waiting")
            } else if connection.isOver {
                close(connection)
            } else {
                waiting += unsent
            }
        }
        if waiting > server.limits.output { limitOutput() }
    }

    /// Drops the clients with the most unsent bytes, until the total is within the limit of the server.
    private mutating func limitOutput() {
        let open = connections.compactMap { $0 }
        let sizes = open.map(\.session.output.count)
        for index in Self.largest(of: sizes, beyond: server.limits.output) {
            drop(
                open[index],
                "the answers waiting for all clients are too large, and most wait for it")
        }
    }

    /// Returns the indices of the largest numbers without which the sum is within a limit, the largest first.
    static func largest(of sizes: [Int], beyond limit: Int) -> [Int] {
        var excess = sizes.reduce(0, +) - limit
        // The usual case, in which nothing is sorted.
        guard excess > 0 else { return [] }
        return sizes.indices.sorted { sizes[$0] > sizes[$1] }.prefix { index in
            defer { excess -= sizes[index] }
            return excess > 0
        }
    }

    private mutating func wait() {
        poll.removeAll()
        let mail = poll.insert(server.mailbox.bell.descriptor, .reading)
        let listener =
            pause == nil && end == nil ? poll.insert(server.listener.number, .reading) : nil
        var isBusy = false
        for case let connection? in connections {
            connection.awaitRoom()
            isBusy = isBusy || (connection.mayHaveLines && end == nil)
            let interest = connection.interest
            // A hang-up cannot be masked out: while lines wait for room it would keep the thread awake, and
            // closing would lose them.
            let waits = !interest.isEmpty || connection.session.isInputDone
            connection.pollIndex = waits ? poll.insert(connection.descriptor, interest) : nil
        }
        // After a lack of room, this checks whether a client still waits.
        let looks = isOutOfRoom && listener != nil
        let mustNotSleep = isBusy || looks || !server.mailbox.bell.fallAsleep()
        poll.wait(milliseconds: mustNotSleep ? 0 : -1)
        server.mailbox.bell.wakeUp(signalled: poll.canRead(mail))
        var hasAnyGone = false
        for case let connection? in connections {
            guard let index = connection.pollIndex else { continue }
            hasAnyGone = hasAnyGone || poll.isHungUp(index)
            if poll.canRead(index) {
                connection.read(&buffer)
            } else if poll.isHungUp(index) {
                connection.hangUp()
            }
        }
        // A client that has disconnected makes room within a few turns, once its requests are done; before
        // that the next one would be without room again.
        if looks, !hasAnyGone, let listener, !poll.canRead(listener) {
            server.log.notice("control socket: connections are accepted again")
            isOutOfRoom = false
        }
        if let listener, poll.canRead(listener), freeSlots > 0 || !hasAnyGone { accept() }
    }

    // MARK: Connections

    private func connection(_ id: ConnectionID) -> ControlConnection? {
        guard let connection = connections[id.slot], connection.id == id else { return nil }
        return connection
    }

    /// Accepts the waiting connections, as many as there is room for.
    ///
    /// If there is no room, one client receives an error, and the rest waits for the next turn: by then
    /// another client may have disconnected.
    private mutating func accept() {
        for _ in 0..<max(1, freeSlots) {
            do throws(SystemError) {
                guard let socket = try server.listener.accept() else { return }
                let peer = try socket.peer()
                guard server.accepts(peer) else {
                    turnAway(
                        socket, peer, because: "user \(peer.userID) may not control this host",
                        RPCError(
                            .notPermitted, "not permitted",
                            detail: "only the host's own user and root may control it"))
                    continue
                }
                take(socket, peer)
            } catch {
                // No descriptors or no memory: the waiting connections wait for another second.
                server.log.write(
                    isOutOfRoom ? .debug : .warning,
                    "control socket: cannot accept a connection; clients wait: \(error)")
                isOutOfRoom = true
                pause = server.time.now() + .seconds(1)
                return
            }
        }
    }

    private var freeSlots: Int { connections.count { $0 == nil } }

    private mutating func take(_ socket: consuming Descriptor, _ peer: SocketPeer) {
        guard let slot = connections.firstIndex(where: { $0 == nil }) else {
            let limit = server.limits.connections
            let holders = Dictionary(
                grouping: connections.compactMap { $0?.peer.processID }, by: \.self
            ).mapValues(\.count)
            let most = holders.max { ($0.value, $1.key) < ($1.value, $0.key) }
            let whose = most.map { ", \($0.value) of them of process \($0.key)" } ?? ""
            return turnAway(
                socket, peer, because: "\(limit) are open",
                RPCError(
                    .tooMany, "too many connections",
                    detail: "\(limit) are open\(whose); end it, or try again"))
        }
        serial += 1
        connections[slot] = ControlConnection(
            ConnectionID(slot: slot, serial: serial), peer, socket, mailbox: server.mailbox,
            limits: server.limits.session, budget: server.budget,
            firstLineBy: server.time.now() + server.limits.lineTime)
    }

    private mutating func turnAway(
        _ socket: borrowing Descriptor, _ peer: SocketPeer, because reason: String,
        _ error: RPCError
    ) {
        var json = JSONWriter()
        json.rpcError(error, id: .null)
        json.newline()
        _ = try? socket.send(json.bytes[...])
        let now = server.time.now()
        // There are many users, and few reasons.
        if refusals.count >= 64 { refusals = [:] }
        let verdict = refusals[
            reason, default: OutputRateLimit(.init(burst: 5, perSecond: 1), at: now)
        ].take(at: now)
        guard case .show(let dropped) = verdict else { return }
        let before =
            dropped == 0 ? "" : " (\(dropped) earlier \(dropped == 1 ? "error" : "errors") omitted)"
        server.log.warning(
            "control socket: connection of process \(peer.processID) refused\(before): \(reason)")
    }

    private mutating func close(_ connection: ControlConnection) {
        if let follower = connection.follower { server.tail.unfollow(follower) }
        connections[connection.id.slot] = nil
        // There is room for one.
        pause = nil
    }

    private mutating func drop(_ connection: ControlConnection, _ reason: String) {
        server.log.warning(
            "control socket: connection of process \(connection.peer.processID) closed: \(reason)")
        close(connection)
    }

    // MARK: Deadlines

    /// - Returns: The next deadline.
    private mutating func closeOverdue() -> ContinuousClock.Instant? {
        guard let earliest else { return nil }
        let now = server.time.now()
        guard earliest <= now else { return earliest }
        if let pause, pause <= now { self.pause = nil }
        for case let connection? in connections {
            if let deadline = connection.readDeadline, deadline <= now {
                drop(connection, "it does not read its answers")
            } else if let deadline = connection.lineDeadline, deadline <= now {
                connection.refuseLateLine(server.limits)
            }
        }
        return self.earliest
    }

    /// The next deadline.
    private var earliest: ContinuousClock.Instant? {
        var earliest = pause
        func consider(_ deadline: ContinuousClock.Instant?) {
            guard let deadline else { return }
            earliest = earliest.map { min($0, deadline) } ?? deadline
        }
        consider(end)
        for case let connection? in connections where connection.hasDeadline {
            consider(connection.lineDeadline)
            consider(connection.readDeadline)
        }
        return earliest
    }

    /// Sets an alarm that wakes the thread at the next deadline.
    ///
    /// An alarm that is too early is left set: deadlines change with each call, and most of them are not
    /// reached.
    private mutating func setAlarm(at earliest: ContinuousClock.Instant?) {
        guard let earliest else { return }
        let now = server.time.now()
        if let set = alarmInstant, set > now, set <= earliest { return }
        alarm?.cancel()
        alarmInstant = earliest
        let mailbox = server.mailbox
        alarm = server.time.schedule(after: earliest - now) { mailbox.post(.alarm) }
    }
}
