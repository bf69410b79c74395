import AppService
import Synchronization

/// The inbox and the control socket of an embedded host, as its settings ask for them, and the black box and the record.
///
/// It belongs to one host, and begins and ends with that. The parts are those of a daemon; none of them takes a signal or
/// writes to a standard stream.
final class EmbeddedParts: Sendable {
    /// The time that the opening of the inbox may take while another program has it locked.
    static let patience: Duration = .seconds(10)

    let blackBox: DaemonBlackBox
    /// The inbox; nil for a host without durable events.
    let inbox: Inbox?
    private let directory: StateDirectory
    /// The followers of the log; nil for a host without a control socket.
    private let tail: TailHub?
    private let log: Log
    private let time: SystemTimeSource
    private let isBegun = Atomic(false)
    /// The server, whose methods keep the host alive, from the beginning to the end.
    private let serving = Guarded<(server: ControlServer, host: ControlledDaemon)?>(nil)

    /// Reads what the last host on the state directory has left, and opens the inbox.
    ///
    /// - Parameters:
    ///   - directory: The state directory.
    ///   - claim: Its claim.
    ///   - slatefile: The slatefile.
    ///   - hasInbox: Whether there is an inbox.
    ///   - tail: The followers of the log; nil for no control socket.
    ///   - log: The log.
    ///   - time: The time source of the host, which ends with this.
    /// - Throws: ``HostError`` if the inbox cannot be opened, or not within ``patience``.
    init(
        in directory: StateDirectory, claim: PidFile, for slatefile: Slatefile, hasInbox: Bool,
        tail: TailHub?, log: Log, time: SystemTimeSource
    ) throws(HostError) {
        if let weakness = directory.weakness { log.warning("\(weakness)") }
        let blackBox = DaemonBlackBox(
            in: directory, for: slatefile, of: .hostd, recordSize: RecordRing.defaultSize, .slow,
            log: log)
        let opening = InboxOpening(
            directory: directory, claim: claim, blackBox: blackBox, log: log, program: .hostd,
            time: time)
        do throws(HostError) {
            inbox = hasInbox ? try Self.inbox(of: opening) : nil
        } catch {
            time.end()
            throw error
        }
        self.blackBox = blackBox
        self.directory = directory
        self.tail = tail
        self.log = log
        self.time = time
    }

    // A host that is never run has opened its inbox with it.
    deinit { time.end() }

    private static func inbox(of opening: InboxOpening) throws(HostError) -> Inbox {
        let opened: Result<Inbox, InboxError>?
        do throws(SystemError) {
            opened = try opening.run(within: patience)
        } catch {
            throw .noThread(error)
        }
        switch opened {
        case .success(let inbox)?: return inbox
        case .failure(let error)?: throw .stateDirectory("\(error)")
        case nil:
            throw .stateDirectory(
                "another program has locked the inbox of the state directory "
                    + "'\(opening.directory.path)' for \(patience.briefText); the log names it")
        }
    }

    /// Creates the control socket, and begins to accept events; before the app launches.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - slatefile: The path of its slatefile; nil for one that is not in a file.
    ///   - claim: The claim of the state directory, kept for as long as the inbox writes to it.
    /// - Throws: ``HostError``; ``end(_:)`` undoes what has begun.
    func begin(_ host: AppHost, slatefile: String?, keeping claim: PidFile?) throws(HostError) {
        if let tail {
            let controlled = ControlledDaemon(
                host, slatefile: slatefile, inbox: inbox, lastDeath: blackBox.previous?.death)
            do throws(ControlServerError) {
                let server = try ControlServer(
                    in: directory, methods: ControlMethods(of: controlled), tail: tail, log: log,
                    budget: host.inFlight, time: time)
                serving.withLock { $0 = (server, controlled) }
                try server.start()
            } catch {
                throw .stateDirectory("\(error)")
            }
        }
        blackBox.begin()
        guard let inbox else { return }
        do throws(SystemError) { try inbox.start(keeping: claim) } catch { throw .noThread(error) }
        isBegun.store(true, ordering: .releasing)
    }

    /// Ends the parts: what the inbox has accepted is written, and clients receive the responses that are there.
    ///
    /// - Parameter end: The end of the app. If the stop ran out of time, this takes no long time, either.
    func end(_ end: AppHost.End) {
        let limit: Duration = end.isInOrder ? .seconds(2) : .milliseconds(200)
        if isBegun.load(ordering: .acquiring) {
            inbox?.stop(within: limit)
        } else {
            inbox?.abandon()
        }
        blackBox.end(end.isInOrder ? .ended : .overdue, because: end.failure)
        guard let serving = serving.withLock({ $0.take() }) else { return }
        serving.host.ended(end)
        serving.server.stop(within: end.isInOrder ? nil : limit)
    }
}
