import Synchronization

/// Durable events that wait for modules which have failed, or are not made.
///
/// Such a module keeps its place in the inbox: the events from there on stay there, and are delivered when the module
/// is made again, or by the next host.
extension Mailboxes {
    /// The modules that are not listed and that durable events wait for.
    var heldSlots: [ModuleSlot] {
        entries.values.filter { $0.isHeld && !$0.slot.isListed }.map(\.slot)
    }

    /// Returns the events that wait for a module that has failed, or for one that was made again and has not begun to
    /// catch up.
    ///
    /// - Returns: Their number and the position of the first one; nil for none.
    func waiting(for slot: ModuleSlot) -> (count: Int, first: EventPosition)? {
        guard let entry = self[slot], entry.isHeld, let first = entry.mail.backlog.first else {
            return nil
        }
        return (entry.mail.backlog.count, first)
    }

    /// Lets the durable events of a mailbox wait for the module's next instance, or the next host.
    mutating func hold(_ slot: ModuleSlot) {
        slot.isAwaited.store(true, ordering: .relaxed)
        if self[slot] == nil { entries[slot.number] = Entry(slot) }
        entries[slot.number]?.isHeld = true
    }

    /// Keeps the events that a module has not received, from the moment that it fails.
    ///
    /// - Parameters:
    ///   - slot: The module's slot, which is still listed.
    ///   - current: The durable event that is being delivered and that the module has not handled; nil for a
    ///     module that is behind, for which that is recorded.
    mutating func fail(_ slot: ModuleSlot, in current: InboxEntry?) {
        let isBehind = isBehind(slot)
        // What waited for it before still does.
        let wasHeld = self[slot]?.isHeld == true
        hold(slot)
        if isBehind {
            entries[slot.number]?.mail.spillAll()
            entries[slot.number]?.mail.putBack()
            // The delivery passes it by from now on.
            if let entry = eventInHand(for: slot) {
                entries[slot.number]?.mail.backlog.append(entry)
            }
        } else if let current, !wasHeld {
            entries[slot.number]?.mail.backlog.append(current)
        }
        for index in droppedRanges.indices where droppedRanges[index].slot === slot {
            droppedRanges[index].outlastsModule = true
        }
    }

    /// Notes that a durable event was claimed: no failed module is to act on it, too.
    mutating func noteClaimed(_ entry: InboxEntry) {
        for slot in heldSlots where entry.isFor(slot.id) {
            let first = self[slot]?.mail.first
            entries[slot.number]?.mail.pass(entry)
            if self[slot]?.mail.first != first { noteUndelivered(slot) }
        }
    }

    /// Notes that a module was unloaded, even if it is still busy: nothing is kept for it any more but what is held.
    mutating func noteGone(_ slot: ModuleSlot) {
        droppedRanges.removeAll { $0.slot === slot && !$0.outlastsModule }
        guard let entry = self[slot], entry.isBehind else { return }
        entries[slot.number]?.mail.clear(keepingBacklog: entry.isHeld)
        // A thread takes itself out.
        if entry.taker.thread == nil { endTaking(slot) } else { noteUndelivered(slot) }
    }

    /// Passes the durable events that wait for a module to the one that takes its place.
    ///
    /// - Returns: The number of waiting events.
    mutating func passOn(from old: ModuleSlot, to new: ModuleSlot) -> Int {
        guard let entry = self[old], entry.isHeld || entry.isAnswerAwaited else { return 0 }
        entries[old.number]?.mail.spillAll()
        entries[old.number]?.mail.putBackOpen(paused: true)
        guard let backlog = self[old]?.mail.backlog, backlog.first != nil else {
            // Nothing more is to wait for it.
            release(old)
            return 0
        }
        let successor = self[new] ?? Entry(new, Mailbox(notified: entry.mail.notified))
        (successor.mail.backlog, successor.isHeld) = (backlog, true)
        entries[new.number] = successor
        // In this order there is no moment at which the black box has neither.
        noteUndelivered(new)
        entries[old.number]?.mail.backlog = InboxBacklog()
        if entry.isHeld { release(old) } else { noteUndelivered(old) }
        return backlog.count
    }

    /// Releases the events that wait for a failed module, which is no longer part of the app, or has received them otherwise.
    mutating func release(_ slot: ModuleSlot) {
        guard let entry = self[slot], entry.isHeld else { return }
        slot.isAwaited.store(false, ordering: .relaxed)
        entries[slot.number]?.isHeld = false
        entries[slot.number]?.mail.backlog = InboxBacklog()
        if !entry.isBehind { entries[slot.number] = nil }
        noteUndelivered(slot)
    }

    /// Returns the failed modules that a durable event waits for, in order of response.
    func failedModules(awaitedBy event: LifecycleEvent) -> [ModuleID] {
        heldSlots.filter { event.isFor($0.id) }.sorted { $0.rank < $1.rank }.compactMap(\.id)
    }
}
