import AppService
import Synchronization

/// The takeover of the lane from a stuck thread, and the modules on its stack.
extension Lane {
    // MARK: Takeover

    /// Takes the lane from its thread, if the word still is `observed`.
    ///
    /// Called by the watchdog, or by the thread itself.
    ///
    /// - Parameters:
    ///   - observed: The word.
    ///   - cause: The reason.
    /// - Returns: Whether it was taken: exactly once for each word, or not at all. Where the system has no
    ///   room for another thread it is not taken; everything goes on when the module returns, and the
    ///   takeover can be tried again.
    func takeOver(at observed: Ownership, because cause: TakeoverCause = .overdue) -> Bool {
        guard observed.depth > 0, observed.slot != 0 else { return false }
        let standby: StandbyThread
        do throws(SystemError) {
            try ProcessBarrier.prepare()
            standby = try delegate.makeStandbyThread()
        } catch {
            noteNoThread(at: observed, error)
            return false
        }
        // Under the lock, so that the stuck thread finds its record even if it returns at this moment.
        let taken = state.withLock { state -> (LaneThread, ModuleSlot?)? in
            let stuck = state.thread
            guard stuck.word.take(at: observed) else { return nil }
            let numbers = stuck.stack(at: observed)
            let slots = numbers.compactMap { state.slots[$0] }
            state.mailboxes.add(
                slots, of: stuck, job: state.current, isYield: cause != .overdue)
            state.stalled.add(stuck, in: slots)
            state.resumption = Resumption(
                slot: stuck.outermost(at: observed),
                report: TakeoverReport(
                    slots: slots, unloaded: numbers.last.flatMap(state.unloadedModule),
                    cause: cause, job: state.current))
            let thread = state.nextThread(at: observed.takenOver, box)
            noteTakeover(by: thread, of: state)
            state.thread = thread
            setOwner(thread)
            state.isAsleep = false
            return (thread, slots.last)
        }
        guard let (thread, innermost) = taken else {
            standby.cancel()
            return false
        }
        epoch.add(1, ordering: .releasing)
        if cause == .overdue, let innermost { watchdog.tookOver(from: innermost) }
        standby.run { [self] in run(on: thread) }
        return true
    }

    /// Reports that no thread can continue in the place of one that is stuck, once for a delivery.
    private func noteNoThread(at observed: Ownership, _ error: SystemError) {
        let isNew = state.withLock { state in
            defer { state.unreplaced = observed.delivery }
            return state.unreplaced != observed.delivery
        }
        if isNew { delegate.hasNoThread(besides: slot(observed.slot), error) }
    }

    /// Makes the black box describe the thread that goes on, before that thread enters a module.
    ///
    /// Under the lane's lock, while the word is at depth 0 and names no module.
    private func noteTakeover(by thread: LaneThread, of state: State) {
        guard let box else { return }
        // An event continues; any other work ends with the module that was stuck in it.
        if state.current?.event == nil { box.setActivity(nil) }
        box.setStack(thread.stack)
    }

