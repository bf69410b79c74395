import AppService
import Synchronization

/// The progress of the durable events, written by the lane and read by the inbox's thread.
///
/// The black box has the same progress, for the next host.
final class InboxProgress: Sendable {
    private let box: BlackBox?
    /// The first position that is not done by the lane; 0 before the first.
    private let nextPosition = Atomic<UInt64>(0)
    /// The first position that the lane has handed back undone: from there on, nothing is done by this host.
    private let handedBack = Atomic<UInt64>(.max)
    /// The number of events that were passed to the lane and are not done.
    private let inFlight = Atomic(0)
    /// The number of events that the lane has done.
    private let doneCount = Atomic(0)
    /// Whether the feeding thread waits for room on the lane, or for the lane to finish.
    private let isAwaited = Atomic(false)
    /// Whether there are still events that the last host left for some modules alone.
    private let isCatchingUp = Atomic(false)
    private let catchingUp = Guarded(CatchingUp())
    /// The events whose answers are to come, with the positions of their notes in the black box.
    private let unanswered = Guarded(UnansweredEvents())
    /// The number of those that this host has delivered.
    private let suspendedCount = Atomic(0)
    /// The bytes of their records.
    private let suspendedBytes = Atomic(0)
    /// The number of events that the lane has passed and that modules have yet to answer, and the bytes of their records.
    private let openCount = Atomic(0)
    private let openBytes = Atomic(0)
    /// Whether there are such events, so that the lane need not search.
    private let hasUnanswered = Atomic(false)
    private let wake: @Sendable () -> Void
    private let waiters = Guarded<
        [EventPosition: @Sendable (InboxSubmission.DeliveryResult) -> Void]
    >([:])
    /// Whether there are waiters, so that the lane need not search.
    private let hasWaiters = Atomic(false)

    private struct CatchingUp {
        /// The end of the events that the last host left.
        var end = EventPosition(segment: 1, offset: 0)
        var modules: [ModuleID: (slot: ModuleSlot, position: EventPosition)] = [:]
    }

    /// - Parameters:
    ///   - box: The black box, which has the same progress for the next host.
    ///   - wake: Wakes the thread that feeds the lane.
    init(box: BlackBox?, wake: @escaping @Sendable () -> Void) {
        self.box = box
        self.wake = wake
    }

    /// Whether modules have yet to receive what they had not received when the last host ended.
    var isCatchingUpNow: Bool { isCatchingUp.load(ordering: .relaxed) }

    // MARK: The lane

    /// Notes that the delivery of an event begins.
    func began(_ entry: InboxEntry) {
        if entry.only != nil { note(entry, entry.position, isBegun: true) }
        if hasUnanswered.load(ordering: .acquiring) { noteBegun(entry.position) }
        box?.setInHand(entry.position, attempt: entry.attempt)
    }

    /// Notes that every module listed for an event has returned, or is overdue and has its own position.
    func ended(_ entry: InboxEntry, _ outcome: EventOutcome) {
        pass(entry)
        forgetUnanswered(entry.position)
        finish(entry, outcome)
        leave()
    }

    private func finish(_ entry: InboxEntry, _ outcome: EventOutcome) {
        doneCount.add(1, ordering: .relaxed)
        if hasWaiters.load(ordering: .acquiring) { notifyWaiter(entry.position, .done(outcome)) }
    }

    private func pass(_ entry: InboxEntry) {
        advance(to: entry.end)
        // Afterwards: a module that rejoins in between is noted at the position of the lane.
        if entry.only != nil { note(entry, entry.end, isBegun: false) }
        box?.setInHand(nil)
    }

    /// Notes that every module listed for an event has returned, is overdue or has yet to answer, and has its own position
    /// then; ``finished(_:_:)`` follows when the last one has answered.
    ///
    /// No more events are passed to the lane while there are too many of them (``Inbox/Limits/open``): a module that answers
    /// slowly is not left so far behind that its events are read again. One that is unresponsive counts no more.
    func passed(_ entry: InboxEntry) {
        openBytes.add(entry.size, ordering: .sequentiallyConsistent)
        openCount.add(1, ordering: .sequentiallyConsistent)
        pass(entry)
        forgetUnanswered(entry.position)
        leave()
    }

