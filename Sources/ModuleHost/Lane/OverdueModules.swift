import Synchronization

/// The modules that are behind, with the events that each of them has not received: those that are overdue, which a thread
/// of their own brings back, and those with an event that their process has yet to answer, which the answer brings back;
/// see `OverdueModules+Open.swift`.
///
/// Guarded by the lane's lock.
struct OverdueModules {
    /// A thread that lost the lane, with the modules on its stack.
    struct StalledThread {
        let thread: LaneThread
        /// The modules, outermost first.
        let slots: [ModuleSlot]
        /// The current job, which continued on another thread.
        let job: (any LaneJob)?
    }

    /// The next step of an overdue module's own thread.
    enum Step {
        case event(LifecycleEvent)
        /// Continue in the inbox, from this position, since the events are no longer in memory.
        case read(EventPosition)
        case deferred(Work)
        /// The module is unloaded, and its deferred work is dropped.
        case dropped(Work)
        /// The search for a module that claims the next event continues.
        case current
        /// The module has an event yet to answer: no thread waits for that any more.
        case open
        /// The module has caught up with the log; this many events were dropped for it.
        case rejoined(missed: Int)
    }

    /// Work for an overdue module when it returns.
    struct Work: Sendable {
        let run: @Sendable () -> Void
        /// Called instead where the module is unloaded by then.
        var abandon: @Sendable () -> Void = {}
    }

    struct Module {
        let slot: ModuleSlot
        /// The thread on which it catches up; nil for one that is not overdue, and goes on when its process answers.
        var thread: LaneThread?
        /// The number of modules that became overdue before it.
        var turn: Int
        var position: UInt64
        /// Whether its process has an event that it has not answered.
        var isOut = false
        /// The positions of the events that wait for it, from ``known`` on, where it is not overdue.
        var waiting = Deque<UInt64>()
        /// The position before which any event may be one for it.
        var known: UInt64 = 0
        /// The positions of the searches that it was asked of in between.
        var asked: Set<UInt64> = []
        /// The durable searches behind ``begun`` that are over for it.
        var passed: Set<EventPosition> = []
        /// The position of the log before which there is no durable event that it has not received.
        var undeliveredFrom: UInt64 = 0
        var event: LifecycleEvent?
        var deferred = Deque<Work>()
        /// Whether its thread has ended before it had caught up, since the lane was closed: then no work is deferred.
        var isLeftBehind = false
        var missed = 0
        /// The durable event that it received and has not returned from.
        var begun: InboxEntry?
        var inboxBacklog = InboxBacklog()
        /// Whether it has received all durable events.
        var isLevel = true

        mutating func addToInboxBacklog(_ entry: InboxEntry, isExcluded: Bool) {
            inboxBacklog.append(entry, isExcluded: isExcluded, isFollowing: begun != nil)
        }
    }

    /// Called with the first durable event that a module has not received, and whether it has begun it; nil
    /// where there is none any more.
    ///
    /// Under the lane's lock, before any other thread goes on.
    var note: @Sendable (ModuleSlot, EventPosition?, _ isBegun: Bool) -> Void = { _, _, _ in }

    let box: BlackBox?
    /// The modules that are behind, by the numbers of their slots.
    var modules: [UInt16: Module] = [:]
    /// The failed modules for which durable events wait, by the numbers of their slots.
    var failed: [UInt16: Failed] = [:]
    var turns = 0
    /// Whether the app stops: a module is notified of the shutdown events behind the one that it has not answered.
    var isStopping = false
    /// The ranges dropped for modules that were too far behind, until they are in the dead letters.
    var droppedRanges: [DroppedRange] = []
    private var stalledThreads: [StalledThread] = []
    /// The first position that a rejoined module has not received.
    private var delivered: [UInt16: UInt64] = [:]
    /// The number of times that trimming the log was skipped.
    private var trimsSkipped = 0

    /// - Parameter box: The black box, where overdue modules are noted; nil for none.
    init(box: BlackBox? = nil) { self.box = box }

