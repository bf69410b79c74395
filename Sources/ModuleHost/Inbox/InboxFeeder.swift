import AppService

/// The work of the inbox's thread, turn by turn.
///
/// Belongs to that thread.
struct InboxFeeder {
    enum Limits {
        /// How many events the lane has before it at most.
        ///
        /// Whatever else the lane is asked for waits behind them: with modules that synchronize a file at
        /// each event, `hostd status` for as many times some milliseconds.
        static let window = 64
        /// How often lines are read in one go before other work has its turn.
        static let readings = 16
        /// How long to wait after a fault of the disk before the next try.
        static let pause: Duration = .seconds(1)
    }

    let inbox: Inbox
    private var writer: InboxWriter?
    private var reader: InboxReader?
    /// Where it goes on: what is done, and by whom.
    var start: InboxStart
    /// The ids of what stands in the log, up to where it was read.
    var ids: RetainedIDs
    /// What was written here and is not read yet.
    var unread = UnreadRecords()
    /// The cursor as it was stored last.
    private var stored: InboxCursor
    private var isCursorDue: ContinuousClock.Instant?
    /// Until when nothing is read, since the log could not be.
    private var pause: ContinuousClock.Instant?
    /// Whether the lane had no room when there may have been more for it.
    private var awaitsRoom = false
    /// What was read and is not yet handed on, since something did not work.
    private var unfinished: [InboxItem] = []
    /// Whether there is more to be read right away.
    private var hasMore = false
    /// Since when it skips what is no event, and whether the log has it.
    private var skipping: (since: ContinuousClock.Instant, isTold: Bool)?
    /// Up to where the lane has been given everything.
    private var given: EventPosition?
    /// What hosts before this one have rejected last; nil where nobody had to know.
    var rejectedBefore: Set<RejectedPlace>?
    /// Whether the path of the inbox leads to another folder, and nothing can be done until it leads back.
    private var isAway = false
    private let segments: SegmentList
    private var lane: Lane?
    /// Up to which segment those that nobody needs have been removed.
    private var cleared: UInt32 = 0
    private var poll = PollSet()

