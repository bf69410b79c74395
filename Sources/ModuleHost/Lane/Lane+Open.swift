import Synchronization

/// Modules whose processes have an event to answer, on the lane.
extension Lane {
    /// Notes that a module, which the calling thread is in, is about to be notified of an event whose answer comes later.
    ///
    /// Events wait for it from now on, until ``answered(_:)``; see ``Mailboxes/open(_:_:)``.
    ///
    /// - Returns: False where the calling thread is not the lane's, or the module is behind.
    func open(_ slot: ModuleSlot, _ event: LifecycleEvent) -> Bool {
        guard let thread = hold else { return false }
        let isOpen = state.withLock { state in
            owns(thread) && state.mailboxes.open(slot, event)
        }
        if isOpen { epoch.add(1, ordering: .releasing) }
        return isOpen
    }

    /// As ``open(_:_:)``, for an asynchronous handler that the calling thread has begun.
    ///
    /// The own thread of an overdue module does not wait for it.
    func leaveOpen(_ slot: ModuleSlot, _ event: LifecycleEvent) -> Bool {
        if open(slot, event) { return true }
        let identity = NativeThread.current
        return state.withLock { state in
            state.mailboxes.leaveOpen(slot, event, on: state.stalled.thread(identity))
        }
    }

    /// Notes that a module is not to answer its event any more: a durable one waits for the module's next instance, or the
    /// next host.
    ///
    /// In the module.
    func giveBack(_ slot: ModuleSlot) {
        state.withLock { $0.mailboxes.giveBack(slot) }
        epoch.add(1, ordering: .releasing)
    }

    /// Returns whether a module has an event to answer.
    func isOut(_ event: LifecycleEvent, at slot: ModuleSlot) -> Bool {
        state.withLock { $0.mailboxes[slot]?.mail.open.isOut(event) == true }
    }

    /// Notes that an event of which a module was notified, beside others that it has yet to answer, does not concern it.
    func withdraw(_ event: LifecycleEvent, from slot: ModuleSlot) {
        state.withLock { $0.mailboxes.withdraw(event, from: slot) }
    }

    /// See ``Mailboxes/removeFirst(of:)``.
    func removeFirst(of slot: ModuleSlot) -> LifecycleEvent? {
        state.withLock { $0.mailboxes.removeFirst(of: slot) }
    }

    /// Puts an event which is being delivered into the mailbox of a module that is behind.
    func put(_ event: LifecycleEvent, for slot: ModuleSlot) {
        let isFull = state.withLock { $0.mailboxes.put(event, for: slot) }
        if isFull { mayBeFull.store(true, ordering: .relaxed) }
    }

    /// Notes that a module has answered an event, or will not.
    ///
    /// In the module.
    func answered(_ slot: ModuleSlot, _ event: LifecycleEvent) {
        state.withLock { $0.mailboxes.answered(slot, event) }
        epoch.add(1, ordering: .releasing)
    }

    /// Notes that a module wants an event again, later; see ``Mailboxes/retry(_:_:)``.
    ///
    /// In the module.
    func retry(_ slot: ModuleSlot, _ event: LifecycleEvent) -> Bool {
        state.withLock { $0.mailboxes.retry(slot, event) }
    }

    /// Lets a module be notified again of the events that it wanted later.
    ///
    /// In the module.
    func resume(_ slot: ModuleSlot) { state.withLock { $0.mailboxes.resume(slot) } }

    /// The number of events that wait for a module that is behind, with those that it is to receive again.
    func waitingCount(of slot: ModuleSlot) -> Int {
        state.withLock { state in
            state.mailboxes[slot].map { $0.mail.count + $0.mail.open.againCount } ?? 0
        }
    }

    /// Returns whether a module receives no events for a time, since it wants one again later.
    func isPaused(_ slot: ModuleSlot) -> Bool { state.withLock { $0.mailboxes.isPaused(slot) } }

    /// Returns what a module is to receive next whose process has answered; nil where another one decides that, or where
    /// it is not to receive anything now.
    ///
    /// On the lane, between two events.
    func nextStep(of slot: ModuleSlot) -> Mailboxes.Step? {
        let step = state.withLock { $0.mailboxes.next(for: slot, on: nil) }
        if case .rejoined = step { epoch.add(1, ordering: .releasing) }
        return step
    }

    /// Returns whether the process of a module has an event that it has not answered, and no thread waits for that.
    func isOpen(_ slot: ModuleSlot) -> Bool { state.withLock { $0.mailboxes.isOpen(slot) } }

    /// Returns whether a module is behind, and not overdue.
    func isCatchingUp(_ slot: ModuleSlot) -> Bool {
        slot.status.load(ordering: .acquiring) == .open
    }

    /// Returns whether a module answers what waits for it, by itself: it is behind, not overdue, and does not want it later.
    func answers(_ slot: ModuleSlot) -> Bool {
        isCatchingUp(slot) && !state.withLock { $0.mailboxes[slot]?.mail.open.isResting == true }
    }

    /// Returns whether the process of a module answers a step of the stop.
    func answersStep(_ slot: ModuleSlot) -> Bool {
        isCatchingUp(slot) && state.withLock { $0.mailboxes[slot]?.mail.open.hasStepOut == true }
    }

    /// The modules that are behind, and not overdue.
    var openSlots: [ModuleSlot] { state.withLock(\.mailboxes.openSlots) }

    /// Returns whether durable events wait for a module that are not in memory any more.
    func isFarBehind(_ slot: ModuleSlot) -> Bool {
        state.withLock { state in
            guard let entry = state.mailboxes[slot], entry.isBehind, !entry.isHeld else {
                return false
            }
            return entry.mail.backlog.first != nil
        }
    }

    /// The module that is to answer before there is another event; nil for none.
    var full: ModuleSlot? {
        guard mayBeFull.load(ordering: .relaxed) else { return nil }
        let full = state.withLock(\.mailboxes.full)
        if full == nil { mayBeFull.store(false, ordering: .relaxed) }
        return full
    }

    /// Leaves what waits for modules that are not overdue to the next host, since the app stops.
    ///
    /// - Returns: The number of events that are dropped, and of those that the next host delivers.
    func stopTelling() -> (dropped: Int, durable: Int) {
        defer { epoch.add(1, ordering: .releasing) }
        return state.withLock { $0.mailboxes.stop() }
    }
}
