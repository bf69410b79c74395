import Synchronization

/// Modules with an event that their process has yet to answer: the lane does not wait for it.
///
/// Such a module is behind as an overdue one is: what it is to receive next waits in the log, or as positions of the
/// inbox. No thread is in it, so calls and its own requests do not wait. The answer makes it go on; where that takes too
/// long, a thread waits for it, and the module is overdue.
extension OverdueModules {
    /// Notes that a module is about to be notified of an event, whose answer comes later.
    ///
    /// - Returns: False for a module that is behind: it has other events to answer first.
    mutating func open(_ slot: ModuleSlot, _ event: LifecycleEvent, log: EventLog) -> Bool {
        guard slot.isListed else { return false }
        if let module = self[slot] {
            // The one who takes it out of the log notifies it of what it was behind with.
            guard module.thread == nil, !module.isOut else { return false }
        } else if failed(slot)?.inboxBacklog.first != nil {
            // It has older ones to receive first, on a thread of its own.
            return false
        } else {
            var module = Module(slot: slot, thread: nil, turn: turns, position: event.sequence + 1)
            module.known = module.position
            modules[slot.number] = module
            turns += 1
        }
        modules[slot.number]?.passWaiting()
        modules[slot.number]?.event = event
        modules[slot.number]?.begun = event.entry
        open(slot)
        noteUndelivered(slot, log)
        return true
    }

    /// Notes that an overdue module has begun an asynchronous handler of its event, on its own thread.
    ///
    /// - Parameter identity: That of the calling thread.
    mutating func leaveOpen(_ slot: ModuleSlot, on identity: UInt) -> Bool {
        guard let module = self[slot], let thread = module.thread,
            self.thread(identity) === thread, !module.isOut, module.event != nil
        else { return false }
        modules[slot.number]?.isOut = true
        return true
    }

    /// Makes an overdue module wait for its answer, and no thread with it.
    mutating func open(_ slot: ModuleSlot, log: EventLog) {
        modules[slot.number]?.waiting = Deque()
        modules[slot.number]?.known = log.head
        open(slot)
        guard isStopping, let module = self[slot], module.inboxBacklog.first != nil,
            failed(slot) == nil
        else { return }
        // A stop does not read on in the inbox.
        modules[slot.number]?.inboxBacklog = InboxBacklog()
        leave(module.inboxBacklog, of: slot)
        noteUndelivered(slot, log)
    }

    private mutating func open(_ slot: ModuleSlot) {
        modules[slot.number]?.thread = nil
        modules[slot.number]?.isOut = true
        box?.setOverdue(slot.number, false)
        slot.status.store(.open, ordering: .releasing)
    }

    /// Makes a thread wait for a module whose process has yet to answer.
    ///
    /// - Parameter event: The event of which the lane has notified it; nil where it was called, or went on by itself.
    mutating func leaveOpen(
        _ slot: ModuleSlot, to thread: LaneThread, notified event: LifecycleEvent?
    ) {
        guard var module = self[slot] else { return }
        (module.thread, module.turn) = (thread, turns)
        turns += 1
        modules[slot.number] = module
        // Not a search of which it was asked while other events wait for it.
        if let event, !module.asked.contains(event.sequence),
            hasPassedAll(slot.number, before: event.sequence)
        {
            modules[slot.number]?.position = max(module.position, event.sequence + 1)
            modules[slot.number]?.begun = module.begun ?? event.entry
        }
        if slot.isListed { slot.status.store(.overdue, ordering: .releasing) }
    }

    /// Notes that the process of a module has answered its event, or will not.
    mutating func answered(_ slot: ModuleSlot, log: EventLog) {
        guard let module = self[slot], module.isOut || module.thread == nil else { return }
        modules[slot.number]?.isOut = false
        modules[slot.number]?.begun = nil
        modules[slot.number]?.passed = []
        modules[slot.number]?.event = nil
        if isStopping, module.thread == nil, hasPassedAll(slot.number, before: log.head) {
            leaveRest(of: slot, log: log)
        } else {
            noteUndelivered(slot, log)
        }
    }

