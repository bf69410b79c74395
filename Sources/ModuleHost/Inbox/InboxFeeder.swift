import AppService

/// The work of the inbox's thread, turn by turn.
///
/// Belongs to that thread.
struct InboxFeeder {
    enum Limits {
        /// The largest number of events that wait for the lane.
        ///
        /// Other work for the lane waits behind them: with modules that synchronize a file at each event,
        /// `hostd status` waits that many times some milliseconds.
        static let window = 64
        /// The largest number of lines that are read at once.
        static let batch = window / 2
        /// The largest number of bytes of the log that wait for the lane; the event that reaches the limit
        /// may exceed it.
        ///
        /// In memory a payload takes up to sixteen times its size as text.
        static let windowBytes = 4 << 20
        /// The number of readings in one turn before other work is done.
        static let readings = 16
        /// The time to wait after an error of the disk before the next try.
        static let pause: Duration = .seconds(1)
    }

    let inbox: Inbox
    var writer: InboxWriter?
    private(set) var reader: InboxReader?
    /// The progress of earlier hosts, from which this one continues.
    var start: InboxStart
    /// The ids by which events are recognized.
    var known = KnownIDs()
    /// The reason why the ids of the log could not be read; nil if they could.
    var scanError: InboxError?
    /// The instant since which events wait for the scan of ids.
    var waitedForScan: ContinuousClock.Instant?
    var isScanReported = false
    /// The records that this host has written and not read yet.
    var unread = UnreadRecords()
    /// The cursor as it was stored last.
    var stored: InboxCursor
    var isCursorDue: ContinuousClock.Instant?
    /// The instant at which the cursor was last compared with the stored one.
    var lastComparison: ContinuousClock.Instant?
    /// The instant until which nothing is read, since the log could not be read.
    var pause: ContinuousClock.Instant?
    /// Whether the lane had no room when there may have been more events for it.
    private var awaitsRoom = false
    /// The bytes that were passed to the lane since it was last done with everything.
    private var givenBytes = 0
    /// The lines that were read and are not passed on yet, since the lane had no room or an operation failed.
    var next: [InboxItem] = []
    /// The verdicts on these lines: on the first ones, or on all.
    var verdicts: [Verdict] = []
    /// The jobs of the lane that are not known to be done, with the end of the last event of each batch.
    ///
    /// Kept so that this thread frees the events, as it has allocated them. Where the lane freed them, both threads waited
    /// for the allocator's lock, and many pending events took nearly twice as long.
    private var passedOn = Deque<(end: EventPosition, jobs: [any LaneJob])>()
    /// Whether there is more to be read at once.
    var hasMore = false
    /// The instant since which lines that are not events are skipped, and whether that was logged.
    private var skipping: (since: ContinuousClock.Instant, isReported: Bool)?
    /// The position up to which everything was passed to the lane.
    private var given: EventPosition?
    /// The places of the lines that earlier hosts have rejected last; nil until they are needed.
    var rejectedBefore: Set<DeadLetterPlace>?
    /// Whether the path of the inbox leads to another folder, and all work waits until it leads back.
    var isAway = false
    /// The failed modules for which more events would wait than the limit allows; that was logged.
    var overfull: Set<ModuleID> = []
    let segments: SegmentList
    private(set) weak var host: (any InboxHost)?
    private(set) var lane: Lane?
    /// The segment up to which unneeded segments have been removed.
    var cleared: UInt32 = 0
    /// The number of changes of the segments that the reader has read up to, or that this turn began with.
    private var changesSeen = 0
    /// The number of changes of the list of segments when their sizes were read; nil before that.
    private var listChangesSized: Int?
    private var poll = PollSet()

    init(_ inbox: Inbox) {
        self.inbox = inbox
        start = inbox.origin
        stored = inbox.storedAtStart
        do throws(FileError) { segments = try SegmentList(watching: inbox.folder) } catch {
            segments = SegmentList(inbox.folder)
            inbox.log.warning(
                "\(error); events of other programs are seen when this host writes one itself")
        }
    }

    mutating func run() {
        while true {
            hasMore = false
            releaseDone()
            changesSeen = segments.changeCount
            lookForPlace()
            let canTell = known.isComplete || scanError != nil || isAway
            let letters = inbox.mailbox.take(withIDs: canTell)
            // What other programs append from now on is delivered by the next host.
            if letters.isClosed {
                segments.endWatch()
                // The last reference to the app is not to be this thread's.
                passedOn = Deque()
            }
            if !letters.submissions.isEmpty { accept(letters.submissions) }
            scanIDs(isWaitedFor: letters.isWaitedFor)
            if !letters.isClosed, !letters.isEnding, let host = letters.host {
                feed(host, of: letters.modules)
            }
            storeCursorIfDue()
            if letters.isEnding {
                inbox.reportDeadLetters(isOver: true)
                break
            }
            wait(isOpen: !letters.isClosed && letters.host != nil)
        }
        storeCursor()
    }