    /// Notes that every module has answered an event that the lane has passed.
    ///
    /// From any thread.
    func finished(_ entry: InboxEntry, _ outcome: EventOutcome) {
        openBytes.subtract(entry.size, ordering: .sequentiallyConsistent)
        openCount.subtract(1, ordering: .sequentiallyConsistent)
        finish(entry, outcome)
        if isAwaited.exchange(false, ordering: .sequentiallyConsistent) { wake() }
    }

    /// Notes that every module listed for an event has returned, and that its answer is to come: the lane
    /// continues, and the next host delivers the event again unless ``answered(_:_:)`` is called.
    ///
    /// While there are too many of them, no more events are passed to the lane: ``Inbox/Limits/unanswered``.
    func suspended(_ entry: InboxEntry, isBegun: Bool = true) {
        noteUnanswered(entry.position, isBegun: isBegun)
        suspendedBytes.add(entry.size, ordering: .sequentiallyConsistent)
        suspendedCount.add(1, ordering: .sequentiallyConsistent)
        pass(entry)
        leave()
    }

    /// Notes an event whose answer is to come, before the lane passes it.
    private func noteUnanswered(_ position: EventPosition, isBegun: Bool) {
        unanswered.withLock { unanswered in
            box?.setUnanswered(unanswered.number(of: position), position, begun: isBegun)
            hasUnanswered.store(true, ordering: .releasing)
        }
    }

    /// Notes that an event whose answer is to come is begun: it was not so far, or by an earlier host.
    func noteBegun(_ position: EventPosition) {
        unanswered.withLock { unanswered in
            guard let number = unanswered.numbers[position] else { return }
            box?.setUnanswered(number, position, begun: true)
        }
    }

    /// Notes that an event is not to be delivered again, since it has its answer or is a dead letter.
    ///
    /// From any thread.
    func forgetUnanswered(_ position: EventPosition) {
        guard hasUnanswered.load(ordering: .acquiring) else { return }
        unanswered.withLock { unanswered in
            if let number = unanswered.remove(position) { box?.setUnanswered(number, nil) }
            if unanswered.isEmpty { hasUnanswered.store(false, ordering: .releasing) }
        }
    }

    /// Notes the answer to an event that was noted by ``suspended(_:isBegun:)``.
    ///
    /// From any thread.
    func answered(_ entry: InboxEntry, _ outcome: EventOutcome) {
        forgetUnanswered(entry.position)
        suspendedBytes.subtract(entry.size, ordering: .sequentiallyConsistent)
        suspendedCount.subtract(1, ordering: .sequentiallyConsistent)
        finish(entry, outcome)
        // For the cursor, and where the thread waits for room.
        isAwaited.store(false, ordering: .sequentiallyConsistent)
        wake()
    }

    /// Notes that nothing before `position` needs to be delivered.
    func passed(to position: EventPosition) {
        advance(to: position)
        leave()
    }

    /// Notes that the lane will not deliver an event: it is left to the next host, with everything after it.
    ///
    /// Before the lane reaches the work after the event.
    func handBack(_ entry: InboxEntry) {
        // Not `min`: the one in Swift 6.3's atomics compares unsigned values as signed ones.
        let position = entry.position.rawValue
        var first = handedBack.load(ordering: .relaxed)
        while position < first {
            let (isExchanged, found) = handedBack.weakCompareExchange(
                expected: first, desired: position, ordering: .relaxed)
            if isExchanged { return }
            first = found
        }
    }

    private func advance(to position: EventPosition) {
        guard position.rawValue > nextPosition.load(ordering: .relaxed),
            position.rawValue <= handedBack.load(ordering: .relaxed)
        else { return }
        if isCatchingUp.load(ordering: .relaxed) {
            catchUp(to: position)
        } else {
            box?.setNext(position)
        }
        nextPosition.store(position.rawValue, ordering: .releasing)
    }

    // MARK: Events that the last host left for some modules

    /// Notes the modules that are behind, before any of them can be replaced or removed.
    ///
    /// On the lane.
    ///
    /// - Parameters:
    ///   - firsts: The first event that each module which is behind is to receive.
    ///   - end: The position up to which all events are for these modules alone; nil for the start of the log.
    func expect(
        _ slots: [ModuleSlot], at firsts: [ModuleID: EventPosition], upTo end: EventPosition?
    ) {
        guard let end else { return }
        catchingUp.withLock { modules in
            modules.end = end
            for slot in slots {
                guard let id = slot.id, let position = firsts[id], position < end else { continue }
                modules.modules[id] = (slot, position)
                box?.setBehind(slot.number, position, begun: false)
            }
            isCatchingUp.store(!modules.modules.isEmpty, ordering: .relaxed)
        }
    }

