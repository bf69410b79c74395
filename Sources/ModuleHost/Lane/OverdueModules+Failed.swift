import Synchronization

/// Durable events that wait for modules which have failed.
///
/// A failed module keeps its place in the inbox: the events from there on stay in the log, and are delivered
/// when the module is restarted, or by the next host.
extension OverdueModules {
    /// A module that durable events wait for although nothing is delivered to it.
    struct Failed {
        let slot: ModuleSlot
        var inboxBacklog = InboxBacklog()
    }

    /// The events that wait for a failed module, or for one that was restarted and has not begun to catch up.
    ///
    /// - Returns: How many events there are and where the first one is; nil for none.
    func waiting(for slot: ModuleSlot) -> (count: Int, first: EventPosition)? {
        guard let inboxBacklog = failed(slot)?.inboxBacklog, let first = inboxBacklog.first else {
            return nil
        }
        return (inboxBacklog.count, first)
    }

    func failed(_ slot: ModuleSlot) -> Failed? {
        failed[slot.number].flatMap { $0.slot === slot ? $0 : nil }
    }

    /// Keeps what a module has not received for it, from the moment that it fails.
    ///
    /// - Parameters:
    ///   - slot: The module's place, which is still listed.
    ///   - current: The durable event that is being delivered and that the module has not handled; nil for a
    ///     module that is overdue, of which that is known.
    ///   - log: The log.
    mutating func fail(_ slot: ModuleSlot, in current: InboxEntry?, log: EventLog) {
        guard failed(slot) == nil else { return }
        var failed = Failed(slot: slot)
        if holds(slot) {
            moveToInboxBacklog(of: slot, log: log)
            failed.inboxBacklog = modules[slot.number]?.inboxBacklog ?? InboxBacklog()
            if let begun = modules[slot.number]?.begun { failed.inboxBacklog.putBack(begun) }
        } else if let current {
            failed.inboxBacklog.append(current, isExcluded: false)
        }
        self.failed[slot.number] = failed
        slot.isAwaited.store(true, ordering: .relaxed)
        for index in droppedRanges.indices where droppedRanges[index].slot === slot {
            droppedRanges[index].outlastsModule = true
        }
    }

    /// A durable event was accepted: it waits for the failed modules that it is meant for.
    mutating func keepForFailed(_ event: LifecycleEvent, _ entry: InboxEntry) {
        for (number, module) in failed where !module.slot.isListed {
            let isFirst = module.inboxBacklog.first == nil
            failed[number]?.inboxBacklog.append(entry, isExcluded: !event.isFor(module.slot.id))
            if isFirst { noteLevel(module.slot) }
        }
    }

    /// A durable event was claimed: no failed module is to act on it, too.
    mutating func noteClaimed(_ entry: InboxEntry) {
        for (number, module) in failed where !module.slot.isListed {
            failed[number]?.inboxBacklog.exclude(entry)
            if failed[number]?.inboxBacklog.first != module.inboxBacklog.first {
                noteLevel(module.slot)
            }
        }
    }

    /// Hands what waits for a failed module to the one that takes its place.
    ///
    /// - Returns: How many events wait.
    mutating func passOn(from old: ModuleSlot, to new: ModuleSlot) -> Int {
        guard let inboxBacklog = failed(old)?.inboxBacklog, inboxBacklog.first != nil else {
            return 0
        }
        failed[new.number] = Failed(slot: new, inboxBacklog: inboxBacklog)
        // At no moment is there a black box that knows of neither.
        noteLevel(new)
        dropFailed(old)
        return inboxBacklog.count
    }

    /// Releases what waits for a failed module, which is no longer part of the app.
    ///
    /// - Returns: How many events waited.
    @discardableResult
    mutating func dropFailed(_ slot: ModuleSlot) -> Int {
        guard let count = failed(slot)?.inboxBacklog.count else { return 0 }
        failed[slot.number] = nil
        slot.isAwaited.store(false, ordering: .relaxed)
        noteLevel(slot)
        return count
    }

    /// Takes the events of the inbox that a module which has just become overdue has to catch up with.
    mutating func takeWaiting(for slot: ModuleSlot) -> InboxBacklog? {
        guard slot.isListed, let inboxBacklog = failed(slot)?.inboxBacklog else { return nil }
        failed[slot.number] = nil
        return inboxBacklog
    }
}

extension Lane {
    /// Takes a module out that has failed; durable events wait for it from now on.
    ///
    /// Does nothing for a module that is out already.
    func fail(_ slot: ModuleSlot) {
        let word = word.load()
        state.withLock { state in
            guard slot.isListed else { return }
            state.overdue.fail(slot, in: state.unhandled(by: slot, at: word), log: state.log)
            slot.status.store(.unlisted, ordering: .releasing)
            state.overdue.noteGone(slot, log: &state.log)
            state.overdue.noteLevel(slot)
        }
        epoch.add(1, ordering: .releasing)
    }

    /// The durable events that wait for a failed module: how many, and from where on; nil for none.
    func waiting(for slot: ModuleSlot) -> (count: Int, first: EventPosition)? {
        state.withLock { $0.overdue.waiting(for: slot) }
    }

    /// A durable event was claimed, or its URL opened: no failed module is to act on it, too.
    func noteClaimed(_ entry: InboxEntry) { state.withLock { $0.overdue.noteClaimed(entry) } }

    /// Hands what waits for a failed module to the one that takes its place.
    ///
    /// - Returns: How many events wait.
    func passOn(from old: ModuleSlot, to new: ModuleSlot) -> Int {
        state.withLock { $0.overdue.passOn(from: old, to: new) }
    }

    /// Releases what waits for a failed module that is no longer part of the app.
    ///
    /// - Returns: How many events waited.
    @discardableResult
    func dropWaiting(for slot: ModuleSlot) -> Int { state.withLock { $0.overdue.dropFailed(slot) } }
}

extension Lane.State {
    /// The durable event that is being delivered, where a module is in it or has yet to receive it.
    fileprivate func unhandled(by slot: ModuleSlot, at word: Ownership) -> InboxEntry? {
        guard let event = current?.event, let entry = event.entry, event.isFor(slot.id),
            let outermost = slots[thread.outermost(at: word)], slot.rank >= outermost.rank
        else { return nil }
        return entry
    }
}
