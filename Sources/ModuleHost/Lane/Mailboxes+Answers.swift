import Synchronization

/// Modules with an event that they have yet to answer: the lane does not wait for it.
///
/// No thread is in such a module, so calls and its own requests do not wait. The answer makes it go on with its mail; where that
/// takes too long, a thread waits for it, and the module is overdue.
extension Mailboxes {
    /// Notes that a module is about to be notified of an event, whose answer comes later.
    ///
    /// - Returns: False for a module that is behind: it has other events to answer first.
    mutating func open(_ slot: ModuleSlot, _ event: LifecycleEvent) -> Bool {
        guard slot.isListed else { return false }
        if let entry = self[slot] {
            switch entry.taker {
            case .thread: return false
            case .answer: break
            // It has older ones to receive first, on a thread of its own, unless they are the next host's.
            case .unattended where entry.mail.backlog.first != nil && !isStopping: return false
            case .unattended: break
            }
        } else {
            entries[slot.number] = Entry(slot)
        }
        // Else the taker of the mailbox notifies the module.
        guard entries[slot.number]?.mail.leaveOpen(event, window: slot.window) == true else {
            return false
        }
        awaitAnswer(of: slot)
        noteUndelivered(slot)
        return true
    }

    /// Notes that an overdue module answers an event later that it was notified of on its own thread.
    ///
    /// - Parameter thread: The calling thread, if it has lost the lane.
    /// - Returns: False where it has others to answer first.
    mutating func leaveOpen(
        _ slot: ModuleSlot, _ event: LifecycleEvent, on thread: LaneThread?
    ) -> Bool {
        guard let thread, let entry = self[slot], entry.taker.thread === thread,
            entry.mail.event?.isSame(as: event) == true,
            entries[slot.number]?.mail.leaveOpen(event, window: slot.window) == true
        else { return false }
        noteUndelivered(slot)
        return true
    }

    /// Lets the answer of a module be what it waits for, and no thread.
    mutating func awaitAnswer(of slot: ModuleSlot) {
        setTaker(.answer, of: slot)
        box?.setOverdue(slot.number, false)
        slot.status.store(.open, ordering: .releasing)
        guard isStopping else { return }
        leaveLater(of: slot)
        // A stop does not read on in the inbox.
        if self[slot]?.mail.backlog.first != nil { hold(slot) }
    }

    /// Leaves what a module wants later to the next host.
    private mutating func leaveLater(of slot: ModuleSlot) {
        if entries[slot.number]?.mail.putBackOpen(paused: true) == true { hold(slot) }
    }

    /// Notes that a module has answered an event, or will not.
    mutating func answered(_ slot: ModuleSlot, _ event: LifecycleEvent) {
        guard let entry = self[slot], entry.mail.isOut || entry.isAnswerAwaited else { return }
        entries[slot.number]?.mail.answer(event)
        goOn(entry, slot)
    }

    /// Notes that a module wants an event again, later: it receives no other until ``resume(_:)``.
    ///
    /// - Returns: Whether it has the event to answer.
    mutating func retry(_ slot: ModuleSlot, _ event: LifecycleEvent) -> Bool {
        guard self[slot]?.mail.isOut == true,
            entries[slot.number]?.mail.retry(event) == true
        else { return false }
        if isStopping, let entry = self[slot], entry.isAnswerAwaited {
            leaveLater(of: slot)
            goOn(entry, slot)
        } else {
            noteUndelivered(slot)
        }
        return true
    }

    /// Lets a module be notified again of the events that it wanted later.
    mutating func resume(_ slot: ModuleSlot) {
        if self[slot] != nil { entries[slot.number]?.mail.resume() }
    }

    /// Returns whether a module receives no events for a time, since it wants one again later.
    func isPaused(_ slot: ModuleSlot) -> Bool { self[slot]?.mail.open.isPaused == true }

    private mutating func goOn(_ entry: Entry, _ slot: ModuleSlot) {
        if isStopping, entry.isAnswerAwaited, entry.mail.countInMemory == 0 {
            _ = leaveRest(of: slot)
        } else {
            noteUndelivered(slot)
        }
    }

    /// Notes that a module is not to answer its events any more: the durable ones wait as if it had not received them.
    mutating func giveBack(_ slot: ModuleSlot) {
        guard let entry = self[slot], entry.mail.isOut else { return }
        let isDurable = entries[slot.number]?.mail.putBackOpen(isGivenBack: true) == true
        if isDurable, isStopping { hold(slot) }
        goOn(entry, slot)
    }

    /// Returns whether the lane notifies a module of an event that does not wait for its answer.
    ///
    /// In a stop these are the shutdown events, unless one of them waits already, or the process of the module has one to
    /// answer. Other parts of a module receive the event that it is to answer. Between two slices of its handler a module can be
    /// asked whether it claims something: a search does not wait, and the module's other events stand where they are.
    mutating func isTold(_ slot: ModuleSlot, at position: UInt64, _ event: LifecycleEvent?) -> Bool
    {
        guard let entry = self[slot], entry.isAnswerAwaited else { return true }
        // A position that is new to the module needs no search.
        if entry.mail.reached > position, entry.mail.open.isOut(at: position) { return true }
        let hasProcess = slot.limits.hasProcess
        guard isStopping else {
            if let event, entries[slot.number]?.mail.admit(event, window: slot.window) == true {
                noteUndelivered(slot)
                return true
            }
            // A process that wants its events later is asked as one that has none.
            return event?.kind.isClaimed == true
                && (!hasProcess || entry.mail.open.isResting)
        }
        guard hasProcess || event?.kind.stateChange != nil, !entry.mail.open.hasStepOut,
            entry.mail.countInMemory == 0
        else { return false }
        entries[slot.number]?.mail.skip(position)
        return true
    }

    /// Notes that an event of which a module was notified does not concern it: it takes no room in its window.
    mutating func withdraw(_ event: LifecycleEvent, from slot: ModuleSlot) {
        if self[slot] != nil { entries[slot.number]?.mail.withdraw(event) }
    }

    /// Leaves the durable events that wait for a module to the next host, if the app stops.
    mutating func leaveRestInStop(of slot: ModuleSlot) {
        if isStopping, slot.isListed, self[slot]?.isAnswerAwaited == true {
            _ = leaveRest(of: slot)
        }
    }

    /// Leaves the durable events that wait for a module to the next host.
    ///
    /// - Returns: The number of the others, which are dropped.
    mutating func leaveRest(of slot: ModuleSlot) -> Int {
        let dropped = entries[slot.number]?.mail.spillAll() ?? 0
        leaveLater(of: slot)
        if self[slot]?.mail.backlog.first != nil { hold(slot) }
        if self[slot]?.mail.isOut == true { noteUndelivered(slot) } else { endTaking(slot) }
        return dropped
    }
}