    /// Notes the progress of the modules that alone receive an event.
    private func note(_ entry: InboxEntry, _ position: EventPosition, isBegun: Bool) {
        guard isCatchingUp.load(ordering: .relaxed) else { return }
        catchingUp.withLock { modules in
            for (id, module) in modules.modules where entry.only?.contains(id) == true {
                // The lane itself notes the progress of a module that is overdue by now.
                switch module.slot.status.load(ordering: .relaxed) {
                case .listed, .rejoined:
                    box?.setBehind(module.slot.number, position, begun: isBegun)
                case .overdue, .open, .unlisted: break
                }
            }
        }
    }

    /// Notes the durable events that a module which is behind was to receive and has not received; nil where there are none
    /// any more.
    ///
    /// A module that is level with the lane may still be behind from the last host, until the lane reaches
    /// the end of the events that host left.
    func noteUndelivered(by slot: ModuleSlot, _ events: UndeliveredEvents?) {
        guard events == nil, isCatchingUp.load(ordering: .relaxed) else {
            // Before the events of which the next host is to know which are repeated.
            if let notified = events?.notified { box?.setNotified(slot.number, notified) }
            box?.setBehind(slot.number, events?.first, begun: events?.isBegun == true)
            return
        }
        catchingUp.withLock { modules in
            // Another module with this id may have been created for a reload that was not committed.
            let module = slot.id.flatMap { modules.modules[$0] }.flatMap {
                $0.slot === slot ? $0 : nil
            }
            let isGone = !slot.isListed && !slot.isAwaited.load(ordering: .relaxed)
            let left = isGone ? nil : module.map { firstLeft(from: $0.position) }
            box?.setBehind(slot.number, left, begun: false)
        }
    }

    /// Returns the position of a module that the last host left behind at `position`, if nothing else is known
    /// of it.
    private func firstLeft(from position: EventPosition) -> EventPosition {
        next.map { max($0, position) } ?? position
    }

    /// Replaces a module that may have been behind when the last host ended by another one.
    func replace(_ old: ModuleSlot, by new: ModuleSlot) {
        guard isCatchingUp.load(ordering: .relaxed), let id = old.id else { return }
        catchingUp.withLock { modules in
            guard let module = modules.modules[id], module.slot === old else { return }
            let position = firstLeft(from: module.position)
            modules.modules[id] = (new, position)
            box?.setBehind(new.number, position, begun: false)
            // The note of a failed module, or of one with events to answer, stands for what waits for it.
            if !old.isAwaited.load(ordering: .relaxed),
                old.status.load(ordering: .relaxed) != .open
            {
                box?.setBehind(old.number, nil, begun: false)
            }
        }
    }

    /// Returns the events that the last host left for a module and that the lane has not reached; nil for none.
    func left(for slot: ModuleSlot) -> Range<EventPosition>? {
        guard isCatchingUp.load(ordering: .relaxed) else { return nil }
        return catchingUp.withLock { modules in
            guard let module = slot.id.flatMap({ modules.modules[$0] }), module.slot === slot else {
                return nil
            }
            let first = firstLeft(from: module.position)
            return first < modules.end ? first..<modules.end : nil
        }
    }

    private func catchUp(to position: EventPosition) {
        catchingUp.withLock { modules in
            guard position >= modules.end else { return }
            box?.setNext(position)
            endCatchingUp(&modules)
        }
    }

    private func endCatchingUp(_ modules: inout CatchingUp) {
        for module in modules.modules.values
        where ![.overdue, .open].contains(module.slot.status.load(ordering: .relaxed))
            && !module.slot.isAwaited.load(ordering: .relaxed)
        {
            box?.setBehind(module.slot.number, nil, begun: false)
        }
        modules.modules = [:]
        isCatchingUp.store(false, ordering: .relaxed)
    }

    private func leave() {
        let left = inFlight.subtract(1, ordering: .sequentiallyConsistent).newValue
        guard left == 0 || left == InboxFeeder.Limits.window - InboxFeeder.Limits.batch,
            isAwaited.exchange(false, ordering: .sequentiallyConsistent)
        else { return }
        wake()
    }