    // MARK: Feeding

    private mutating func feed(_ host: any InboxHost, of modules: Set<ModuleID>) {
        awaitsRoom = false
        if isAway { return }
        if let pause, inbox.time.now() < pause { return }
        pause = nil
        do throws(InboxError) {
            let reader = try open(for: host, of: modules)
            guard known.isComplete(before: reader.position) else { return }
            for reading in 1... {
                try prepare(reader)
                guard hasRoom() else {
                    // Noted here: there may be room again before this thread sleeps.
                    awaitsRoom = true
                    inbox.reportDeadLetters(isOver: false)
                    if inbox.progress.hasTooManyUnanswered(inbox.limits) {
                        inbox.reportUnanswered(inbox.progress.countSuspended)
                    }
                    // However far behind the modules are, the size of a segment stays limited.
                    try openWriter().rollWhenLarge()
                    break
                }
                inbox.reportUnanswered(nil)
                if next.isEmpty {
                    pass(to: reader.position, host)
                    if reader.isPaused {
                        hasMore = true
                        noteSkipping(reader)
                        break
                    }
                    skipping = nil
                    changesSeen = max(changesSeen, reader.changeCount)
                    inbox.reportDeadLetters(isOver: true)
                    guard try rollWhenFull(reader) else { break }
                    continue
                }
                skipping = nil
                try passOn(to: host)
                if reading >= Limits.readings {
                    hasMore = true
                    break
                }
            }
            inbox.settled(.reading)
        } catch {
            // Set before the error is reported: a test that sees it and moves the clock on moves it past the pause.
            pause = inbox.time.now() + Limits.pause
            note(error, .reading)
        }
    }

    /// Reads the next lines, and decides on each, while the lane is busy with those before.
    private mutating func prepare(_ reader: InboxReader) throws(InboxError) {
        if inbox.progress.countInFlight == 0 { givenBytes = 0 }
        if next.isEmpty, givenBytes < Limits.windowBytes {
            next = try inbox.lockWatch.watching { () throws(InboxError) in
                try reader.next(
                    atMost: Limits.batch, bytes: Limits.windowBytes - givenBytes,
                    step: inbox.folder.limits.step)
            }
            for notice in reader.notices { inbox.log.warning("\(notice)") }
            reader.notices = []
        }
        while verdicts.count < next.count {
            verdicts.append(try verdict(on: next[verdicts.count], reader))
        }
    }

    /// Returns whether the prepared lines, or the fact that there are none, may be passed to the lane.
    private func hasRoom() -> Bool {
        inbox.progress.countInFlight <= Limits.window - max(1, next.count)
            && givenBytes < Limits.windowBytes
            && !inbox.progress.isFull(inbox.limits)
    }

    /// Begins a new segment where programs that do not handle segments have filled the newest.
    ///
    /// - Returns: Whether it was full.
    private mutating func rollWhenFull(_ reader: InboxReader) throws(InboxError) -> Bool {
        guard Int(reader.position.offset) >= inbox.folder.limits.segment else { return false }
        return try openWriter().rollWhenFull()
    }

    /// Opens the log at the position that the last host had reached.
    private mutating func open(
        for host: any InboxHost, of modules: Set<ModuleID>
    ) throws(InboxError) -> InboxReader {
        if let reader { return reader }
        try dropRemoved(modules)
        let reader = try InboxReader(inbox.folder, segments, from: start.first)
        inbox.progress.start(
            at: reader.position, upTo: max(start.next ?? reader.position, reader.position),
            again: start.unanswered)
        (self.reader, lane, given) = (reader, host.lane, reader.position)
        self.host = host
        return reader
    }