    /// Notes that a module is not to answer its event any more: a durable one waits as if it had not received it.
    mutating func giveBack(_ slot: ModuleSlot, log: EventLog) {
        guard let module = self[slot], module.isOut else { return }
        modules[slot.number]?.begun = nil
        if let begun = module.begun {
            if isStopping {
                if failed(slot) == nil { leave(InboxBacklog(), of: slot) }
                failed[slot.number]?.inboxBacklog.putBack(
                    begun, passing: module.passed, isGivenBack: true)
            } else {
                modules[slot.number]?.inboxBacklog.putBack(
                    begun, passing: module.passed, isGivenBack: true)
            }
        }
        answered(slot, log: log)
    }

    /// Removes the first event that waits for a module from those in memory: a durable one waits in the inbox alone then, any
    /// other is dropped.
    ///
    /// - Returns: The event; nil where none waits.
    mutating func removeFirst(of slot: ModuleSlot, log: EventLog) -> LifecycleEvent? {
        guard var module = self[slot] else { return nil }
        let asked = module.asked
        module.passWaiting()
        let first = module.position < module.known ? module.position : module.waiting.first
        guard let first, let kept = log[first] else { return nil }
        module.position = first + 1
        module.passWaiting()
        if let entry = kept.event.entry {
            module.addToInboxBacklog(
                entry, isExcluded: kept.isFor(slot) == false || asked.contains(first))
        } else {
            module.missed += 1
        }
        modules[slot.number] = module
        return kept.event
    }

    /// Returns whether the lane tells a module an event that does not wait for its answer.
    ///
    /// In a stop these are the shutdown events, unless one of them waits already. Other parts of a module receive the event that
    /// it is to answer. Between two slices of its handler a module can be asked whether it claims something: a search does not
    /// wait, and the module's other events stand where they are.
    mutating func isTold(_ slot: ModuleSlot, at position: UInt64, _ kind: EventKind?) -> Bool {
        guard let module = self[slot], module.thread == nil else { return true }
        if module.isOut, module.event?.sequence == position { return true }
        let hasProcess = slot.limits.hasProcess
        if isStopping {
            guard hasProcess || kind?.stateChange != nil,
                hasPassedAll(slot.number, before: position)
            else { return false }
            modules[slot.number]?.position = position + 1
            return true
        }
        guard kind?.isClaimed == true, !hasProcess else { return false }
        modules[slot.number]?.asked.insert(position)
        return true
    }

    /// Returns whether the process of a module has an event that it has not answered, and no thread waits for that.
    func isOpen(_ slot: ModuleSlot) -> Bool {
        self[slot].map { $0.thread == nil && $0.isOut } == true
    }

    /// The modules that are behind, in no order.
    var allSlots: [ModuleSlot] { modules.values.map(\.slot) }

    /// The modules that are behind and not overdue.
    var openSlots: [ModuleSlot] { modules.values.filter { $0.thread == nil }.map(\.slot) }

    /// Notes that an event which is being delivered waits for a module that is not overdue.
    ///
    /// - Returns: Whether more of them wait than may: see ``full(log:)``.
    mutating func wait(_ slot: ModuleSlot, for event: LifecycleEvent) -> Bool {
        guard let module = self[slot], module.thread == nil else { return false }
        _ = passUnconcerned(slot.number, before: event.sequence)
        // Other members of the module.
        guard module.waiting[module.waiting.count - 1] != event.sequence else { return false }
        modules[slot.number]?.waiting.append(event.sequence)
        return module.waiting.count >= module.slot.backlog
    }

    /// Returns whether a module has passed all events, or those that are left are none for it.
    private mutating func hasPassedAll(_ number: UInt16, before position: UInt64) -> Bool {
        passUnconcerned(number, before: position) || modules[number]?.position ?? 0 >= position
    }

