import Synchronization

/// The events of a module that is behind, in the order of the lane: the one that it was notified of and has not returned
/// from or not answered, then durable events that stand in the inbox alone, then events in memory.
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

    /// The event that the module was notified of last; nil once it has returned from it.
    private(set) var event: LifecycleEvent?
    /// Whether the module is to answer ``event`` later: no thread is in it for that.
    private(set) var isOut = false
    /// The entry of ``event`` where it is a durable one that the module has yet to return from, or to answer.
    private(set) var begun: InboxEntry?
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
    /// The number of events that were dropped since they were too many.
    private(set) var missed = 0

    /// - Parameter reached: The position of the first event that may be put here.
    init(reached: UInt64 = 0) { self.reached = reached }

    /// The number of events in memory.
    var countInMemory: Int { queue.count }
    /// The number of events that wait.
    var count: Int { queue.count + backlog.count }
    /// The number of durable events that the module has not returned from.
    var durableCount: Int { (begun == nil ? 0 : 1) + backlog.count + durable.count }
    /// The first durable event that the module has not returned from; nil where there is none.
    var first: EventPosition? { begun?.position ?? backlog.first ?? durable.first?.position }
    /// Whether the module was notified of the ``first`` one.
    var isFirstBegun: Bool { begun != nil || backlog.begun != nil }

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
        if first == nil { backlog.forgetPassed() }
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

    /// Notes the event that the module is notified of.
    ///
    /// - Parameters:
    ///   - event: The event; nil where it is other work.
    ///   - entry: Its entry, where it is durable and not done before the module returns.
    ///   - isOut: Whether the module answers it later.
    mutating func tell(_ event: LifecycleEvent?, begun entry: InboxEntry?, isOut: Bool = false) {
        (self.event, begun, self.isOut) = (event, entry, isOut)
        if isOut, let event { skip(event.sequence) }
    }

    /// Notes that the module answers the event later that it was notified of.
    mutating func leaveOpen() { isOut = true }

    /// Notes that the module has begun a durable event beside the one that it is to answer.
    mutating func begin(_ entry: InboxEntry?) { begun = begun ?? entry }

    /// Takes the next event from memory.
    ///
    /// - Parameter isLeft: Returns whether an event is not for this host any more: a durable one waits for the next.
    /// - Returns: The event that the module is to receive; nil for none.
    mutating func takeNext(leaving isLeft: (LifecycleEvent) -> Bool) -> LifecycleEvent? {
        while let event = popFirst() {
            guard isLeft(event) else {
                tell(event, begun: event.entry)
                return event
            }
            if let entry = event.entry { backlog.append(entry) }
        }
        return nil
    }

    /// Takes the event that was read at the first position of the inbox that waits.
    ///
    /// - Returns: The event that the module is to receive; nil for none.
    mutating func take(
        _ entry: InboxEntry?, _ event: LifecycleEvent?, for module: ModuleID?
    ) -> LifecycleEvent? {
        guard let entry else {
            backlog.end()
            return nil
        }
        let isRepeated = backlog.hasBegun(entry)
        guard backlog.take(entry), var event, event.isFor(module) else { return nil }
        if isRepeated { event = event.standing(at: entry.repeated) }
        tell(event, begun: entry)
        return event
    }

    /// Notes that the module has returned from its event, or has answered it.
    mutating func done() {
        tell(nil, begun: nil)
        if first == nil { backlog.forgetPassed() }
    }

    /// Puts the durable event that the module has begun back in front of all others.
    mutating func putBack(isGivenBack: Bool = false) {
        if let begun { backlog.putBack(begun, isGivenBack: isGivenBack) }
        begun = nil
    }

    /// Removes the durable event that the module has begun from those that it is to return from.
    mutating func dropBegun() { begun = nil }

    /// Removes everything that waits, and the durable event that the module has begun.
    mutating func clear(keepingBacklog isKept: Bool) {
        while popFirst() != nil {}
        if !isKept { backlog = InboxBacklog() }
        begun = nil
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