    /// Passes the prepared lines to the lane, or moves them to the dead letters; where this throws, all of them are
    /// still to be passed on.
    private mutating func passOn(to host: any InboxHost) throws(InboxError) {
        putAsideWithoutModule(host)
        // Before anything is passed on: where this fails, all of it is tried again.
        try inbox.reject(verdicts.compactMap(\.rejection))
        let (items, verdicts) = (next, verdicts)
        (next, self.verdicts) = ([], [])
        var events: [LifecycleEvent] = []
        events.reserveCapacity(items.count)
        for (item, verdict) in zip(items, verdicts) {
            switch verdict {
            case .deliver(let event):
                given = item.end
                inbox.progress.enter()
                givenBytes += item.bytes.count
                events.append(event)
            case .done: inbox.progress.forgetUnanswered(item.position)
            case .duplicate: skip(item, .duplicate)
            case .reject(let rejection): skip(item, .rejected(rejection.reason))
            case .rejectedBefore(let reason): skip(item, .rejected(reason))
            }
        }
        if !events.isEmpty, let given { passedOn.append((given, host.enqueue(events))) }
        if let end = items.last?.end { pass(to: end, host) }
    }

    /// Releases the jobs that the lane has done.
    private mutating func releaseDone() {
        guard let next = inbox.progress.next else { return }
        while let first = passedOn.first, first.end <= next { _ = passedOn.popFirst() }
    }

    /// Makes the lane pass a part of the log without events, in its turn.
    private mutating func pass(to end: EventPosition, _ host: any InboxHost) {
        guard end > given ?? end else { return }
        given = end
        inbox.progress.enter()
        host.lane.enqueue(limit: .event) { [progress = inbox.progress] _ in progress.passed(to: end)
        }
    }

    /// Logs, once, that there is much to skip before the next event.
    private mutating func noteSkipping(_ reader: InboxReader) {
        let now = inbox.time.now()
        let since = skipping?.since ?? now
        let isReported = skipping?.isReported ?? false
        let isTime = !isReported && since.duration(to: now) >= inbox.limits.patience
        skipping = (since, isReported || isTime)
        guard isTime else { return }
        let what = reader.isInLongLine ? "a line that is too long" : "empty lines"
        inbox.log.notice(
            "skipping \(what) in the inbox, at \(reader.position) for "
                + "\(since.duration(to: now).briefText); what follows is delivered after that")
    }

    private func skip(_ item: InboxItem, _ outcome: InboxSubmission.DeliveryResult) {
        inbox.skipped.withLock { _ = $0.insert(item.position) }
        inbox.progress.forgetUnanswered(item.position)
        if case .duplicate = outcome { inbox.metrics.withLock { $0.duplicates += 1 } }
        inbox.progress.notifyWaiter(item.position, outcome)
    }

    // MARK: Waiting

    /// Publishes the size of the log for threads that do not read the files.
    private mutating func noteSizes() {
        if isAway { return }
        do throws(InboxError) {
            if try !noteGrowth() {
                let numbers = try segments.numbers()
                let listChanges = segments.listChangeCount
                var sizes = inbox.sizes.withLock { $0 }
                try sizes.look(at: inbox.folder, numbers)
                inbox.sizes.withLock { $0 = sizes }
                listChangesSized = listChanges
            }
            inbox.settled(.looking)
        } catch {
            note(error, .looking)
        }
    }

    /// Notes the size of the newest segment alone, where there are the same segments as at the last check.
    ///
    /// - Returns: False where the folder has to be listed.
    private func noteGrowth() throws(InboxError) -> Bool {
        guard listChangesSized == segments.listChangeCount else { return false }
        var end = segments.ownEnd
        if end == nil, let reader { end = try reader.newestEnd() }
        guard let end else { return false }
        return inbox.sizes.withLock { $0.note(end) }
    }

    private mutating func wait(isOpen: Bool) {
        noteSizes()
        let enough = givenBytes < Limits.windowBytes ? Limits.window - Limits.batch : 0
        if isOpen, awaitsRoom, !inbox.progress.awaitRoom(untilAtMost: enough, inbox.limits) {
            return
        }
        let isIdle = !hasMore || isAway || pause != nil
        poll.removeAll()
        let mail = poll.insert(inbox.mailbox.bell.descriptor, .reading)
        if let descriptor = segments.descriptor { poll.insert(descriptor, .reading) }
        // The report of an append after the log had been read to its end may have been taken by other work.
        let isQuiet = isIdle && segments.changeCount == changesSeen
        poll.wait(milliseconds: inbox.mailbox.bell.fallAsleep() && isQuiet ? untilNext : 0)
        inbox.mailbox.bell.wakeUp(signalled: poll.canRead(mail))
        segments.takeChanges()
    }

    /// The time until the next work is due, in milliseconds; −1 for none.
    private var untilNext: Int32 {
        let isPausing = isAway ? nil : pause
        guard let next = [isCursorDue, isPausing].compactMap({ $0 }).min() else { return -1 }
        let left = inbox.time.now().duration(to: next)
        return Int32(clamping: max(0, left.wholeNanoseconds) / 1_000_000 + 1)
    }
}