    var isEmpty: Bool { modules.isEmpty }
    var count: Int { modules.count }
    /// The slots of the overdue modules, in the order in which they became overdue.
    var slots: [ModuleSlot] {
        modules.values.filter { $0.thread != nil }.sorted { $0.turn < $1.turn }.map(\.slot)
    }
    /// Returns whether a thread has yet to report the outcome of the modules on its stack.
    func hasStalledThreads(besides slots: [ModuleSlot] = []) -> Bool {
        stalledThreads.contains { stalled in
            stalled.slots.contains { slot in !slots.contains { $0 === slot } }
        }
    }

    /// Marks the modules on a stuck thread as overdue.
    ///
    /// The outermost one has received the current event, and so have those before it in the order. A module
    /// after it was merely called; it is behind from the event itself.
    ///
    /// - Parameters:
    ///   - slots: The modules, outermost first.
    ///   - thread: The thread.
    ///   - job: The current job.
    ///   - isYield: Whether the innermost yielded the lane itself: then it waits for its process, and is not
    ///     the cause of a death of the host.
    ///   - log: The log.
    mutating func add(
        _ slots: [ModuleSlot], of thread: LaneThread, job: (any LaneJob)?, isYield: Bool = false,
        log: inout EventLog
    ) {
        let event = job?.event
        if let event { log.keep(event) }
        let notified = job?.durableEvent
        for slot in slots where self[slot]?.thread == nil {
            if self[slot] != nil {
                leaveOpen(slot, to: thread, notified: slot === slots.first ? event : nil)
                if !isYield || slot !== slots.last { box?.setOverdue(slot.number, true) }
                noteUndelivered(slot, log)
                continue
            }
            var position = log.head
            if let event, let outermost = slots.first {
                position = event.sequence + (slot.rank <= outermost.rank ? 1 : 0)
            }
            // It may have received the current event already, when it was overdue before.
            position = max(position, delivered.removeValue(forKey: slot.number) ?? 0)
            var module = Module(
                slot: slot, thread: thread, turn: turns, position: position,
                event: job?.currentEvent)
            turns += 1
            if slot === slots.first { module.begun = notified }
            if let waiting = takeWaiting(for: slot) { module.inboxBacklog = waiting }
            modules[slot.number] = module
            noteUndelivered(slot, log)
            if !isYield || slot !== slots.last { box?.setOverdue(slot.number, true) }
            if slot.isListed {
                slot.status.store(.overdue, ordering: .releasing)
            }
        }
        stalledThreads.append(StalledThread(thread: thread, slots: slots, job: job))
    }

    func holds(_ slot: ModuleSlot) -> Bool { self[slot] != nil }

    func isOverdue(_ slot: ModuleSlot) -> Bool { self[slot]?.thread != nil }

    /// The record of a module that is behind; nil for another one.
    subscript(slot: ModuleSlot) -> Module? {
        modules[slot.number].flatMap { $0.slot === slot ? $0 : nil }
    }

    /// Returns the number of events that wait for an overdue module; nil for one that is not overdue.
    ///
    /// Events that were dropped for it are not counted.
    func behind(_ slot: ModuleSlot, log: EventLog) -> Int? {
        guard let module = self[slot], module.thread != nil else { return nil }
        return Int(log.head - module.position) + module.inboxBacklog.count
    }

    func currentEvent(of slot: ModuleSlot) -> LifecycleEvent? {
        self[slot]?.event
    }

    func stalled(of thread: LaneThread) -> StalledThread? {
        stalledThreads.first { $0.thread === thread }
    }

    /// Returns the thread with an identity, if it has lost the lane.
    func thread(_ identity: UInt) -> LaneThread? {
        stalledThreads.first { $0.thread.identity.load(ordering: .relaxed) == identity }?.thread
    }

    mutating func end(_ stalled: StalledThread) {
        stalledThreads.removeAll { $0.thread === stalled.thread }
    }

