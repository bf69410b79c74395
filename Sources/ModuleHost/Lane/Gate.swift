/// The only way into module code: for an event, a call, a service, a start-up result, a timer.
///
/// Code that enters a module takes a ``GateEntry``, names the slot, and runs its closure inside
/// ``enter(_:through:_:)``. No lock of the host is locked there.
@usableFromInline
struct Gate: Sendable {
    /// The outcome of an entry into module code.
    @usableFromInline
    enum Outcome<Result> {
        /// The module returned, and the thread still owns the lane.
        case returned(Result)
        /// The module threw, and the thread still owns the lane.
        case threw(any Error)
        /// The lane belongs to another thread now: its state must not be accessed any more. The module was
        /// not entered, or its result is no longer waited for.
        case lost
        /// As ``lost``; the module was entered and has thrown, after its deadline.
        case threwOverdue(any Error)
        /// The module was not entered: calls are nested 64 deep already.
        case tooDeep
    }

    @usableFromInline let lane: Lane

    /// Enters the module of `slot`.
    ///
    /// The only place from which module code is called on the lane.
    ///
    /// The lane is checked again only where the caller accesses its state afterwards: see
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

    /// Enters the module of `slot` alone, and returns from it.
    ///
    /// An error that it throws when the lane is lost is reported here.
    ///
    /// - Parameters:
    ///   - slot: The module's slot.
    ///   - thread: The calling thread, which owns the lane.
    ///   - body: Module code.
    /// - Returns: The outcome.
    func call<Result>(
        _ slot: ModuleSlot, on thread: LaneThread, _ body: () throws -> Result
    ) -> Outcome<Result> {
        guard var entry = GateEntry(thread: thread) else { return .tooDeep }
        let outcome = enter(slot.number, through: &entry) { _ in try body() }
        return end(entry, outcome, slot.number)
    }

    /// Returns from a module; an error that it threw when the lane is lost is reported here.
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

    /// Finds the module to call, as the host, and calls it, in one entry.
    ///
    /// - Parameters:
    ///   - thread: The calling thread, which owns the lane.
    ///   - find: Host code, while the lane cannot be taken: returns the module to call and its argument; nil
    ///     for none.
    ///   - body: Module code.
    /// - Returns: The outcome; if there was no module to call, as if it had returned.
    @inline(__always)
    func call<Found>(
        on thread: LaneThread, find: () -> (UInt16, Found)?, body: (Found) throws -> Void
    ) -> Outcome<Void> {
        guard var entry = GateEntry(thread: thread) else { return .tooDeep }
        guard entry.settle() else { return .lost }
        guard let (slot, found) = find() else {
            return entry.leave() ? .returned(()) : .lost
        }
        let outcome = enter(slot, through: &entry) { _ in try body(found) }
        return end(entry, outcome, slot)
    }

    /// Reports an error that a module threw on a thread that has lost the lane.
    @usableFromInline
    func reportOverdue(_ slot: ModuleSlot, _ error: any Error) {
        if !(error is LaneLost) { lane.delegate.failedOverdue(slot, error) }
    }
}

/// The error that a step throws through a fan-out when it finds the lane lost.
///
/// No caller receives it.
struct LaneLost: Error {}

/// An entry into module code: from the first responder entered to the return to the previous module or the
/// host.
@usableFromInline
struct GateEntry: ~Copyable {
    // Addresses instead of references: the code that creates an entry references the thread, and counting that in and
    // out would cost more than the entry itself.
    @usableFromInline let word: OwnershipWord.Address
    private let thread: Unmanaged<LaneThread>
    @usableFromInline let outer: UInt16
    /// The responder entered last; 0 before the first.
    @usableFromInline var inside: UInt16 = 0
    /// The number that a move to the next responder adds to the word, once the first was entered.
    @usableFromInline var step: UInt64 = 0

    /// - Returns: nil where calls are nested 64 deep already.
    @usableFromInline
    init?(thread: LaneThread) {
        word = thread.word.address
        let current = OwnershipWord.own(at: word)
        guard current.depth < CallDepth.maximum else { return nil }
        self.thread = Unmanaged.passUnretained(thread)
        outer = current.slot
        thread.remember(current)
    }

    /// Moves the lane to the next responder: a store and a load.
    ///
    /// - Returns: False where the lane was taken over.
    @inlinable @inline(__always)
    mutating func move(to slot: UInt16) -> Bool {
        let current = OwnershipWord.own(at: word)
        if inside == 0 {
            let next = current.entered(slot)
            guard moveWord(from: current, to: next) else { return false }
            step = next.step
        } else {
            guard moveWord(from: current, to: current.moved(to: slot, by: step)) else {
                return false
            }
        }
        inside = slot
        return true
    }

    /// Makes the host current, before the state of the lane is accessed: until the next responder is entered,
    /// the lane cannot be taken over.
    ///
    /// - Returns: False where it was taken over before.
    @inlinable @inline(__always)
    mutating func settle() -> Bool {
        let current = OwnershipWord.own(at: word)
        return current.slot == 0 || moveWord(from: current, to: current.inHost)
    }

    /// Returns to the previous module or the host.
    ///
    /// - Returns: False where the lane was taken over.
    @inlinable @inline(__always)
    mutating func leave() -> Bool {
        let current = OwnershipWord.own(at: word)
        // No responder was called: the word changes back only if the host's own code was running.
        if inside == 0, current.slot == outer { return true }
        let next = inside == 0 ? current.resumed(by: outer) : current.left(to: outer)
        guard moveWord(from: current, to: next) else { return false }
        inside = 0
        return true
    }

    @inlinable @inline(__always)
    func moveWord(from current: Ownership, to next: Ownership) -> Bool {
        OwnershipWord.move(to: next, at: word) || isKept(at: next, after: current)
    }

    @usableFromInline @inline(never)
    func isKept(at next: Ownership, after current: Ownership) -> Bool {
        thread._withUnsafeGuaranteedRef { $0.word.isKept(at: next, after: current) }
    }

    /// Returns to the previous module or the host, on a thread that has lost the lane.
    @usableFromInline
    func giveUp() { thread._withUnsafeGuaranteedRef { $0.place = outer } }
}
