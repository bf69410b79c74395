import AppService

/// The opening of the inbox on a thread of its own: another program may have the inbox's lock for any time, and a daemon
/// takes the signals that stop it all the same.
struct InboxOpening {
    enum Outcome {
        case opened(Inbox)
        case failed(InboxError)
        /// A stop was requested before the host has begun.
        case stopped(Origin)
    }

    let directory: StateDirectory
    /// The claim, which lasts as long as the opening, however this ends.
    let claim: PidFile
    let blackBox: DaemonBlackBox
    let log: Log
    let program: ProgramIdentity
    var time: any TimeSource = SystemTimeSource.shared

    /// Opens the inbox, and takes no signals.
    ///
    /// - Parameter limit: The longest wait. On a timeout, the thread waits on, and the directory stays claimed.
    /// - Returns: The inbox, or the error; nil on a timeout.
    /// - Throws: ``SystemError`` where there is no room for a thread.
    func run(within limit: Duration) throws(SystemError) -> Result<Inbox, InboxError>? {
        let opened = Guarded<Result<Inbox, InboxError>?>(nil)
        let done = Latch()
        try begin { result in
            opened.withLock { $0 = result }
            done.open()
        }
        return done.wait(within: limit) ? opened.withLock { $0.take() } : nil
    }

    private func begin(
        _ done: @escaping @Sendable (Result<Inbox, InboxError>) -> Void
    ) throws(SystemError) {
        let claim = Guarded<PidFile?>(claim)
        try NativeThread.start(name: "inbox start") { [directory, blackBox, log, program, time] in
            let result = Result { () throws(InboxError) in
                try Inbox(
                    in: directory, after: blackBox.previous, box: blackBox.box, log: log,
                    program: program, time: time)
            }
            // First: from now on the caller alone decides when the directory is free.
            claim.withLock { $0 = nil }
            done(result)
        }
    }

    /// Opens the inbox, and takes the signals that stop the host.
    ///
    /// - Parameter signals: The actions of signals. Signals that stop the host are taken; all others wait for
    ///   the running host.
    /// - Returns: The outcome. Where the host is to stop the opening may go on: it waits for the lock on a
    ///   thread of its own, which ends with the process.
    /// - Throws: ``SystemError`` where there is no room for a thread.
    func run(_ signals: SignalActions) throws(SystemError) -> Outcome {
        let listener = SignalListener()
        let opened = Guarded<Result<Inbox, InboxError>?>(nil)
        try begin { result in
            opened.withLock { $0 = result }
            listener.end()
        }
        let signal = listener.waitForOne(of: signals.stopping) {
            SignalListener.keptDefault.filter { signals[$0] == nil }
        }
        if let signal, let name = signals[signal.number]?.name {
            return .stopped(Origin(name, signal))
        }
        return switch opened.withLock({ $0 }) {
        case .success(let inbox)?: .opened(inbox)
        case .failure(let error)?: .failed(error)
        // Only its end ends the wait.
        case nil: .stopped(.host)
        }
    }
}

extension Origin {
    /// Creates the origin of a signal that was taken.
    init(_ name: String, _ signal: ReceivedSignal) {
        self = .signal(
            name: name, uid: signal.sender?.userID, pid: signal.sender?.processID,
            value: signal.value)
    }
}
