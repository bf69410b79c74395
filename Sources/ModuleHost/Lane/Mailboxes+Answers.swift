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
            // The taker of the mailbox notifies the module.
            case .answer where entry.mail.isOut: return false
            case .answer: break
            // It has older ones to receive first, on a thread of its own.
            case .unattended where entry.mail.backlog.first != nil: return false
            case .unattended: break
            }
        } else {
            entries[slot.number] = Entry(slot: slot, mail: Mailbox())
        }
        entries[slot.number]?.mail.tell(event, begun: event.entry, isOut: true)
        awaitAnswer(of: slot)
        noteUndelivered(slot)
        return true
    }

    /// Notes that an overdue module has begun an asynchronous handler of its event, on its own thread.
    ///
    /// - Parameter thread: The calling thread, if it has lost the lane.
    mutating func leaveOpen(_ slot: ModuleSlot, on thread: LaneThread?) -> Bool {
        guard let thread, let entry = self[slot], entry.taker.thread === thread,
            !entry.mail.isOut, entry.mail.event != nil
        else { return false }
        entries[slot.number]?.mail.leaveOpen()
        return true
    }

    /// Lets the answer of a module be what it waits for, and no thread.
    mutating func awaitAnswer(of slot: ModuleSlot) {
        setTaker(.answer, of: slot)
        box?.setOverdue(slot.number, false)
        slot.status.store(.open, ordering: .releasing)
        // A stop does not read on in the inbox.
        if isStopping, self[slot]?.mail.backlog.first != nil { hold(slot) }
    }

    /// Notes that a module has answered its event, or will not.
    mutating func answered(_ slot: ModuleSlot) {
        guard let entry = self[slot], entry.mail.isOut || entry.isAnswerAwaited else { return }
        entries[slot.number]?.mail.done()
        if isStopping, entry.isAnswerAwaited, entry.mail.countInMemory == 0 {
            _ = leaveRest(of: slot)
        } else {
            noteUndelivered(slot)
        }
    }

    /// Notes that a module is not to answer its event any more: a durable one waits as if it had not received it.
    mutating func giveBack(_ slot: ModuleSlot) {
        guard let entry = self[slot], entry.mail.isOut else { return }
        if entry.mail.begun != nil {
            entries[slot.number]?.mail.putBack(isGivenBack: true)
            if isStopping { hold(slot) }
        }
        answered(slot)
    }

    /// Returns whether the lane notifies a module of an event that does not wait for its answer.
    ///
    /// In a stop these are the shutdown events, unless one of them waits already. Other parts of a module receive the event that
    /// it is to answer. Between two slices of its handler a module can be asked whether it claims something: a search does not
    /// wait, and the module's other events stand where they are.
    mutating func isTold(_ slot: ModuleSlot, at position: UInt64, _ kind: EventKind?) -> Bool {
        guard let entry = self[slot], entry.isAnswerAwaited else { return true }
        if entry.mail.isOut, entry.mail.event?.sequence == position { return true }
        let hasProcess = slot.limits.hasProcess
        guard isStopping else { return kind?.isClaimed == true && !hasProcess }
        guard hasProcess || kind?.stateChange != nil, entry.mail.countInMemory == 0 else {
            return false
        }
        entries[slot.number]?.mail.skip(position)
        return true
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
        if self[slot]?.mail.backlog.first != nil { hold(slot) }
        if self[slot]?.mail.isOut == true { noteUndelivered(slot) } else { endTaking(slot) }
        return dropped
    }
}
