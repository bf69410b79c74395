import Synchronization

/// Durable events that wait for modules which have failed.
///
/// A failed module keeps its position in the inbox: the events from there on stay in the log, and are
/// delivered when the module is restarted, or by the next host.
extension OverdueModules {
    /// A failed module for which durable events wait.
    struct Failed {
        let slot: ModuleSlot
        var inboxBacklog = InboxBacklog()
    }

    /// Returns the events that wait for a failed module, or for one that was restarted and has not begun to
    /// catch up.
    ///
    /// - Returns: Their number and the position of the first one; nil for none.
    func waiting(for slot: ModuleSlot) -> (count: Int, first: EventPosition)? {
        guard let inboxBacklog = failed(slot)?.inboxBacklog, let first = inboxBacklog.first else {
            return nil
        }
        return (inboxBacklog.count, first)
    }

    func failed(_ slot: ModuleSlot) -> Failed? {
        failed[slot.number].flatMap { $0.slot === slot ? $0 : nil }
    }

    /// Keeps the events that a module has not received, from the moment that it fails.
    ///
    /// - Parameters:
    ///   - slot: The module's slot, which is still listed.
    ///   - current: The durable event that is being delivered and that the module has not handled; nil for a
    ///     module that is overdue, for which that is recorded.
    ///   - log: The log.
    mutating func fail(_ slot: ModuleSlot, in current: InboxEntry?, log: EventLog) {
        slot.isAwaited.store(true, ordering: .relaxed)
        // What waited for it before still does.
        guard failed(slot) == nil else {
            if let module = self[slot], let begun = module.begun {
                self.failed[slot.number]?.inboxBacklog.putBack(begun, passing: module.passed)
            }
            return
        }
        var failed = Failed(slot: slot)
        if holds(slot) {
            moveToInboxBacklog(of: slot, log: log)
            failed.inboxBacklog = modules[slot.number]?.inboxBacklog ?? InboxBacklog()
            if let module = self[slot], let begun = module.begun {
                failed.inboxBacklog.putBack(begun, passing: module.passed)
            }
        } else if let current {
            failed.inboxBacklog.append(current, isExcluded: false)
        }
        self.failed[slot.number] = failed
        for index in droppedRanges.indices where droppedRanges[index].slot === slot {
            droppedRanges[index].outlastsModule = true
        }
    }

    /// Keeps an accepted durable event for the failed modules that are to receive it.
    mutating func keepForFailed(_ event: LifecycleEvent, _ entry: InboxEntry) {
        for slot in unlistedFailed {
            let isFirst = failed[slot.number]?.inboxBacklog.first == nil
            failed[slot.number]?.inboxBacklog.append(entry, isExcluded: !event.isFor(slot.id))
            if isFirst { noteLevel(slot) }
        }
    }

    /// Notes that a durable event was claimed: no failed module is to act on it, too.
    mutating func noteClaimed(_ entry: InboxEntry) {
        for slot in unlistedFailed {
            let first = failed[slot.number]?.inboxBacklog.first
            failed[slot.number]?.inboxBacklog.exclude(entry)
            if failed[slot.number]?.inboxBacklog.first != first { noteLevel(slot) }
        }
    }

    /// The failed modules that are not listed any more.
    ///
    /// Slots alone: a loop over `failed` itself keeps a second reference to each backlog, so that each change
    /// of one copies it.
    private var unlistedFailed: [ModuleSlot] {
        failed.values.map(\.slot).filter { !$0.isListed }
    }

    /// Passes the durable events that wait for a module to the one that takes its place.
    ///
    /// - Returns: The number of waiting events.
    mutating func passOn(from old: ModuleSlot, to new: ModuleSlot, log: EventLog) -> Int {
        let inboxBacklog = failed(old)?.inboxBacklog ?? takeRest(of: old, log: log)
        guard let inboxBacklog, inboxBacklog.first != nil else {
            // Nothing more is to wait for it.
            dropFailed(old)
            return 0
        }
        failed[new.number] = Failed(slot: new, inboxBacklog: inboxBacklog)
        // In this order there is no moment at which the black box has neither.
        noteLevel(new)
        dropFailed(old)
        return inboxBacklog.count
    }

    /// Releases the events that wait for a failed module, which is no longer part of the app.
    ///
    /// - Returns: The number of events that waited.
    @discardableResult
    mutating func dropFailed(_ slot: ModuleSlot) -> Int {
        guard let count = failed(slot)?.inboxBacklog.count else { return 0 }
        failed[slot.number] = nil
        slot.isAwaited.store(false, ordering: .relaxed)
        noteLevel(slot)
        return count
    }

