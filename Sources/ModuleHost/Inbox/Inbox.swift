import AppService
import Synchronization

/// The inbox of a running host: where durable events are accepted, and from where the lane gets them.
///
/// One thread of its own writes what the host's clients hand in, for all of them at once; reads what
/// stands in the log, whichever program wrote it; hands it to the lane, in order, a window at a time; and keeps the
/// cursor. It sleeps when there is nothing of that to do.
///
/// Accepted means that it is on the disk. Done means that every module listed for it has returned or
/// thrown. After this process has died, however it did, the next host goes on with what is not done.
package final class Inbox: Sendable {
    /// The limits of what is in flight.
    struct Limits: Hashable, Sendable {
        /// The bytes that may wait to be written; more are refused.
        var waiting = 64 << 20
        /// The time that other programs may hold the lock before the log names them.
        var patience: Duration = .seconds(5)
        /// The time that the cursor may be behind what was done.
        var cursorDelay: Duration = .seconds(1)
        /// The number of times that the delivery of one event may end the host.
        var attempts = 3
        /// The bytes of durable events that a module may be behind.
        var behind = 64 << 20
    }

    let folder: InboxFolder
    let limits: Limits
    let log: Log
    let time: any TimeSource
    let box: BlackBox?
    let progress: InboxProgress
    let mailbox: InboxMailbox
    let metrics = Guarded(InboxMetrics())
    /// The sizes of the segments when the inbox's thread last looked.
    let sizes = Guarded(SegmentSizes())
    /// The records that are not events to deliver although they look like it: duplicates, and what was
    /// rejected.
    let skipped = Guarded<Set<EventPosition>>([])
    private let unnamed = Guarded(UnnamedRejections())
    /// The position at which this host continues.
    let origin: InboxStart
    /// The cursor as it was stored at the start.
    let storedAtStart: InboxCursor
    /// Says who is in the way where the thread waits for long.
    let lockWatch: InboxLockWatch
    /// Reads what overdue modules have not received, on their threads.
    private let lateReader = Guarded<InboxReader?>(nil)
    private let ended: WakeSignal

    /// Makes the folder where it is missing, and finds out where the last host has come to.
    ///
    /// How often an event in which it died was begun is on the disk then.
    ///
    /// - Parameters:
    ///   - directory: The state directory, claimed by this process.
    ///   - previous: What the black box of the last host says, which knows to the event how far that came.
    ///   - box: The black box of this host, which must not have begun.
    ///   - log: Where it says what happens.
    ///   - time: Where deadlines come from.
    /// - Throws: ``InboxError`` where the folder cannot be used.
    package convenience init(
        in directory: StateDirectory, after previous: BlackBox.Contents? = nil,
        box: BlackBox? = nil, log: Log, time: any TimeSource = SystemTimeSource.shared
    ) throws(InboxError) {
        try self.init(
            InboxFolder(in: directory), Limits(), after: previous, box: box, log: log, time: time)
    }

    init(
        _ folder: InboxFolder, _ limits: Limits, after previous: BlackBox.Contents? = nil,
        box: BlackBox? = nil, log: Log, time: any TimeSource
    ) throws(InboxError) {
        let lockWatch = InboxLockWatch(folder, patience: limits.patience, log: log, time: time)
        let cursor = InboxCursor.load(from: folder)
        let (folder, start) = try lockWatch.watching { () throws(InboxError) in
            try folder.make()
            let opened = try folder.opened()
            return (opened, try InboxStart(in: opened, cursor, previous))
        }
        for notice in start.notices { log.warning(notice) }
        // The black box goes on from a cursor: there is one from the beginning. If it is missing after
        // that, it was taken away.
        let known = try? cursor.get()
        var stored = known ?? InboxCursor()
        if known == nil || start.differs(from: stored) {
            stored.next = start.next
            stored.modules = start.modules
            stored.attempts = start.attempts
            // What the black box of the last host says is in it now, and is not to be added again.
            do throws(InboxError) { try stored.store(in: folder, advancing: 2) } catch {
                log.error(
                    "\(error); how often events were begun is not known if this host dies, too")
            }
        }
        box?.setCursorSequence(stored.sequence)
        origin = start
        storedAtStart = stored
        do throws(SystemError) {
            let mailbox = try InboxMailbox()
            self.mailbox = mailbox
            ended = try WakeSignal()
            progress = InboxProgress(box: box) { mailbox.wake() }
        } catch {
            throw .unusable(FileError("wait for news of", folder.path, error))
        }
        self.lockWatch = lockWatch
        self.folder = folder
        self.limits = limits
        self.box = box
        self.log = log
        self.time = time
    }

    // MARK: From any thread

    /// Begins to accept; nothing is delivered before ``open(for:)``.
    ///
    /// - Throws: Where the system has no room for a thread.
    package func start() throws(SystemError) {
        try NativeThread.start(name: "inbox") { [self] in
            var feeder = InboxFeeder(self)
            feeder.run()
            progress.leaveAll()
            ended.give()
        }
    }

    /// Hands an event in.
    package func submit(_ submission: InboxSubmission) {
        // Alone, and not with all the others that are written at once.
        let bytes = submission.line.count
        guard bytes <= folder.limits.line else {
            let error = InboxError.lineTooLong(bytes: bytes, limit: folder.limits.line)
            return submission.onAcceptance(.failed(error))
        }
        if let fault = mailbox.add(submission, limit: limits.waiting) {
            submission.onAcceptance(.failed(fault))
        }
    }

    /// Ends: what was handed in is still written, nothing more is handed to the lane.
    ///
    /// - Parameter time: How long to wait for the thread: a program that holds the lock, or a slow disk,
    ///   may keep it.
    package func stop(within time: Duration) {
        mailbox.end()
        _ = ended.wait(within: time)
    }

    /// The inbox in metrics: how large the log is as its thread has last seen it, all else as it is now.
    ///
    /// Waits neither for the disk nor for any thread.
    package func currentFigures() -> InboxMetrics {
        var metrics = metrics.withLock { $0 }
        metrics.done = progress.countDone
        metrics.position = progress.next ?? origin.first
        metrics.pendingBytes = sizes.withLock { $0.bytes(from: metrics.position) }
        return metrics
    }

    // MARK: On the lane

    /// The app is ready: its events may come.
    func open(for host: any InboxHost) { mailbox.open(host) }

    /// The app stops: no more events are handed to it.
    func close() { mailbox.close() }

    func began(_ entry: InboxEntry) { progress.began(entry) }

    /// The app stops before the event is delivered; the next host goes on with it.
    ///
    /// From any thread, before the lane comes to what stands after it.
    func handBack(_ entry: InboxEntry) { progress.handBack(entry) }

    func ended(_ entry: InboxEntry, _ outcome: EventOutcome) { progress.ended(entry, outcome) }

    /// Another module takes the place of one of the same id.
    func replace(_ old: ModuleSlot, by new: ModuleSlot) { progress.replace(old, by: new) }

    /// Events were dropped for a module, and are to be moved to the dead letters.
    func noteForfeit() { mailbox.wake() }

    /// An overdue module has a durable event, or none any more, that it has not received.
    ///
    /// Under the lane's lock.
    func note(_ slot: ModuleSlot, _ position: EventPosition?, isBegun: Bool) {
        progress.noteUndelivered(by: slot, position, isBegun: isBegun)
        if position == nil { mailbox.wake() }
    }

    // MARK: On the thread of an overdue module

    /// Reads an event again that an overdue module has not received.
    ///
    /// - Parameter place: Where it stands, or before it.
    /// - Returns: Its entry, nil where nothing can be read; and the event, nil where what stands there is
    ///   none to be received.
    func read(at place: EventPosition) -> (entry: InboxEntry?, event: LifecycleEvent?) {
        let item: InboxItem?
        do throws(InboxError) {
            item = try lateReader.withLock { reader throws(InboxError) in
                if let reader { return try reader.read(at: place) }
                let new = try InboxReader(folder)
                reader = new
                return try new.read(at: place)
            }
        } catch {
            log.error(
                "the inbox cannot be read at \(place), where an unresponsive module goes on: \(error)"
            )
            return (nil, nil)
        }
        guard let item else { return (nil, nil) }
        let isSkipped = skipped.withLock { $0.contains(item.position) }
        let record = isSkipped ? nil : try? InboxRecord(item)
        let entry = InboxEntry(
            position: item.position, end: item.end, id: record?.id,
            attempt: 1 + (origin.attempts[item.position] ?? 0),
            only: record?.modules.map(Set.init))
        return (entry, record?.event.standing(at: entry))
    }
}

