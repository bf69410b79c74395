import AppService

/// The opening of the inbox beside the thread that takes the signals: another program may have the inbox's
/// lock for any time, and a client that requests the host's stop is served all the same.
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

    /// Opens the inbox.
    ///
    /// - Parameter signals: The actions of signals. Signals that stop the host are taken; all others wait for
    ///   the running host.
    /// - Returns: The outcome. Where the host is to stop the opening may go on: it waits for the lock on a
    ///   thread of its own, which ends with the process.
    /// - Throws: ``SystemError`` where there is no room for a thread.
    func run(_ signals: SignalActions) throws(SystemError) -> Outcome {
        let opened = Guarded<Result<Inbox, InboxError>?>(nil)
        let listener = SignalListener()
        try NativeThread.start(name: "inbox start") {
            let result = Result { () throws(InboxError) in
                try Inbox(
                    in: directory, after: blackBox.previous, box: blackBox.box, log: log,
                    program: program)
            }
            withExtendedLifetime(claim) { opened.withLock { $0 = result } }
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