    // MARK: The inbox's thread

    /// The first position that is not done by the lane.
    var next: EventPosition? { EventPosition(rawValue: nextPosition.load(ordering: .acquiring)) }

    /// The events whose answers are to come.
    var unansweredPositions: Set<EventPosition> { unanswered.withLock { Set($0.numbers.keys) } }

    /// The number of events that this host has delivered, and whose answers are to come.
    var countSuspended: Int { suspendedCount.load(ordering: .sequentiallyConsistent) }

    /// Returns whether so many events wait for answers that no more are to be passed to the lane.
    func isFull(_ limits: Inbox.Limits) -> Bool {
        hasTooManyUnanswered(limits)
            || openCount.load(ordering: .sequentiallyConsistent) >= limits.open
            || openBytes.load(ordering: .sequentiallyConsistent) >= limits.unansweredBytes
    }

    /// Returns whether that is so for URLs, whose modules may take any time.
    func hasTooManyUnanswered(_ limits: Inbox.Limits) -> Bool {
        countSuspended >= limits.unanswered
            || suspendedBytes.load(ordering: .sequentiallyConsistent) >= limits.unansweredBytes
    }

    var countInFlight: Int { inFlight.load(ordering: .acquiring) }
    var countDone: Int { doneCount.load(ordering: .relaxed) }

    /// The number of events that the lane has passed and that modules have yet to answer.
    var countOpen: Int { openCount.load(ordering: .relaxed) }

    /// Begins at the position that the last host had reached.
    ///
    /// - Parameters:
    ///   - position: The position at which reading begins.
    ///   - end: The position up to which all events are for the modules of ``expect(_:at:upTo:)`` alone.
    ///   - unanswered: The events that are delivered to all modules again, since their answers had not come.
    func start(
        at position: EventPosition, upTo end: EventPosition, again unanswered: Set<EventPosition>
    ) {
        for position in unanswered.sorted() { noteUnanswered(position, isBegun: false) }
        catchingUp.withLock { modules in
            modules.end = end
            if position >= end { endCatchingUp(&modules) }
        }
        // Last: without it the next host uses the cursor alone.
        box?.setNext(end)
        nextPosition.store(position.rawValue, ordering: .releasing)
    }

    /// Notes that an item is about to be passed to the lane.
    func enter() { inFlight.add(1, ordering: .relaxed) }

    /// Requests a wake-up when the lane has done half a window of events, when it has done all, and when an
    /// answer has come.
    ///
    /// - Parameter count: The number of waiting events at which the lane has room again.
    /// - Returns: False where it has no more than that by now.
    func awaitRoom(untilAtMost count: Int, _ limits: Inbox.Limits) -> Bool {
        isAwaited.store(true, ordering: .sequentiallyConsistent)
        return inFlight.load(ordering: .sequentiallyConsistent) > count
            || isFull(limits)
    }

    // MARK: Waiters

    /// Whether senders wait for the delivery of their events.
    var hasWaitingSenders: Bool { hasWaiters.load(ordering: .acquiring) }

    func wait(
        for position: EventPosition,
        _ waiter: @escaping @Sendable (InboxSubmission.DeliveryResult) -> Void
    ) {
        waiters.withLock { $0[position] = waiter }
        hasWaiters.store(true, ordering: .releasing)
    }

    /// Passes the result for an event to its waiter.
    func notifyWaiter(_ position: EventPosition, _ outcome: InboxSubmission.DeliveryResult) {
        let waiter = waiters.withLock { waiters in
            let waiter = waiters.removeValue(forKey: position)
            if waiters.isEmpty { hasWaiters.store(false, ordering: .releasing) }
            return waiter
        }
        waiter?(outcome)
    }

    /// Notifies all waiters that the app ends before their events are delivered.
    func leaveAll() {
        let left = waiters.withLock { waiters in
            defer { waiters = [:] }
            return waiters
        }
        for waiter in left.values { waiter(.left) }
    }
}

extension InboxEntry {
    /// The bytes of the record; of the last one of a segment, some of them at most.
    fileprivate var size: Int {
        position.segment == end.segment ? Int(end.offset - min(position.offset, end.offset)) : 0
    }
}
