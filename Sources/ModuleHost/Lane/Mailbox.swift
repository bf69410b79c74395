import Synchronization

/// The events of a module that is behind, in the order of the lane: those that it was notified of and has not answered,
/// then durable events that stand in the inbox alone, then events in memory.
///
/// A value without lane, lock and threads. It outlives the instances of its module; ``Mailboxes`` has one for each module
/// that is behind, and knows the taker.
struct Mailbox {
    /// The limits of what waits in memory.
    enum Limit {
        /// The bytes of payloads for one module.
        static let bytes = 16 << 20
        /// The bytes of payloads for all modules together.
        static let allBytes = 64 << 20
    }

    /// The event that a thread is in the module for; nil once it has returned from it, or left it open.
    private(set) var event: LifecycleEvent?
    /// The entry of ``event`` where it is a durable one that the module has yet to return from.
    private(set) var begun: InboxEntry?
    /// The events that the module answers later.
    private(set) var open = OpenWindow()
    /// The position before which the module was notified of every event that is for it, or has it here.
    private(set) var reached: UInt64
    /// The durable events that are not in memory, older than all in memory.
    var backlog = InboxBacklog()
    /// The events in memory.
    private var queue = Deque<KeptEvent>()
    /// The entries of the durable ones among them.
    private var durable = Deque<InboxEntry>()
    /// The bytes of their payloads.
    private var bytes = 0
    /// The last durable event that the module was notified of; nil before the first.
    private(set) var notified: EventPosition?
    /// The number of events that were dropped since they were too many.
    private(set) var missed = 0
    /// An event of the inbox that is to wait for all answers.
    private var barrier: EventPosition?

    /// - Parameters:
    ///   - reached: The position of the first event that may be put here.
    ///   - notified: The last durable event that the module was notified of.
    init(reached: UInt64 = 0, notified: EventPosition? = nil) {
        (self.reached, self.notified) = (reached, notified)
    }

    /// The number of events in memory.
    var countInMemory: Int { queue.count }
    /// The number of events that wait.
    var count: Int { queue.count + backlog.count }
    /// Whether the module has events to answer later: no thread is in it for them.
    var isOut: Bool { !open.isEmpty || open.isPaused }
    /// The number of durable events that the module has not returned from.
    var durableCount: Int {
        (begun == nil ? 0 : 1) + open.durableCount + backlog.count + durable.count
    }
    /// The first durable event that the module has not returned from; nil where there is none.
    var first: EventPosition? {
        var first = open.first ?? backlog.first ?? durable.first?.position
        // One that it is to receive again may stand before the others, and a search beside them.
        for other in [backlog.first, begun?.position] {
            if let other { first = first.map { min($0, other) } ?? other }
        }
        return first
    }
    /// Whether the module was notified of the ``first`` one.
    var isFirstBegun: Bool {
        first.map { $0 == begun?.position || $0 == open.firstOut || $0 == backlog.begun } ?? false
    }

    // MARK: Waiting

    /// Adds an event, once.
    ///
    /// - Returns: Whether it was added.
    mutating func put(_ kept: KeptEvent) -> Bool {
        guard kept.event.sequence >= reached else { return false }
        reached = kept.event.sequence + 1
        queue.append(kept)
        if let entry = kept.event.entry { durable.append(entry) }
        bytes += kept.footprint
        return true
    }

    /// Notes that the module is notified of an event, or is not to receive it, without that it waits here.
    mutating func skip(_ position: UInt64) { reached = max(reached, position + 1) }

    /// Excludes a durable event that the module was not asked about from those that it is to receive.
    mutating func pass(_ entry: InboxEntry) {
        guard first != nil else { return }
        backlog.pass(entry)
        backlog.forgetPassed(before: first)
    }

    /// Returns whether more events are in memory than may be.
    func isOver(_ limit: Int, of memory: MailboxMemory) -> Bool {
        queue.count > limit || bytes > Limit.bytes
            || queue.count > 1 && memory.bytes > Limit.allBytes
    }

    /// Whether the first event in memory is in the inbox, too.
    var isFirstInInbox: Bool { queue.first?.event.entry != nil }

    /// Removes the first event from those in memory: a durable one waits in the inbox alone then, any other is missed.
    @discardableResult
    mutating func spill() -> LifecycleEvent? {
        guard let event = popFirst() else { return nil }
        if let entry = event.entry { backlog.append(entry) } else { missed += 1 }
        return event
    }

