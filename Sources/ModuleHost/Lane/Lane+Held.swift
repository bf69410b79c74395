import Synchronization

/// Durable events that wait for modules that have failed, are not made, or are removed.
extension Lane {
    /// Removes a module that has failed; durable events wait for it from now on.
    ///
    /// Has no effect for a module that is removed already.
    func fail(_ slot: ModuleSlot) {
        let word = ownership
        state.withLock { state in
            guard slot.isListed else { return }
            // The current job belongs to the lane's thread: a module that is behind may fail on another one.
            let current = state.mailboxes.isBehind(slot) ? nil : state.unhandled(by: slot, at: word)
            state.mailboxes.fail(slot, in: current)
            slot.status.store(.unlisted, ordering: .releasing)
            state.mailboxes.noteGone(slot)
            state.mailboxes.noteUndelivered(slot)
        }
        epoch.add(1, ordering: .releasing)
    }

    /// Lets nothing wait for a module that has ended on purpose.
    func forget(_ slot: ModuleSlot) { state.withLock { $0.mailboxes.release(slot) } }

    /// Makes durable events wait for a module that is about to be made.
    func hold(_ slot: ModuleSlot) {
        state.withLock { state in
            state.mailboxes.fail(slot, in: nil)
            slot.status.store(.unlisted, ordering: .releasing)
        }
        epoch.add(1, ordering: .releasing)
    }

    /// Makes a module for which durable events were held one that receives events again.
    ///
    /// - Returns: Whether some wait for it: it is to catch up before any other event begins.
    func relist(_ slot: ModuleSlot) -> Bool {
        let isBehind = state.withLock { state in
            guard let entry = state.mailboxes[slot], entry.isHeld else { return false }
            slot.status.store(.listed, ordering: .releasing)
            slot.isAwaited.store(false, ordering: .relaxed)
            guard entry.mail.backlog.first == nil else { return true }
            state.mailboxes.release(slot)
            return false
        }
        epoch.add(1, ordering: .releasing)
        return isBehind
    }

    /// Returns whether a module has failed.
    func hasFailed(_ slot: ModuleSlot) -> Bool {
        !slot.isListed && state.withLock { $0.mailboxes[slot]?.isHeld == true }
    }

    /// Returns the durable events that wait for a failed module: their number, and the first position; nil
    /// for none.
    func waiting(for slot: ModuleSlot) -> (count: Int, first: EventPosition)? {
        state.withLock { $0.mailboxes.waiting(for: slot) }
    }

    /// Returns the failed modules that a durable event waits for, in order of response.
    func failedModules(awaitedBy event: LifecycleEvent) -> [ModuleID] {
        state.withLock { $0.mailboxes.failedModules(awaitedBy: event) }
    }

    /// Notes that a durable event was claimed, or its URL opened: no failed module is to act on it, too.
    func noteClaimed(_ entry: InboxEntry) { state.withLock { $0.mailboxes.noteClaimed(entry) } }

    /// Passes the durable events that wait for a module to the one that takes its place.
    ///
    /// - Returns: The number of waiting events.
    func passOn(from old: ModuleSlot, to new: ModuleSlot) -> Int {
        state.withLock { $0.mailboxes.passOn(from: old, to: new) }
    }

    /// Drops all durable events that a module has not received, since it is removed.
    ///
    /// - Parameters:
    ///   - slot: The module's slot, which is still registered.
    ///   - rest: The events for the module that the lane has not reached; nil for none.
    /// - Returns: The number of dropped events, except those of `rest`.
    func dropAll(of slot: ModuleSlot, and rest: Range<EventPosition>?) -> Int {
        state.withLock { $0.mailboxes.dropAll(of: slot, and: rest) }
    }

    /// The durable events that the lane has passed, and that a module has yet to receive: their number, and the
    /// first position; nil for none.
    var pendingEvents: (count: Int, first: EventPosition)? { state.withLock(\.mailboxes.pending) }
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