    /// Returns the failed modules that a durable event waits for, in order of response.
    func failedModules(awaitedBy event: LifecycleEvent) -> [ModuleID] {
        unlistedFailed.filter { event.isFor($0.id) }.sorted { $0.rank < $1.rank }
            .compactMap(\.id)
    }

    /// Removes and returns the events of the inbox that a module which has just become overdue has to catch
    /// up with.
    mutating func takeWaiting(for slot: ModuleSlot) -> InboxBacklog? {
        // What a stop has left to the next host is that one's.
        guard !isStopping, slot.isListed, let inboxBacklog = failed(slot)?.inboxBacklog else {
            return nil
        }
        failed[slot.number] = nil
        return inboxBacklog
    }
}

extension Lane {
    /// Removes a module that has failed; durable events wait for it from now on.
    ///
    /// Has no effect for a module that is removed already.
    func fail(_ slot: ModuleSlot) {
        let word = ownership
        state.withLock { state in
            guard slot.isListed else { return }
            // The current job belongs to the lane's thread: a module that is behind may fail on another one.
            let current = state.overdue.holds(slot) ? nil : state.unhandled(by: slot, at: word)
            state.overdue.fail(slot, in: current, log: state.log)
            slot.status.store(.unlisted, ordering: .releasing)
            state.overdue.noteGone(slot, log: &state.log)
            state.overdue.noteLevel(slot)
        }
        epoch.add(1, ordering: .releasing)
    }

    /// Lets nothing wait for a module that has ended on purpose.
    func forget(_ slot: ModuleSlot) {
        state.withLock { _ = $0.overdue.dropFailed(slot) }
    }

    /// Makes durable events wait for a module that is about to be made.
    func hold(_ slot: ModuleSlot) {
        state.withLock { state in
            state.overdue.fail(slot, in: nil, log: state.log)
            slot.status.store(.unlisted, ordering: .releasing)
        }
        epoch.add(1, ordering: .releasing)
    }

    /// Makes a module for which durable events were held one that receives events again.
    ///
    /// - Returns: Whether some wait for it: it is to catch up before any other event begins.
    func relist(_ slot: ModuleSlot) -> Bool {
        let isBehind = state.withLock { state in
            guard let held = state.overdue.failed(slot) else { return false }
            slot.status.store(.listed, ordering: .releasing)
            slot.isAwaited.store(false, ordering: .relaxed)
            guard held.inboxBacklog.first == nil else { return true }
            state.overdue.dropFailed(slot)
            return false
        }
        epoch.add(1, ordering: .releasing)
        return isBehind
    }

    /// Returns whether a module has failed.
    func hasFailed(_ slot: ModuleSlot) -> Bool {
        !slot.isListed && state.withLock { $0.overdue.failed(slot) != nil }
    }

    /// Returns the durable events that wait for a failed module: their number, and the first position; nil
    /// for none.
    func waiting(for slot: ModuleSlot) -> (count: Int, first: EventPosition)? {
        state.withLock { $0.overdue.waiting(for: slot) }
    }

    /// Returns the failed modules that a durable event waits for, in order of response.
    func failedModules(awaitedBy event: LifecycleEvent) -> [ModuleID] {
        state.withLock { $0.overdue.failedModules(awaitedBy: event) }
    }

    /// Notes that a durable event was claimed, or its URL opened: no failed module is to act on it, too.
    func noteClaimed(_ entry: InboxEntry) { state.withLock { $0.overdue.noteClaimed(entry) } }

    /// Passes the durable events that wait for a module to the one that takes its place.
    ///
    /// - Returns: The number of waiting events.
    func passOn(from old: ModuleSlot, to new: ModuleSlot) -> Int {
        state.withLock { $0.overdue.passOn(from: old, to: new, log: $0.log) }
    }
}

extension Lane.State {
    /// Returns the durable event that is being delivered, where a module is in it or has yet to receive it.
    fileprivate func unhandled(by slot: ModuleSlot, at word: Ownership) -> InboxEntry? {
        guard let event = current?.event, let entry = event.entry, event.isFor(slot.id),
            let outermost = slots[thread.outermost(at: word)], slot.rank >= outermost.rank
        else { return nil }
        return entry
    }
}