    /// Moves a module for which nothing waits behind the events that are none for it.
    ///
    /// - Returns: Whether it has passed any.
    mutating func passUnconcerned(_ number: UInt16, before position: UInt64) -> Bool {
        guard var module = modules[number] else { return false }
        module.passWaiting()
        let isPassed =
            module.waiting.isEmpty && module.position >= module.known && module.position < position
        if isPassed { module.position = position }
        modules[number] = module
        return isPassed
    }

    /// A module that is not overdue, and for which as many events wait as may, the first of which is in no inbox: it is to
    /// answer before there is another one.
    func full(log: EventLog) -> ModuleSlot? {
        modules.values.first { module in
            guard module.thread == nil, module.slot.isListed,
                log[module.position]?.event.entry == nil
            else { return false }
            let unknown = module.known > module.position ? Int(module.known - module.position) : 0
            return unknown + module.waiting.count > module.slot.backlog
                || log.bytes(from: module.position) > EventLog.byteLimit
        }?.slot
    }

    /// Leaves what waits for the modules that are not overdue to the next host, since the app stops: the durable events
    /// as those of failed modules, and the others not at all.
    ///
    /// - Returns: The number of events that are dropped, and of those that the next host delivers.
    mutating func stop(log: inout EventLog) -> (dropped: Int, durable: Int) {
        isStopping = true
        var (dropped, durable) = (0, 0)
        for slot in openSlots where slot.isListed {
            if let module = self[slot] {
                let unknown = module.position..<max(module.position, min(module.known, log.head))
                let waiting =
                    Array(unknown)
                    + (0..<module.waiting.count).compactMap { module.waiting[$0] }
                    .filter { $0 >= unknown.upperBound }
                dropped += waiting.count { log[$0].map { $0.event.entry == nil } == true }
            }
            leaveRest(of: slot, log: log)
            durable += failed(slot)?.inboxBacklog.count ?? 0
        }
        trimNow(&log)
        return (dropped, durable)
    }

    /// Takes the durable events that wait for a module which is not overdue.
    mutating func takeRest(of slot: ModuleSlot, log: EventLog) -> InboxBacklog? {
        guard let module = self[slot], module.thread == nil else { return nil }
        moveToInboxBacklog(of: slot, log: log)
        defer { modules[slot.number]?.inboxBacklog = InboxBacklog() }
        return modules[slot.number]?.inboxBacklog
    }

    /// Leaves the durable events that wait for a module to the next host, if the app stops.
    mutating func leaveRestInStop(of slot: ModuleSlot, log: EventLog) {
        guard isStopping, slot.isListed, self[slot]?.thread == nil, holds(slot) else { return }
        leaveRest(of: slot, log: log)
    }

    /// Notes that a search is over for the modules that have an event to answer and were asked in between, or not reached: it
    /// is none of the events behind that one.
    mutating func notePassed(
        _ entry: InboxEntry, _ position: UInt64, unreached: [ModuleSlot]
    ) {
        for (number, module) in modules where module.begun != nil {
            let isPassed =
                module.asked.contains(position) || unreached.contains { $0 === module.slot }
            if isPassed { modules[number]?.passed.insert(entry.position) }
        }
    }

    /// Leaves durable events to the next host, as those of a failed module.
    mutating func leave(_ rest: InboxBacklog, of slot: ModuleSlot) {
        slot.isAwaited.store(true, ordering: .relaxed)
        failed[slot.number] = Failed(slot: slot, inboxBacklog: rest)
    }

    private mutating func leaveRest(of slot: ModuleSlot, log: EventLog) {
        if let rest = takeRest(of: slot, log: log), rest.first != nil,
            failed(slot)?.inboxBacklog.first == nil
        {
            leave(rest, of: slot)
        }
        if self[slot]?.isOut != true {
            modules[slot.number] = nil
            slot.status.store(.listed, ordering: .releasing)
            noteLevel(slot)
        } else {
            noteUndelivered(slot, log)
        }
    }
}

extension OverdueModules.Module {
    /// Forgets the waiting events that it has passed.
    fileprivate mutating func passWaiting() {
        while let first = waiting.first, first < position { _ = waiting.popFirst() }
        if !asked.isEmpty { asked = asked.filter { $0 >= position } }
    }
}
