import AppService
import Synchronization

/// The inbox of a running host: it accepts durable events, and passes them to the lane.
///
/// One thread of its own writes the events that the host's clients submit, for all of them at once; reads the
/// events of the log, whichever program wrote them; passes them to the lane, in order, a window at a time;
/// and stores the cursor. It sleeps when there is no such work.
///
/// Accepted means that the event is on the disk. Done means that every module listed for it has returned or
/// thrown. After this process has died, for whatever reason, the next host continues with the events that are
/// not done.
package final class Inbox: Sendable {
    /// The limits of events in flight.
    struct Limits: Hashable, Sendable {
        /// The bytes that may wait to be written; more are refused.
        var waiting = 64 << 20
        /// The time that other programs may have the lock before the log names them.
        var patience: Duration = .seconds(5)
        /// The time that the stored cursor may be behind the deliveries.
        var cursorDelay: Duration = .seconds(1)
        /// The number of times that the delivery of one event may end the host.
        var attempts = 3
        /// The bytes of durable events that a module may be behind; nil for what the slatefile says.
        var behind: Int?
        /// The number of events without an answer at which no more are passed to the lane.
        var unanswered = 1024
        /// The bytes of these events, and of those that modules in processes of their own have yet to answer, each.
        var unansweredBytes = 16 << 20
        /// The number of events that modules in processes of their own have yet to answer at which no more are passed to the
        /// lane: below the backlog of a module, so that these are in memory.
        var open = 256
    }

    let folder: InboxFolder
    let limits: Limits
    let log: Log
    /// The host's program, whose commands the log names.
    let program: ProgramIdentity
    let time: any TimeSource
    let box: BlackBox?
    let progress: InboxProgress
    let mailbox: InboxMailbox
    let metrics = Guarded(InboxMetrics())
    /// The sizes of the segments at the last check of the inbox's thread.
    let sizes = Guarded(SegmentSizes())
    /// The records that look like events but are not delivered: duplicates, and rejected ones.
    let skipped = Guarded<Set<EventPosition>>([])
    private let unnamed = Guarded(UnnamedRejections())
    /// The position at which this host continues.
    let origin: InboxStart
    /// The cursor as it was stored at the start.
    let storedAtStart: InboxCursor
    /// The watch that reports what blocks the thread where it waits for long.
    let lockWatch: InboxLockWatch
    /// The id of the host, together with which positions are unique; nil where it could not be stored.
    let hostID: String?
    /// The reader of events that overdue modules have not received, used on their threads.
    private let overdueReader = Guarded<InboxReader?>(nil)
    private let ended: WakeSignal

    /// Creates the folder where it is missing, and finds the position that the last host has reached.
    ///
    /// The number of attempts for an event in which it died is on the disk then.
    ///
    /// - Parameters:
    ///   - directory: The state directory, claimed by this process.
    ///   - previous: The contents of the last host's black box, which has its progress exact to the event.
    ///   - box: The black box of this host, which must not have begun.
    ///   - log: The log for its messages.
    ///   - program: The program, for its messages.
    ///   - time: The source of deadlines.
    /// - Throws: ``InboxError`` where the folder cannot be used.
    package convenience init(
        in directory: StateDirectory, after previous: BlackBox.Contents? = nil,
        box: BlackBox? = nil, log: Log, program: ProgramIdentity = .hostd,
        time: any TimeSource = SystemTimeSource.shared
    ) throws(InboxError) {
        try self.init(
            InboxFolder(in: directory), Limits(), after: previous, box: box, log: log,
            program: program, time: time)
    }

    init(
        _ folder: InboxFolder, _ limits: Limits, after previous: BlackBox.Contents? = nil,
        box: BlackBox? = nil, log: Log, program: ProgramIdentity = .hostd, time: any TimeSource
    ) throws(InboxError) {
        self.program = program
        let lockWatch = InboxLockWatch(folder, patience: limits.patience, log: log, time: time)
        let cursor = InboxCursor.load(from: folder)
        let (folder, start, hostID) = try lockWatch.watching { () throws(InboxError) in
            try folder.make()
            let opened = try folder.opened()
            let start = try InboxStart(in: opened, cursor, previous)
            let hostID = Result { () throws(InboxError) in try opened.hostID() }
            return (opened, start, hostID)
        }
        if case .failure(let error) = hostID {
            log.warning("\(error); modules that join hosts do not run until the host has an id")
        }
        self.hostID = try? hostID.get()
        for notice in start.notices { log.warning(notice) }
        // The black box continues a cursor: one exists from the beginning. If it is missing later, it was
        // removed.
        let known = try? cursor.get()
        var stored = known ?? InboxCursor()
        if known == nil || start.differs(from: stored) {
            stored.next = start.next
            stored.modules = start.modules
            stored.attempts = start.attempts
            stored.unanswered = start.unanswered
            stored.uncertainBefore = start.uncertainBefore
            // The contents of the last host's black box are in the cursor now, and must not be added again.
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

    /// Begins to accept events; none is delivered before ``open(for:)``.
    ///
    /// - Parameter claim: The claim of the state directory, kept by the thread: another host would write to the same files.
    /// - Throws: An error where the system has no room for a thread.
    package func start(keeping claim: PidFile? = nil) throws(SystemError) {
        let claim = Guarded(claim)
        try NativeThread.start(name: "inbox") { [self] in
            var feeder = InboxFeeder(self)
            feeder.run()
            progress.leaveAll()
            claim.withLock { $0 = nil }
            ended.give()
        }
    }

    /// Submits an event.
    package func submit(_ submission: InboxSubmission) {
        // Each submission by itself, and not together with all the others that are written at once.
        let bytes = submission.line.count
        guard bytes <= folder.limits.line else {
            let error = InboxError.lineTooLong(bytes: bytes, limit: folder.limits.line)
            return submission.onAcceptance(.failed(error))
        }
        if let error = mailbox.add(submission, limit: limits.waiting) {
            submission.onAcceptance(.failed(error))
        }
    }

    /// Stops: submitted events are still written, and no further event is passed to the lane.
    ///
    /// - Parameter time: The longest wait for the thread: a program that has the lock, or a slow disk, may
    ///   delay it.
    package func stop(within time: Duration) {
        mailbox.end()
        _ = ended.wait(within: time)
    }

    /// Refuses what was submitted to an inbox that was never started.
    func abandon() {
        mailbox.end()
        for submission in mailbox.take(withIDs: true).submissions {
            submission.onAcceptance(.failed(InboxRefusal.ending))
        }
    }

    /// Returns the metrics of the inbox: the size of the log at the last check of its thread, everything else
    /// as it is now.
    ///
    /// Waits neither for the disk nor for any thread.
    ///
    /// - Parameter lane: The lane of the modules: events that one of them has yet to receive are not done; nil for none.
    func currentFigures(with lane: Lane? = nil) -> InboxMetrics {
        var metrics = metrics.withLock { $0 }
        let pending = lane?.pendingEvents
        metrics.done = max(0, progress.countDone + progress.countOpen - (pending?.count ?? 0))
        let next = progress.next ?? origin.first
        let first = [next, pending?.first].compactMap(\.self) + progress.unansweredPositions
        metrics.position = first.min()
        metrics.pendingBytes = sizes.withLock { $0.bytes(from: metrics.position) }
        return metrics
    }

    // MARK: On the lane

    /// Begins the delivery of events: the app is ready.
    ///
    /// - Parameters:
    ///   - host: The app.
    ///   - slots: The slots of its modules as they are now: a reload may replace them before the inbox's thread
    ///     opens the log.
    func open(for host: any InboxHost, _ slots: [ModuleSlot]) {
        progress.expect(slots, at: origin.modules, upTo: origin.next)
        mailbox.open(host, of: Set(host.enabledModules))
    }

    /// Whether modules have yet to receive what they had not received when the last host ended.
    var isCatchingUp: Bool { progress.isCatchingUpNow }

    /// Ends the delivery: a stop is requested, and no more events are passed to the app.
    ///
    /// From any thread.
    func close() { mailbox.close() }

    func began(_ entry: InboxEntry) { progress.began(entry) }

    /// Leaves an event to the next host: the app stops before it is delivered.
    ///
    /// From any thread, before the lane reaches the work after the event.
    func handBack(_ entry: InboxEntry) { progress.handBack(entry) }

    func ended(_ entry: InboxEntry, _ outcome: EventOutcome) { progress.ended(entry, outcome) }

    /// Notes that the lane has passed an event that some modules have yet to answer.
    func passed(_ entry: InboxEntry) { progress.passed(entry) }

    /// Notes the outcome of an event that was noted by ``passed(_:)``.
    func finished(_ entry: InboxEntry, _ outcome: EventOutcome) {
        progress.finished(entry, outcome)
    }

    /// Notes that every module listed for an event has returned, and that its answer is to come.
    ///
    /// - Parameter isBegun: Whether a module has begun to answer.
    func suspended(_ entry: InboxEntry, isBegun: Bool) {
        progress.suspended(entry, isBegun: isBegun)
    }

    /// Notes that a module begins to answer an event that was noted before that.
    func beginsAnswer(to entry: InboxEntry) { progress.noteBegun(entry.position) }

    /// Notes that URLs wait for modules that have not answered others, in words; nil if none does.
    func noteBlocked(_ problem: String?) { metrics.withLock { $0.blocked = problem } }

    /// Notes the answer to an event that was noted by ``suspended(_:isBegun:)``.
    ///
    /// From any thread.
    func answered(_ entry: InboxEntry, _ outcome: EventOutcome) {
        progress.answered(entry, outcome)
    }

    /// Replaces a module by another one with the same id.
    func replace(_ old: ModuleSlot, by new: ModuleSlot) { progress.replace(old, by: new) }

    /// Returns the events that the last host left for a module and that the lane has not reached; nil for none.
    func left(for slot: ModuleSlot) -> Range<EventPosition>? { progress.left(for: slot) }

    /// Notes that events were dropped for a module, and are to be moved to the dead letters.
    func noteDropped() { mailbox.wake() }

    /// Notes the durable events that a module which is behind has not received; nil where there are none any more.
    ///
    /// Under the lane's lock.
    func note(_ slot: ModuleSlot, _ events: UndeliveredEvents?) {
        progress.noteUndelivered(by: slot, events)
        if events == nil { mailbox.wake() }
    }

    // MARK: On the thread of an overdue module

    /// Reads an event again that an overdue module has not received.
    ///
    /// - Parameter position: The position of the event, or one before it.
    /// - Returns: Its entry, nil where nothing can be read; and the event, nil where the record is not one
    ///   that can be received.
    func read(at position: EventPosition) -> (entry: InboxEntry?, event: LifecycleEvent?) {
        let item: InboxItem?
        do throws(InboxError) {
            item = try overdueReader.withLock { reader throws(InboxError) in
                if let reader { return try reader.read(at: position) }
                let new = try InboxReader(folder)
                reader = new
                return try new.read(at: position)
            }
        } catch {
            log.error(
                "the inbox cannot be read at \(position), where an unresponsive module continues: \(error)"
            )
            return (nil, nil)
        }
        guard let item else { return (nil, nil) }
        let isSkipped = skipped.withLock { $0.contains(item.position) }
        let record = isSkipped ? nil : try? InboxRecord(item)
        let entry = InboxEntry(
            position: item.position, end: item.end, id: record?.id, source: record?.source,
            attempt: 1 + (origin.attempts[item.position] ?? 0),
            isRepeated: origin.isUncertain(at: item.position),
            only: record?.modules.map(Set.init))
        guard var event = record?.event.standing(at: entry) else { return (entry, nil) }
        event.laterAnswers = event.kind.isClaimed ? .none : .all
        return (entry, event)
    }
}

extension InboxRecord {
    /// Creates a record from an item of the log.
    ///
    /// - Throws: The error of the line.
    init(_ item: InboxItem) throws(InboxRecordError) {
        if let error = item.error { throw error }
        try self.init(parsing: item.bytes)
    }
}

extension Inbox {
    /// Moves lines to the dead letters, and logs that.
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

    /// Logs the number of rejected lines that the log has not named.
    ///
    /// - Parameter isOver: Whether no further line is rejected for now.
    func reportDeadLetters(isOver: Bool) {
        let reported = unnamed.withLock { $0.report(by: time, isOver: isOver) }
        guard let count = reported else { return }
        log.warning(
            "moved \(count) more to the dead letters; '\(program.name) inbox list' shows them")
    }

    /// Logs once that no event is delivered before others have their answers, and once when that is over.
    ///
    /// - Parameter count: The number of events without an answer; nil if that keeps no other from being delivered.
    func reportUnanswered(_ count: Int?) {
        let wasReported = metrics.withLock { metrics in
            defer { metrics.unanswered = count }
            return metrics.unanswered != nil
        }
        if let count, !wasReported {
            log.error(
                "\(count) events of the inbox are not answered: no further ones are delivered before one is"
            )
        } else if count == nil, wasReported {
            log.notice("events of the inbox are delivered again")
        }
    }

    /// Logs work that fails; once until it succeeds again.
    func reportProblem(_ error: InboxError, _ work: InboxMetrics.Work) {
        let work = InboxMetrics.Work(work, failingBy: error)
        let problem = "cannot \(work.rawValue): \(error.problem)"
        let former = metrics.withLock { $0.problems.updateValue(problem, forKey: work) }
        if former != problem { log.error(problem) }
    }

    /// Notes that work which failed succeeds again.
    func settled(_ work: InboxMetrics.Work) {
        let former = metrics.withLock { $0.problems.removeValue(forKey: work) }
        if former != nil { log.notice("can \(work.rawValue) again") }
    }
}

/// The rejected lines that the log has not named: naming each would let a broken program fill the log.
private struct UnnamedRejections {
    private var named = 0
    private var count = 0
    private var reported: ContinuousClock.Instant?

    /// - Returns: The number of the `more` lines that are to be named.
    mutating func take(_ more: Int) -> Int {
        let names = min(more, 3 - named)
        named += names
        count += more - names
        return names
    }

    /// - Returns: The number to report now: at the end of a series, and once a second in a long one.
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
    /// The number of events that this host has delivered to every module listed for them.
    package var done = 0
    /// The number of lines that this host has rejected.
    package var rejected = 0
    /// The number of duplicates, by their ids.
    package var duplicates = 0
    /// The first position that is not done.
    package var position: EventPosition?
    /// The bytes of the log from that position on.
    package var pendingBytes = 0
    /// The work that fails now, with the reason, such as a full disk.
    var problems: [Work: String] = [:] { didSet { noteProblem() } }
    /// The modules for which URLs wait, in words; nil if none does.
    var blocked: String? { didSet { noteProblem() } }
    /// The number of events without an answer, if that keeps all others from being delivered.
    var unanswered: Int? { didSet { noteProblem() } }
    /// The time since when there is a problem; nil if there is none.
    private(set) var problemSince: WallTime?

    private mutating func noteProblem() {
        problemSince = problem == nil ? nil : problemSince ?? .now()
    }

    /// The problem of the inbox, in words; nil if there is none.
    package var problem: String? {
        var texts = Work.allCases.compactMap { problems[$0] }
        if let blocked { texts.append(blocked) }
        if let unanswered {
            texts.append("\(unanswered) events are not answered: no further ones are delivered")
        }
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    /// The kinds of work that can fail independently.
    enum Work: String, CaseIterable {
        case accepting = "accept events"
        case reading = "read the inbox"
        case cursor = "keep the cursor"
        case puttingAside = "move the oldest undelivered events to the dead letters"
        case looking = "look at the inbox"
        case everything = "use the inbox"

        /// Creates the kind of work for an error, where `work` fails with it.
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
            $0.member("deadLetters", rejected)
            $0.member("duplicates", duplicates)
            guard let problem else { return }
            $0.member("problem", problem)
            if let problemSince { $0.member("problemSince", problemSince.iso8601) }
        }
    }
}