    /// Removes all events from memory: the durable ones wait in the inbox alone, the others are dropped.
    ///
    /// - Returns: The number of those that are dropped.
    @discardableResult
    mutating func spillAll() -> Int {
        var dropped = 0
        while let event = popFirst() {
            if let entry = event.entry { backlog.append(entry) } else { dropped += 1 }
        }
        return dropped
    }

    /// Removes the durable events before a place from memory: they wait in the inbox alone.
    mutating func spill(before place: EventPosition) {
        guard let first = durable.first, first.position < place else { return }
        let all = queue.removeAll()
        (bytes, durable) = (0, Deque())
        for kept in all {
            if let entry = kept.event.entry, entry.position < place {
                backlog.append(entry)
            } else {
                queue.append(kept)
                bytes += kept.footprint
                if let entry = kept.event.entry { durable.append(entry) }
            }
        }
    }

    private mutating func popFirst() -> LifecycleEvent? {
        guard let kept = queue.popFirst() else { return nil }
        if kept.event.entry != nil { _ = durable.popFirst() }
        bytes -= kept.footprint
        return kept.event
    }

    mutating func countMissed(_ number: Int) { missed += number }

    // MARK: Telling

    /// Notes the event that a thread notifies the module of.
    ///
    /// - Parameters:
    ///   - event: The event; nil where it is other work.
    ///   - entry: Its entry, where it is durable and not done before the module returns.
    mutating func tell(_ event: LifecycleEvent?, begun entry: InboxEntry?) {
        (self.event, begun) = (event, entry)
        noteNotified(entry)
    }

    /// Returns whether a thread is in the module for an event.
    private func isIn(_ event: LifecycleEvent) -> Bool { self.event?.isSame(as: event) == true }

    private mutating func noteNotified(_ entry: InboxEntry?) {
        guard let entry else { return }
        notified = notified.map { max($0, entry.position) } ?? entry.position
    }

    /// Notes that a thread is in the module with a durable event beside those that it is to answer.
    mutating func begin(_ entry: InboxEntry?) {
        guard let entry, !open.contains(entry) else { return }
        begun = begun ?? entry
        noteNotified(entry)
    }

    /// Notes that the module answers an event later that it is notified of.
    ///
    /// - Parameter window: The number of events that it may have to answer at a time.
    /// - Returns: False where it has others to answer first.
    mutating func leaveOpen(_ event: LifecycleEvent, window: Int) -> Bool {
        // One that it is notified of again stands there already.
        guard open.take(event, window: window) || isIn(event) && open.isOut(event) else {
            return false
        }
        if isIn(event) { tell(nil, begun: nil) }
        noteNotified(event.entry)
        skip(event.sequence)
        return true
    }

    /// Lets the module be notified of an event beside those that it has yet to answer, where none waits before it.
    ///
    /// - Returns: False where that is not so, or there is no room.
    mutating func admit(_ event: LifecycleEvent, window: Int) -> Bool {
        // Another part of the module was notified of it.
        if open.isLast(event) { return true }
        guard isOut, queue.isEmpty, backlog.first == nil,
            open.hasRoom(for: event.kind, window: window)
        else { return false }
        open.admit(event)
        noteNotified(event.entry)
        skip(event.sequence)
        return true
    }

    /// Notes that an event that was admitted does not concern the module.
    mutating func withdraw(_ event: LifecycleEvent) { open.withdraw(event) }

    /// Returns whether the module is to receive what waits in the inbox alone, beside what it has yet to answer.
    ///
    /// Not for each event that it answers: a thread of its own reads them.
    func mayRead(window: Int) -> Bool {
        backlog.first != nil && backlog.first != barrier && open.isHalfEmpty(window: window)
    }

    /// Takes the next event from memory, or one that it is to receive again.
    ///
    /// - Parameters:
    ///   - window: The number of events that the module may have to answer at a time.
    ///   - isLeft: Returns whether an event is not for this host any more: a durable one waits for the next.
    /// - Returns: The event that the module is to receive; nil for none, and where it has others to answer first.
    mutating func takeNext(window: Int, leaving isLeft: (LifecycleEvent) -> Bool) -> LifecycleEvent?
    {
        if let event = open.takeAgain() {
            tell(event, begun: nil)
            return event
        }
        while let next = queue.first?.event {
            guard isLeft(next) || open.hasRoom(for: next.kind, window: window) else { return nil }
            guard let event = popFirst() else { return nil }
            guard isLeft(event) else {
                open.admit(event)
                tell(event, begun: event.entry)
                return event
            }
            if let entry = event.entry { backlog.append(entry) }
        }
        return nil
    }

