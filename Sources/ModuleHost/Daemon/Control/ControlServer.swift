import AppService

/// The control socket of a host: `control.sock` in its state directory, where programs of the same
/// user, and of root, call the host's methods in JSON-RPC 2.0, one message a line.
///
/// One thread of its own serves all connections. It never waits for one of them, and sleeps when there are no
/// requests. While the server's thread sleeps, the thread that has the
/// answer to the only call of a client sends it itself (``ConnectionSocket``). Responses may be out of order. The effect of one client
/// on the others is bounded by ``Limits``, whatever it sends and however little it reads.
///
/// The state directory must be claimed (``PidFile``): a socket that does not respond belongs to a dead host,
/// and is replaced. One that responds is never replaced.
package final class ControlServer: Sendable {
    /// The limits of clients.
    struct Limits: Hashable, Sendable {
        /// The number of connections at a time; a further one receives an error and is closed.
        var connections = 64
        /// The time that a line may take from its first byte to its last, and a new connection to its first
        /// line.
        var lineTime: Duration = .seconds(30)
        /// The time that a response may wait for a client to read it.
        var readTime: Duration = .seconds(30)
        /// The time that a stop waits for clients to read their responses.
        var endTime: Duration = .seconds(1)
        /// The number of bytes waiting to be sent to all clients together, at which the client with the most
        /// is dropped.
        var output = 64 << 20
        var session = RPCSession.Limits()
    }

    let listener: Descriptor
    let mailbox: ControlMailbox
    let methods: ControlMethods
    let tail: TailHub
    let log: Log
    let time: any TimeSource
    let limits: Limits
    let budget: InFlightBudget
    let accepts: @Sendable (SocketPeer) -> Bool
    private let path: String
    /// The identity of the socket's file; another host may have a socket at the same path if the directory
    /// was moved.
    private let identity: String?
    private let ended: WakeSignal
    private let isStarted = Guarded(false)

    /// Creates the socket: from now on clients can connect, and wait.
    ///
    /// - Parameters:
    ///   - directory: The state directory, claimed by this process.
    ///   - methods: The methods, beside `tail` and `ping`, which every server has.
    ///   - tail: The events for clients that follow.
    ///   - log: The log for refused clients, with the reasons.
    ///   - budget: The limits of what may be in flight.
    ///   - time: The source of deadlines.
    /// - Throws: ``ControlServerError``.
    package convenience init(
        in directory: StateDirectory, methods: ControlMethods, tail: TailHub, log: Log,
        budget: InFlightBudget = InFlightBudget(), time: any TimeSource = SystemTimeSource.shared
    ) throws(ControlServerError) {
        try self.init(
            in: directory, methods: methods, tail: tail, log: log, budget: budget, time: time,
            limits: Limits())
    }

    init(
        in directory: StateDirectory, methods: ControlMethods, tail: TailHub, log: Log,
        budget: InFlightBudget = InFlightBudget(), time: any TimeSource, limits: Limits,
        accepts: @escaping @Sendable (SocketPeer) -> Bool = { isOwnerOrRoot($0) }
    ) throws(ControlServerError) {
        path = directory.path(of: StateDirectory.socketName)
        do throws(SystemError) {
            mailbox = try ControlMailbox()
            ended = try WakeSignal()
        } catch {
            throw ControlServerError(reason: FileError("make the socket", path, error))
        }
        do throws(FileError) {
            listener = try LocalSocket.listen(at: path)
            identity = LocalSocket.identity(of: path)
        } catch {
            throw ControlServerError(reason: error)
        }
        self.methods = methods
        self.tail = tail
        self.log = log
        self.time = time
        self.limits = limits
        self.budget = budget
        self.accepts = accepts
    }

    /// Returns whether a peer may control a host: its own user, or root.
    ///
    /// The permissions of the socket have the same effect. This check also works if they were changed.
    static func isOwnerOrRoot(
        _ peer: SocketPeer, owner: UInt32 = CurrentProcess.userID
    ) -> Bool {
        peer.userID == 0 || peer.userID == owner
    }

    /// Begins to serve.
    ///
    /// - Throws: ``ControlServerError`` where the system has no room for the thread.
    package func start() throws(ControlServerError) {
        isStarted.withLock { $0 = true }
        budget.onDrained = { [mailbox] in mailbox.post(.drained) }
        do throws(SystemError) {
            try NativeThread.start(name: "hostd-control") { [self] in serve() }
        } catch {
            isStarted.withLock { $0 = false }
            throw ControlServerError(reason: FileError("serve", path, error))
        }
    }

    private func serve() {
        var loop = ControlLoop(self)
        while loop.turn() {}
        ended.give()
    }

    /// Removes the socket, sends the remaining responses, closes the connections, and waits for that.
    ///
    /// Calls without a response by then never get one: their callers see the connection close.
    ///
    /// - Parameter time: The time that clients may take to read; nil for ``Limits/endTime``. The whole stop
    ///   takes at most a moment longer.
    package func stop(within time: Duration? = nil) {
        LocalSocket.remove(path, ifStill: identity)
        guard isStarted.withLock({ $0 }) else { return }
        let time = time ?? limits.endTime
        mailbox.post(.end(within: time))
        _ = ended.wait(within: time + .seconds(1))
    }
}

/// The reason why a host has no control socket.
package struct ControlServerError: Error, Hashable, Sendable, CustomStringConvertible {
    package let reason: FileError

    package var exitCode: ExitCode { .cannotCreate }

    /// One line: the problem, and the remedy where a limit is the reason.
    package var description: String {
        "no control socket: \(reason)" + (reason.reason.remedy.map { ": \($0)" } ?? "")
    }
}