    /// Notes that a new module has nothing to receive of the events before a position.
    mutating func begin(_ slot: ModuleSlot, at position: UInt64) {
        delivered[slot.number] = position
        slot.status.store(.rejoined, ordering: .releasing)
    }

    func delivered(by slot: ModuleSlot) -> UInt64 { delivered[slot.number] ?? 0 }

    mutating func forget(_ slot: ModuleSlot) { delivered[slot.number] = nil }

    mutating func `defer`(for slot: ModuleSlot, _ work: Work) -> Bool {
        guard let module = self[slot], module.thread != nil, !module.isLeftBehind else {
            return false
        }
        modules[slot.number]?.deferred.append(work)
        return true
    }

    /// Returns work that is left for an overdue module when its thread ends, since the lane was closed; nil once there
    /// is none, and then no more is deferred.
    ///
    /// The module still counts as overdue: it has not received all events.
    mutating func leaveBehind(_ slot: ModuleSlot, on thread: LaneThread) -> Work? {
        guard self[slot]?.thread === thread else { return nil }
        if let work = modules[slot.number]?.deferred.popFirst() { return work }
        modules[slot.number]?.isLeftBehind = true
        return nil
    }

    /// Returns the next step of a module that is behind; nil once it is not behind any more, or goes on elsewhere.
    ///
    /// The module catches up and stops being overdue in one step, under the lock under which the lane checks
    /// again.
    ///
    /// - Parameter thread: The thread of an overdue module; nil for one whose process has answered, on the lane.
    mutating func next(for slot: ModuleSlot, on thread: LaneThread?, log: inout EventLog) -> Step? {
        let number = slot.number
        // A module that stopped being overdue may soon be overdue again, on another thread.
        guard let module = self[slot], module.thread === thread else { return nil }
        guard slot.isListed else {
            if let work = modules[number]?.deferred.popFirst() { return .dropped(work) }
            box?.setOverdue(number, false)
            modules[number] = nil
            noteLevel(slot)
            trim(&log)
            return nil
        }
        if module.isOut {
            // Work of the module that takes the answer may have come before this thread was back.
            if let work = modules[number]?.deferred.popFirst() { return .deferred(work) }
            guard thread != nil else { return nil }
            open(slot, log: log)
            return .open
        }
        modules[number]?.begun = nil
        modules[number]?.passed = []
        if let work = modules[number]?.deferred.popFirst() {
            modules[number]?.event = nil
            noteUndelivered(slot, log)
            return .deferred(work)
        }
        if let place = modules[number]?.inboxBacklog.first {
            noteUndelivered(slot, log)
            return .read(place)
        }
        while let position = modules[number]?.position, position < log.head {
            let kept = log[position]
            if let kept, kept.unreached == nil, !module.asked.contains(position) {
                noteUndelivered(slot, log)
                return .current
            }
            modules[number]?.position += 1
            modules[number]?.event = kept?.event
            trim(&log)
            if module.asked.contains(position) { continue }
            // In a stop the durable rest is the next host's, and an own thread leaves no gap in it.
            let leavesRest =
                isStopping && (thread == nil || failed(slot)?.inboxBacklog.first != nil)
            if leavesRest, let event = kept?.event, event.kind.stateChange == nil,
                thread == nil || event.entry != nil
            {
                if let entry = event.entry {
                    if failed(slot) == nil { leave(InboxBacklog(), of: slot) }
                    failed[number]?.inboxBacklog.append(
                        entry, isExcluded: kept?.isFor(slot) != true)
                }
                continue
            }
            guard let kept else {
                modules[number]?.missed += 1
                continue
            }
            if kept.isFor(slot) == true {
                modules[number]?.begun = kept.event.entry
                noteUndelivered(slot, log)
                var event = kept.event
                // A stop waits for each of its answers.
                if isStopping, thread == nil { event.mayStayOpen = false }
                return .event(event)
            }
        }
        // The lane itself is in no event.
        if thread != nil { delivered[number] = log.head }
        // Before the note: from then on the lane notes the module's progress itself.
        slot.status.store(thread == nil ? .listed : .rejoined, ordering: .releasing)
        noteLevel(slot)
        box?.setOverdue(number, false)
        let missed = modules.removeValue(forKey: number)?.missed ?? 0
        trim(&log)
        return .rejoined(missed: missed)
    }