    /// Takes the event that was read at the first position of the inbox that waits.
    ///
    /// - Returns: The event that the module is to receive; nil for none, and where it has others to answer first.
    mutating func take(
        _ entry: InboxEntry?, _ event: LifecycleEvent?, for module: ModuleID?, window: Int
    ) -> LifecycleEvent? {
        guard let entry else {
            backlog.end()
            return nil
        }
        if let event, event.isFor(module), !open.hasRoom(for: event.kind, window: window) {
            barrier = backlog.first
            return nil
        }
        let isRepeated = notified.map { entry.position <= $0 } ?? false
        guard backlog.take(entry), var event, event.isFor(module) else { return nil }
        if isRepeated { event = event.standing(at: entry.repeated) }
        open.admit(event)
        tell(event, begun: entry)
        return event
    }

    // MARK: Answers

    /// Notes that the thread in the module has returned from its event.
    mutating func returned() {
        if let event { open.answer(event) }
        tell(nil, begun: nil)
        noteAnswer()
    }

    /// Notes that the module has answered an event.
    mutating func answer(_ event: LifecycleEvent) {
        open.answer(event)
        if isIn(event) { tell(nil, begun: nil) }
        noteAnswer()
    }

    /// Forgets what the module was notified of, since it is behind no more.
    mutating func forgetOpen() {
        open = OpenWindow()
        tell(nil, begun: nil)
        noteAnswer()
    }

    private mutating func noteAnswer() {
        if open.isEmpty { barrier = nil }
        backlog.forgetPassed(before: first)
    }

    /// Notes that the module is to be notified of an event again, later.
    ///
    /// - Returns: Whether it has it to answer.
    mutating func retry(_ event: LifecycleEvent) -> Bool { open.retry(event) }

    /// Lets the module be notified again of the events that it wanted later.
    mutating func resume() { open.resume() }

    /// Puts the durable events that the module has begun back in front of all others.
    mutating func putBack(isGivenBack: Bool = false) {
        putBackOpen(isGivenBack: isGivenBack)
        if let begun { backlog.putBack(begun, isGivenBack: isGivenBack) }
        begun = nil
    }

    /// Puts the durable events that the module has yet to answer back in front of all others.
    ///
    /// - Parameter isPaused: Whether those alone that it is to be notified of again.
    /// - Returns: Whether there are any.
    @discardableResult
    mutating func putBackOpen(isGivenBack: Bool = false, paused isPaused: Bool = false) -> Bool {
        let (entries, answered) = open.remove(paused: isPaused)
        for entry in entries.reversed() { backlog.putBack(entry, isGivenBack: isGivenBack) }
        // A thread has yet to return from the one that it is in the module for.
        for entry in answered where entry.position != begun?.position { backlog.exclude(entry) }
        noteAnswer()
        return !entries.isEmpty
    }

    /// Removes a durable event that the module has begun from those that it is to return from.
    ///
    /// - Returns: Whether it has begun it.
    mutating func drop(_ entry: InboxEntry) -> Bool {
        if begun?.position == entry.position {
            begun = nil
            return true
        }
        return open.drop { $0.position == entry.position }.isEmpty == false
    }

    /// Removes the durable events before a place that the module has begun from those that it is to return from; all where it is
    /// nil.
    ///
    /// - Returns: Their positions.
    mutating func dropBegun(before place: EventPosition?) -> [EventPosition] {
        var dropped = open.drop { entry in place.map { entry.position < $0 } ?? true }
        if let position = begun?.position, place.map({ position < $0 }) ?? true {
            dropped.append(position)
            begun = nil
        }
        return dropped.sorted()
    }

    /// Removes everything that waits, and the durable events that the module has begun.
    mutating func clear(keepingBacklog isKept: Bool) {
        while popFirst() != nil {}
        if !isKept { backlog = InboxBacklog() }
        begun = nil
        _ = open.drop { _ in true }
    }
}

/// An event in memory that waits for modules, once for all of them.
final class KeptEvent: Sendable {
    let event: LifecycleEvent
    let footprint: Int
    private let memory: MailboxMemory

    init(_ event: LifecycleEvent, in memory: MailboxMemory) {
        self.event = event
        self.memory = memory
        footprint = event.footprint
        memory.add(footprint)
    }

    deinit { memory.add(-footprint) }
}

/// The memory of all events that wait.
final class MailboxMemory: Sendable {
    private let count = Atomic(0)

    /// The bytes of their payloads.
    var bytes: Int { count.load(ordering: .relaxed) }

    fileprivate func add(_ bytes: Int) { count.add(bytes, ordering: .relaxed) }
}