    init(_ inbox: Inbox) {
        self.inbox = inbox
        ids = RetainedIDs()
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
            lookForPlace()
            let letters = inbox.mailbox.take()
            if !letters.submissions.isEmpty { accept(letters.submissions) }
            if !letters.isClosed, !letters.isEnding, let host = letters.host { feed(host) }
            storeCursorIfDue()
            if letters.isEnding {
                inbox.tellRejected(isOver: true)
                break
            }
            wait(isOpen: !letters.isClosed && letters.host != nil)
        }
        storeCursor()
    }

    // MARK: Accepting

    private mutating func accept(_ submissions: [InboxSubmission]) {
        var fresh: [InboxSubmission] = []
        fresh.reserveCapacity(submissions.count)
        for submission in submissions {
            if let id = submission.id, isKnown(id) {
                inbox.figures.withLock { $0.duplicates += 1 }
                submission.onFate(.duplicate)
            } else {
                fresh.append(submission)
            }
        }
        guard !fresh.isEmpty else { return }
        do throws(InboxError) {
            let places = try inbox.lockWatch.watching { () throws(InboxError) in
                try openWriter().append(fresh.map(\.line))
            }
            inbox.figures.withLock { $0.accepted += fresh.count }
            for (submission, place) in zip(fresh, places) {
                if let onOutcome = submission.onOutcome {
                    inbox.progress.wait(for: place, onOutcome)
                }
                if let record = submission.record {
                    unread.add(record, at: place, size: submission.line.count)
                }
                submission.onFate(.accepted(place))
            }
            inbox.settled(.accepting)
        } catch {
            note(error, .accepting)
            for submission in fresh { submission.onFate(.failed(error)) }
        }
    }

    private mutating func openWriter() throws(InboxError) -> InboxWriter {
        if let writer { return writer }
        let new = try InboxWriter(inbox.folder, segments)
        writer = new
        return new
    }

    /// Whether an event of this id stands in what was read so far.
    private mutating func isKnown(_ id: String) -> Bool {
        guard let reader else { return false }
        return (try? ids.original(of: id, before: nil, in: reader)) != nil
    }

    // MARK: Feeding

    private mutating func feed(_ host: Host) {
        awaitsRoom = false
        if isAway { return }
        if let pause, inbox.time.now() < pause { return }
        pause = nil
        do throws(InboxError) {
            let reader = try open(for: host)
            for reading in 1... {
                guard inbox.progress.countInFlight < Limits.window else {
                    // Noted here: there may be room again before this thread has come to its sleep.
                    awaitsRoom = true
                    inbox.tellRejected(isOver: false)
                    // However far behind the modules are, no segment grows beyond measure.
                    try openWriter().rollWhenLarge()
                    break
                }
                if unfinished.isEmpty {
                    let room = Limits.window - inbox.progress.countInFlight
                    unfinished = try inbox.lockWatch.watching { () throws(InboxError) in
                        try reader.next(atMost: room, step: inbox.folder.limits.step)
                    }
                    for notice in reader.notices { inbox.log.warning("\(notice)") }
                    reader.notices = []
                }
                if unfinished.isEmpty {
                    pass(to: reader.position, host)
                    if reader.isPaused {
                        hasMore = true
                        noteSkipping(reader)
                        break
                    }
                    skipping = nil
                    inbox.tellRejected(isOver: true)
                    guard try rollWhenFull(reader) else { break }
                    continue
                }
                skipping = nil
                try take(unfinished, from: reader, host)
                unfinished = []
                if reading >= Limits.readings {
                    hasMore = true
                    break
                }
            }
            inbox.settled(.reading)
        } catch {
            note(error, .reading)
            pause = inbox.time.now() + Limits.pause
        }
    }

    /// Begins a new segment where programs that know nothing of segments have filled the newest.
    ///
    /// - Parameter reader: At the end of the log.
    /// - Returns: Whether it was full.
    /// - Throws: ``InboxError``.
    private mutating func rollWhenFull(_ reader: InboxReader) throws(InboxError) -> Bool {
        guard Int(reader.position.offset) >= inbox.folder.limits.segment else { return false }
        return try openWriter().rollWhenFull()
    }

    /// Opens the log where the last host had come to, with the ids of what stands before.
    private mutating func open(for host: Host) throws(InboxError) -> InboxReader {
        if let reader { return reader }
        let modules = host.slatefile.modules.filter(\.isEnabled)
        for id in start.keep(Set(modules.map(\.id))) {
            inbox.log.of(module: id.text).warning(
                "events wait for it in the inbox, but the slatefile has it no more: they are dropped"
            )
        }
        let reader = try InboxReader(inbox.folder, segments, from: start.first)
        try ids.scan(inbox.folder, below: reader.position)
        inbox.progress.start(
            at: reader.position, upTo: max(start.next ?? reader.position, reader.position),
            for: host.cells(of: start.modules))
        (self.reader, lane, given) = (reader, host.gate.lane, reader.position)
        return reader
    }

    /// Hands lines to the lane, or puts them aside; where that throws, all of them are still to be taken.
    private mutating func take(
        _ items: [InboxItem], from reader: InboxReader, _ host: Host
    ) throws(InboxError) {
        var verdicts: [Verdict] = []
        verdicts.reserveCapacity(items.count)
        for item in items { verdicts.append(try verdict(on: item, reader)) }
        // Before anything is handed on: where this fails, all of it is tried again.
        try inbox.reject(verdicts.compactMap(\.rejection))
        var requests: [EventRequest] = []
        requests.reserveCapacity(items.count)
        for (item, verdict) in zip(items, verdicts) {
            switch verdict {
            case .deliver(let event):
                given = item.end
                inbox.progress.enter()
                requests.append(.event(event))
            case .done: break
            case .duplicate: skip(item, .duplicate)
            case .reject(let rejection): skip(item, .rejected(rejection.reason))
            case .rejectedBefore(let reason): skip(item, .rejected(reason))
            }
        }
        if !requests.isEmpty { host.enqueue(requests) }
        if let end = items.last?.end { pass(to: end, host) }
    }

    /// What no event stands behind is passed in its turn.
    private mutating func pass(to end: EventPosition, _ host: Host) {
        guard end > given ?? end else { return }
        given = end
        inbox.progress.enter()
        host.onLane { [progress = inbox.progress] _, _ in progress.passed(to: end) }
    }

    /// Says, once, that there is much to be skipped before the next event.
    private mutating func noteSkipping(_ reader: InboxReader) {
        let now = inbox.time.now()
        let since = skipping?.since ?? now
        let isTold = skipping?.isTold ?? false
        let isTime = !isTold && since.duration(to: now) >= inbox.limits.patience
        skipping = (since, isTold || isTime)
        guard isTime else { return }
        let what = reader.isInLongLine ? "a line that is too long" : "empty lines"
        inbox.log.notice(
            "skipping \(what) in the inbox, at \(reader.position) for "
                + "\(since.duration(to: now).briefText); what follows is delivered after that")
    }

    private func skip(_ item: InboxItem, _ outcome: InboxSubmission.Outcome) {
        inbox.skipped.withLock { _ = $0.insert(item.position) }
        if case .duplicate = outcome { inbox.figures.withLock { $0.duplicates += 1 } }
        inbox.progress.tell(item.position, outcome)
    }

    // MARK: The cursor

    private mutating func storeCursorIfDue() {
        // Whatever the lane is at will be done when nothing else wakes this thread.
        if isAway {
            isCursorDue = nil
            return
        }
        let isAtWork = inbox.progress.countInFlight > 0 || lane?.forfeits.isEmpty == false
        guard isAtWork || currentCursor() != nil else {
            isCursorDue = nil
            return
        }
        let instant = inbox.time.now()
        guard let due = isCursorDue else {
            isCursorDue = instant + inbox.limits.cursorDelay
            return
        }
        if instant >= due {
            if let lane, let reader {
                do throws(InboxError) { try putAside(on: lane, reader) } catch {
                    note(error, .puttingAside)
                }
            }
            storeCursor()
            isCursorDue = nil
        }
    }

    /// The cursor as it would be now; nil where it is stored like that.
    private func currentCursor() -> InboxCursor? {
        guard reader != nil, let next = inbox.progress.next else { return nil }
        // First what is done by the lane, then who is behind: whoever falls behind in between is counted
        // twice rather than not at all.
        var cursor = stored
        cursor.next = max(next, start.next ?? next)
        cursor.modules = start.behind(at: next)
        for (cell, place) in lane?.unheard ?? [] {
            if let id = cell.id { cursor.modules[id] = place }
        }
        let lowest = cursor.lowest ?? next
        cursor.attempts = stored.attempts.filter { $0.key >= lowest }
        return cursor == stored ? nil : cursor
    }

    private mutating func storeCursor() {
        if let cursor = currentCursor() { store(cursor) }
    }

    private mutating func store(_ cursor: InboxCursor) {
        var cursor = cursor
        do throws(InboxError) {
            // The box may be one ahead of the cursor, never the cursor ahead of the box.
            inbox.box?.setCursorSequence(cursor.sequence + 1)
            try cursor.store(in: inbox.folder)
            stored = cursor
            inbox.settled(.cursor)
            if let lowest = cursor.lowest { try removeSegments(below: lowest) }
        } catch {
            note(error, .cursor)
        }
    }

    private mutating func removeSegments(below lowest: EventPosition) throws(InboxError) {
        guard lowest.segment > cleared else { return }
        // Numbers may be missing: those that stay are counted.
        let done = try segments.numbers().filter { $0 < lowest.segment }
        if let last = done.dropLast(Int(inbox.folder.limits.done)).last {
            let first = EventPosition(segment: last + 1, offset: 0)
            try inbox.folder.removeSegments(below: first)
            ids.removeSegments(below: first.segment)
            inbox.skipped.withLock { skipped in skipped = skipped.filter { $0 >= first } }
        }
        cleared = lowest.segment
    }

    // MARK: Where it is

    mutating func note(_ error: InboxError, _ work: InboxFigures.Work) {
        inbox.troubled(error, work)
        if case .moved = error { isAway = true }
    }

    /// Looks whether a folder that was moved away is back: nothing else ends that, so that nothing is tried
    /// from time to time.
    private mutating func lookForPlace() {
        guard isAway, inbox.folder.isInPlace else { return }
        isAway = false
        inbox.settled(.everything)
    }

    // MARK: Waiting

    private mutating func wait(isOpen: Bool) {
        if isOpen, awaitsRoom, !inbox.progress.awaitRoom() { return }
        let isIdle = !hasMore || isAway || pause != nil
        poll.removeAll()
        let mail = poll.insert(inbox.mailbox.bell.descriptor, .reading)
        if let descriptor = segments.descriptor { poll.insert(descriptor, .reading) }
        poll.wait(milliseconds: inbox.mailbox.bell.fallAsleep() && isIdle ? untilNext : 0)
        inbox.mailbox.bell.wakeUp(signalled: poll.canRead(mail))
        segments.takeChanges()
    }

    /// How long there is nothing to do but what comes; −1 for ever.
    private var untilNext: Int32 {
        let isPausing = isAway ? nil : pause
        guard let next = [isCursorDue, isPausing].compactMap({ $0 }).min() else { return -1 }
        let left = inbox.time.now().duration(to: next)
        return Int32(clamping: max(0, left.wholeNanoseconds) / 1_000_000 + 1)
    }
}
