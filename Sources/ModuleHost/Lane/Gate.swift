/// The one way into module code: for an event, a call, a service, a start-up result, a timer.
///
/// Whatever enters takes a ``GateEntry``, names the slot, and runs its closure inside
/// ``enter(_:through:_:)``. No lock of the host is held there.
@usableFromInline
struct Gate: Sendable {
    /// The outcome of an entry into module code.
    @usableFromInline
    enum Outcome<Result> {
        /// It returned, and the lane is still ours.
        case returned(Result)
        /// It threw, and the lane is still ours.
        case threw(any Error)
        /// The lane is another thread's now: nothing that belongs to it may be touched any more. The
        /// module was not entered, or what it did is no longer waited for.
        case lost
        /// As ``lost``, and the module was entered and has thrown, late.
        case threwOverdue(any Error)
        /// It was not entered: calls are nested 64 deep already.
        case tooDeep
    }

    @usableFromInline let lane: Lane

    /// Enters the module of `slot`.
    ///
    /// The only place from which module code is called on the lane.
    ///
    /// The lane is looked at again only where the caller goes on to touch what is the lane's: see
    /// ``GateEntry/settle()``.
    @inlinable @inline(__always)
    func enter<Result>(
        _ slot: UInt16, through entry: inout GateEntry,
        _ body: (inout GateEntry) throws -> Result
    ) -> Outcome<Result> {
        guard entry.move(to: slot) else { return .lost }
        do {
            return .returned(try body(&entry))
        } catch {
            return entry.settle() ? .threw(error) : .threwOverdue(error)
        }
    }

    /// Enters the module of `slot` alone, and comes back.
    ///
    /// What it throws when the lane is lost is reported here.
    ///
    /// - Parameters:
    ///   - slot: The module's place.
    ///   - thread: The calling thread, which owns the lane.
    ///   - body: Module code.
    /// - Returns: How it ended.
    func call<Result>(
        _ slot: ModuleSlot, on thread: LaneThread, _ body: () throws -> Result
    ) -> Outcome<Result> {
        guard var entry = GateEntry(lane: lane, thread: thread) else { return .tooDeep }
        let outcome = enter(slot.number, through: &entry) { _ in try body() }
        return end(entry, outcome, slot.number)
    }

    /// Comes back from a module; what it threw when the lane is lost is reported here.
    @inline(__always)
    private func end<Result>(
        _ entry: consuming GateEntry, _ outcome: Outcome<Result>, _ slot: UInt16
    ) -> Outcome<Result> {
        if entry.leave() { return outcome }
        entry.giveUp()
        switch outcome {
        case .threw(let error), .threwOverdue(let error):
            if let slot = lane.slot(slot) { reportOverdue(slot, error) }
        case .returned, .lost, .tooDeep: break
        }
        return .lost
    }

    /// Finds out whom to call, as the host, and calls, in one entry.
    ///
    /// - Parameters:
    ///   - thread: The calling thread, which owns the lane.
    ///   - find: Host code, while the lane cannot be taken: returns the module to call and its argument; nil for none.
    ///   - body: Module code.
    /// - Returns: How it ended; if there was no module to call, as if it had returned.
    @inline(__always)
    func call<Found>(
        on thread: LaneThread, find: () -> (UInt16, Found)?, body: (Found) throws -> Void
    ) -> Outcome<Void> {
        guard var entry = GateEntry(lane: lane, thread: thread) else { return .tooDeep }
        guard entry.settle() else { return .lost }
        guard let (slot, found) = find() else {
            return entry.leave() ? .returned(()) : .lost
        }
        let outcome = enter(slot, through: &entry) { _ in try body(found) }
        return end(entry, outcome, slot)
    }

    /// Reports what a module threw on a thread that has lost the lane.
    @usableFromInline
    func reportOverdue(_ slot: ModuleSlot, _ error: any Error) {
        if !(error is LaneLost) { lane.hooks.onOverdueFailure(slot, error) }
    }
}

/// Thrown through a fan-out by a step that found the lane lost.
///
/// It reaches no caller.
struct LaneLost: Error {}

/// An entry into module code: from the first responder entered to the return to the module or host that was there before.
@usableFromInline
struct GateEntry: ~Copyable {
    // Addresses, and no references: who makes a entry holds both the lane and the thread, and counting
    // them in and out would cost more than the entry itself.
    @usableFromInline let word: OwnershipWord.Address
    @usableFromInline let mine: UnsafeMutablePointer<Ownership>
    private let thread: Unmanaged<LaneThread>
    @usableFromInline let outer: UInt16
    /// The responder entered last; 0 before the first.
    @usableFromInline var inside: UInt16 = 0

    /// - Returns: nil where calls are nested 64 deep already.
    @usableFromInline
    init?(lane: Lane, thread: LaneThread) {
        let mine = thread.mine
        guard mine.depth < CallDepth.maximum else { return nil }
        word = lane.word.address
        self.mine = thread.mineAddress
        self.thread = Unmanaged.passUnretained(thread)
        outer = mine.slot
        thread.remember(mine)
    }

    /// Hands the lane to the next responder: one compare-exchange.
    ///
    /// - Returns: False where the lane was taken over.
    @inlinable @inline(__always)
    mutating func move(to slot: UInt16) -> Bool {
        let current = mine.pointee
        let next = inside == 0 ? current.entered(slot) : current.moved(to: slot)
        guard OwnershipWord.exchange(current, for: next, at: word) else { return false }
        mine.pointee = next
        inside = slot
        return true
    }

    /// Makes the host the current one, before anything of the lane's is touched: until the next
    /// responder is entered, the lane cannot be taken over.
    ///
    /// - Returns: False where that had happened.
    @inlinable @inline(__always)
    mutating func settle() -> Bool {
        let current = mine.pointee
        guard current.slot != 0 else { return true }
        guard OwnershipWord.exchange(current, for: current.inHost, at: word) else { return false }
        mine.pointee = current.inHost
        return true
    }

    /// Goes back to who was there before.
    ///
    /// - Returns: False where the lane was taken over.
    @inlinable @inline(__always)
    mutating func leave() -> Bool {
        let current = mine.pointee
        // No responder was called: only the host, if it was at work, hands back.
        if inside == 0, current.slot == outer { return true }
        let next = inside == 0 ? current.resumed(by: outer) : current.left(to: outer)
        guard OwnershipWord.exchange(current, for: next, at: word) else { return false }
        mine.pointee = next
        inside = 0
        return true
    }

    /// Goes back to who was there before, on a thread that has lost the lane.
    @usableFromInline
    func giveUp() { thread._withUnsafeGuaranteedRef { $0.place = outer } }
}