extension InboxRecord {
    /// Reads what stands in the log.
    ///
    /// - Throws: What is wrong with it.
    init(_ item: InboxItem) throws(InboxFault) {
        if let fault = item.fault { throw fault }
        try self.init(parsing: item.bytes)
    }
}

extension Inbox {
    /// Moves lines to the dead letters, and says so in the log.
    func reject(_ events: [DeadLetter]) throws(InboxError) {
        guard !events.isEmpty else { return }
        try DeadLetters(folder).append(events)
        metrics.withLock { $0.rejected += events.count }
        let named = unnamed.withLock { $0.take(events.count) }
        for event in events.prefix(named) {
            log.warning(
                "moved the event at \(event.position) of the inbox to the dead letters: \(event.reason)"
            )
        }
    }

    /// Says how many more were rejected than the log has named.
    ///
    /// - Parameter isOver: Whether nothing more is to be rejected for now.
    func reportDeadLetters(isOver: Bool) {
        let reported = unnamed.withLock { $0.report(by: time, isOver: isOver) }
        guard let count = reported else { return }
        log.warning("moved \(count) more to the dead letters; 'hostd inbox list' shows them")
    }

    /// Something does not work; said once until it works again.
    func troubled(_ error: InboxError, _ work: InboxMetrics.Work) {
        let work = InboxMetrics.Work(work, failingBy: error)
        let trouble = "cannot \(work.rawValue): \(error.trouble)"
        let former = metrics.withLock { $0.troubles.updateValue(trouble, forKey: work) }
        if former != trouble { log.error(trouble) }
    }