    /// Goes on with what waits for its modules, on a thread that lost the lane and is back from the module that kept it.
    func catchUp(on thread: LaneThread) {
        guard let stalled = state.withLock({ $0.stalled.stalled(of: thread) }) else { return }
        for slot in stalled.slots {
            thread.place = slot.number
            var members: OverdueMembers?
            steps: while true {
                let step = state.withLock { $0.mailboxes.next(for: slot, on: thread) }
                switch step {
                case nil: break steps
                case .event(let event):
                    if !delegate.deliverOverdue(event, to: slot, &members) { break steps }
                case .read(let place):
                    let (entry, event) = delegate.readOverdue(at: place)
                    let wanted = state.withLock {
                        $0.mailboxes.take(entry, event, for: slot, on: thread)
                    }
                    if let wanted, !delegate.deliverOverdue(wanted, to: slot, &members) {
                        break steps
                    }
                case .deferred(let work): work.run()
                case .dropped(let work): work.abandon()
                case .open:
                    epoch.add(1, ordering: .releasing)
                    enqueue { [delegate] thread in delegate.rejoined(slot, missed: 0, on: thread) }
                    break steps
                case .rejoined(let missed):
                    epoch.add(1, ordering: .releasing)
                    enqueue(
                        LaneWork { [delegate] thread in
                            delegate.rejoined(slot, missed: missed, on: thread)
                        } onAbandon: { [delegate] in
                            delegate.rejoinedAtEnd(slot, missed: missed)
                        })
                }
            }
            while let work = state.withLock({ $0.mailboxes.leaveBehind(slot, on: thread) }) {
                work.abandon()
            }
        }
        thread.end()
        state.withLock { state in
            state.stalled.end(stalled)
            // A thread that did not finish these steps keeps its object.
            if !state.isClosed { state.spareThreads.append(thread) }
        }
        enqueue { [delegate] thread in delegate.returned(on: thread) }
    }

    // MARK: Overdue modules

    /// Decides whether the lane may call a module whose slot is not simply listed.
    ///
    /// - Parameters:
    ///   - slot: The module's slot.
    ///   - position: The position of the current event, or nil for a call or a typed message, which never
    ///     wait for an answer to an event.
    /// - Returns: Whether to call the module, to skip it, or to count it as overdue: then the event waits for it, if its
    ///   thread has lost the lane.
    func admit(_ slot: ModuleSlot, at position: UInt64?) -> Admission {
        switch slot.status.load(ordering: .acquiring) {
        case .listed: return .go
        case .unlisted: return .skip
        case .open where position == nil: return .go
        case .overdue, .rejoined, .open: break
        }
        return state.withLock { state in
            switch slot.status.load(ordering: .relaxed) {
            case .listed: return .go
            case .unlisted: return .skip
            case .overdue:
                // In the same step: its own thread goes on at any moment.
                if position != nil, let event = state.current?.event {
                    state.mailboxes.put(event, for: slot)
                }
                return .overdue
            case .open:
                guard let position else { return .go }
                let event = state.current?.event
                return state.mailboxes.isTold(slot, at: position, event) ? .go : .overdue
            case .rejoined:
                guard let position else { return .go }
                // The module caught up on its own thread while this event was being delivered.
                if position < state.mailboxes.told(slot) { return .skip }
                state.mailboxes.forget(slot)
                slot.status.store(.listed, ordering: .relaxed)
                epoch.add(1, ordering: .releasing)
                return .go
            }
        }
    }

    @usableFromInline
    enum Admission {
        case go, overdue, skip
    }

    /// Runs `work` on the thread of an overdue module once the module has returned, before it rejoins.
    ///
    /// - Returns: False where the module is not overdue: then the caller runs it on the lane.
    func `defer`(for slot: ModuleSlot, _ work: DeferredWork) -> Bool {
        state.withLock { $0.mailboxes.defer(for: slot, work) }
    }

    /// Notes that the delivery of an event is over.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - slot: The last slot that a search was in; nil where all were asked.
    func endDelivery(of event: LifecycleEvent, with slot: ModuleSlot?) {
        guard let entry = event.entry else { return }
        state.withLock { state in
            state.mailboxes.endDelivery(of: event)
            // An overdue module may have acted, too.
            if event.kind.isClaimed, slot != nil { state.mailboxes.noteClaimed(entry) }
        }
    }

    /// The overdue module whose code the calling thread runs, if the thread has lost the lane.
    var overdueSlot: ModuleSlot? {
        let identity = NativeThread.current
        return state.withLock { state in
            guard let thread = state.stalled.thread(identity) else { return nil }
            return state.slots[thread.place ?? thread.ownership.slot]
        }
    }

    @usableFromInline
    func reportFailure(of slot: ModuleSlot, _ error: any Error) { delegate.failed(slot, error) }

