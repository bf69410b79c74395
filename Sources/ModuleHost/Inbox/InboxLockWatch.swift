import AppService

/// A watch that reports what blocks the inbox's thread where it waits for long: another program that has the
/// lock, the disk, or a processor.
///
/// One alarm serves all waits of its time, since most take microseconds.
final class InboxLockWatch: Sendable {
    private struct State {
        var since: ContinuousClock.Instant?
        var isArmed = false
        var isReported = false
    }

    private let folder: InboxFolder
    private let patience: Duration
    private let log: Log
    private let time: any TimeSource
    private let state = Guarded(State())

    init(_ folder: InboxFolder, patience: Duration, log: Log, time: any TimeSource) {
        self.folder = folder
        self.patience = patience
        self.log = log
        self.time = time
    }

    /// Runs code that may wait.
    func watching<Result>(
        _ body: () throws(InboxError) -> Result
    ) throws(InboxError) -> Result {
        let now = time.now()
        let mustArm = state.withLock { state in
            state.since = now
            defer { state.isArmed = true }
            return !state.isArmed
        }
        if mustArm { arm(patience) }
        defer { end() }
        return try body()
    }

    private func end() {
        let wasReported = state.withLock { state in
            defer { (state.since, state.isReported) = (nil, false) }
            return state.isReported
        }
        if wasReported { log.notice("the inbox continues: its lock is free again") }
    }

    private func arm(_ delay: Duration) {
        time.schedule(after: delay) { [weak self] in self?.look() }
    }

    private func look() {
        let now = time.now()
        let waited = state.withLock { state -> Duration? in
            guard let since = state.since else {
                state.isArmed = false
                return nil
            }
            return since.duration(to: now)
        }
        guard let waited else { return }
        guard waited >= patience else { return arm(patience - waited) }
        let isNew = state.withLock { state in
            defer { (state.isReported, state.isArmed) = (true, false) }
            return !state.isReported
        }
        guard isNew else { return }
        let others = lockHolders(of: folder.lockPath).filter { $0 != CurrentProcess.id }
        let who =
            others.isEmpty
            ? "for the disk, or its turn on a busy machine,"
            : "for process \(others.map(String.init).joined(separator: ", "))"
        log.warning(
            "the inbox has been waiting \(who) for \(waited.briefText)"
                + (others.isEmpty ? "" : ", which has locked '\(folder.lockPath)'")
                + "; events are neither accepted nor delivered meanwhile")
    }
}