    /// Notes that something which did not work works again.
    func settled(_ work: InboxMetrics.Work) {
        let former = metrics.withLock { $0.troubles.removeValue(forKey: work) }
        if former != nil { log.notice("can \(work.rawValue) again") }
    }
}

/// The rejected lines that the log has not named: a line for each would let a broken program fill the log.
private struct UnnamedRejections {
    private var named = 0
    private var count = 0
    private var reported: ContinuousClock.Instant?

    /// - Returns: How many of so many more are to be named.
    mutating func take(_ more: Int) -> Int {
        let names = min(more, 3 - named)
        named += names
        count += more - names
        return names
    }

    /// - Returns: How many to speak of now: at the end of a row, and once a second in a long one.
    mutating func report(by time: any TimeSource, isOver: Bool) -> Int? {
        if isOver { named = 0 }
        guard count > 0 else { return nil }
        let now = time.now()
        let since = reported ?? now
        guard isOver || now >= since + .seconds(1) else {
            reported = since
            return nil
        }
        defer { (count, reported) = (0, isOver ? nil : now) }
        return count
    }
}

/// The inbox in metrics.
package struct InboxMetrics: Hashable, Sendable {
    /// The number of events accepted through this host.
    package var accepted = 0
    /// The number of events that it has delivered.
    package var done = 0
    /// The number of lines that it has rejected.
    package var rejected = 0
    /// The number of duplicates, by their ids.
    package var duplicates = 0
    /// The first place that is not done.
    package var position: EventPosition?
    /// The bytes of the log from that position on.
    package var pendingBytes = 0
    /// The work that fails now, with the reason, such as a full disk.
    var troubles: [Work: String] = [:]

    /// The problem of the inbox, in words; nil if there is none.
    package var trouble: String? {
        let texts = Work.allCases.compactMap { troubles[$0] }
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    /// The kinds of work that can fail independently.
    enum Work: String, CaseIterable {
        case accepting = "accept events"
        case reading = "read the inbox"
        case cursor = "keep the cursor"
        case puttingAside = "move to the dead letters what modules are too far behind with"
        case looking = "look at the inbox"
        case everything = "use the inbox"

        /// Creates the kind of work that an error stands for, where this work fails by it.
        init(_ work: Work, failingBy error: InboxError) {
            if case .moved = error { self = .everything } else { self = work }
        }
    }

    package init() {}

    /// Writes the metrics as one object.
    func write(to json: inout JSONWriter) {
        json.object {
            if let position { $0.member("position", position.description) }
            $0.member("pendingBytes", pendingBytes)
            $0.member("accepted", accepted)
            $0.member("done", done)
            $0.member("deadLetters", formerly: "rejected") { $0.member($1, rejected) }
            $0.member("duplicates", duplicates)
            if let trouble { $0.member("trouble", trouble) }
        }
    }
}