    /// Removes a module permanently: it receives no further events, and nothing waits for those that it has
    /// not received.
    func unlist(_ slot: ModuleSlot) {
        state.withLock { state in
            state.mailboxes.leaveRestInStop(of: slot)
            slot.status.store(.unlisted, ordering: .releasing)
            state.mailboxes.noteGone(slot)
        }
        epoch.add(1, ordering: .releasing)
    }

    /// The slots of all modules, in no particular order.
    var allSlots: [ModuleSlot] { state.withLock { Array($0.slots.values) } }

    /// Returns whether a thread that lost the lane has not returned, or has not yet reported that its modules
    /// are no longer overdue.
    ///
    /// - Parameter slots: Modules whose threads do not count.
    /// - Returns: Whether there is such a thread.
    func hasStalledThreads(besides slots: [ModuleSlot] = []) -> Bool {
        state.withLock { $0.stalled.contains(besides: slots) }
    }

    /// Whether the lane has ended, or is about to end.
    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Returns whether a module is overdue, even if it is no longer part of the app.
    func isOverdue(_ slot: ModuleSlot) -> Bool { state.withLock { $0.mailboxes.isOverdue(slot) } }

    /// The overdue modules, in the order in which they became overdue.
    var overdueSlots: [ModuleSlot] { state.withLock(\.mailboxes.overdueSlots) }

    /// The modules that did not return in time: the overdue ones, and a module from which the lane could not
    /// be taken, since the system had no room for another thread.
    var unresponsiveSlots: [ModuleSlot] {
        let word = ownership
        return state.withLock { state in
            let stuck = state.unreplaced == word.delivery ? state.slots[word.slot] : nil
            return state.mailboxes.overdueSlots + [stuck].compactMap(\.self)
        }
    }

    /// Returns the number of events that wait for an overdue module; nil for one that is not overdue.
    func behind(_ slot: ModuleSlot) -> Int? {
        state.withLock { $0.mailboxes.behind(slot) }
    }

    /// The first durable event that each module that is behind has not received.
    var undelivered: [(slot: ModuleSlot, position: EventPosition)] {
        state.withLock(\.mailboxes.undelivered)
    }

    /// Drops the events with which an overdue or failed module is too far behind.
    func drop(before place: EventPosition, by slot: ModuleSlot) -> DroppedRange? {
        state.withLock { $0.mailboxes.drop(before: place, by: slot) }
    }

    /// Drops a durable event that a module which is behind is processing.
    ///
    /// - Returns: False where it is not processing it.
    func drop(_ event: LifecycleEvent, of slot: ModuleSlot, because reason: String) -> Bool {
        state.withLock { $0.mailboxes.drop(event, of: slot, because: reason) }
    }

    /// The ranges that were dropped for modules and are not in the dead letters yet.
    var droppedRanges: [DroppedRange] { state.withLock(\.mailboxes.droppedRanges) }

    /// Notes that a dropped range is in the dead letters, with `dropped` events for the module.
    func settle(_ range: DroppedRange, dropped: Int) {
        state.withLock { $0.mailboxes.settle(range, dropped: dropped) }
    }

    /// The facts that the watchdog needs of a delivery.
    struct Watched {
        let isBusy: Bool
        let limit: DeliveryLimit
        /// The module that the lane itself has entered.
        let slot: ModuleSlot?
        /// The number of modules that will be notified of the same event after it.
        let modulesToCome: Int
    }

    /// Returns the facts that the watchdog needs of the delivery that `word` stands for.
    func watched(at word: Ownership) -> Watched {
        state.withLock { state in
            let slot = state.slots[state.thread.outermost(at: word)]
            let rank = state.current?.isDelivering == true ? slot?.rank : nil
            return Watched(
                isBusy: state.current != nil, limit: state.current?.limit ?? .event, slot: slot,
                modulesToCome: rank.map { max(0, state.slots.count - Int($0)) } ?? 0)
        }
    }
}