    /// Drops the oldest events of modules that are further behind than allowed: in events, or in the memory
    /// for them.
    ///
    /// - Returns: Whether a module has more of them, and is to answer first: see ``full(log:)``.
    @discardableResult
    mutating func enforceBacklogs(log: inout EventLog) -> Bool {
        guard !modules.isEmpty else { return false }
        // Over an array: a loop over `modules` itself keeps a second reference to each backlog, so that each
        // change of one copies it.
        var isFull = false
        for number in Array(modules.keys) where enforceBacklog(of: number, &log) { isFull = true }
        trim(&log)
        return isFull
    }

    private mutating func enforceBacklog(of number: UInt16, _ log: inout EventLog) -> Bool {
        guard let slot = modules[number]?.slot, slot.isListed else { return false }
        let backlog = UInt64(slot.backlog)
        while let position = modules[number]?.position,
            log.head - position > backlog || log.bytes(from: position) > EventLog.byteLimit
        {
            // An event that is still being delivered is not moved to the inbox backlog: its search for a
            // claim has not ended.
            let kept = log[position]
            if modules[number]?.thread == nil {
                if passUnconcerned(number, before: log.head - 1) { break }
                // It is asked to answer first: see ``full(log:)``.
                if kept?.event.entry == nil { return true }
            }
            if let entry = kept?.event.entry {
                let isAsked = modules[number]?.asked.contains(position) == true
                guard let isFor = isAsked ? false : kept?.isFor(slot) else { return false }
                modules[number]?.addToInboxBacklog(entry, isExcluded: !isFor)
            } else {
                modules[number]?.missed += 1
            }
            modules[number]?.position += 1
        }
        return false
    }

    /// Notes that a module was unloaded, even if it is still busy: nothing is kept for it any more.
    mutating func noteGone(_ slot: ModuleSlot, log: inout EventLog) {
        droppedRanges.removeAll { $0.slot === slot && !$0.outlastsModule }
        guard holds(slot) else { return }
        modules[slot.number]?.begun = nil
        modules[slot.number]?.inboxBacklog = InboxBacklog()
        // No thread takes it out.
        if self[slot]?.thread == nil { modules[slot.number] = nil }
        noteLevel(slot)
        trimNow(&log)
    }

    /// Releases events that no module is behind on any more.
    ///
    /// Checks only once in as many calls as there are overdue modules, so that the cost does not grow with
    /// their number.
    private mutating func trim(_ log: inout EventLog) {
        trimsSkipped += 1
        if trimsSkipped >= modules.count { trimNow(&log) }
    }

    mutating func trimNow(_ log: inout EventLog) {
        trimsSkipped = 0
        log.trim(
            before: modules.values.lazy.filter(\.slot.isListed).map(\.position).min() ?? log.head)
    }
}

/// The reason why the lane is taken from its thread.
enum TakeoverCause: Sendable {
    /// A module is past its deadline.
    case overdue
    /// The module yields the lane itself, and has logged the reason.
    case yield
    /// The module yields again and again for the same reason, which was logged.
    case repeatedYield
}

/// The modules that became overdue in one takeover, and the circumstances.
struct TakeoverReport: Sendable {
    /// The modules on the stuck stack, outermost first.
    ///
    /// All are overdue; the last one did not return.
    let slots: [ModuleSlot]
    /// The innermost module on the stack, if it was unloaded: what it has left behind still runs.
    let unloaded: ModuleID?
    let cause: TakeoverCause
    /// The job of the thread that lost the lane.
    let job: (any LaneJob)?
}
