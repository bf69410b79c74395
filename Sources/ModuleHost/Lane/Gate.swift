/// The one way into module code: for an event, a call, a service, a start-up result, a timer.
///
/// Whatever enters takes a ``Passage``, names the cell, and runs its closure inside
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
        case threwLate(any Error)
        /// It was not entered: calls are nested 64 deep already.
        case tooDeep
    }

    @usableFromInline let lane: Lane

    /// Enters the module of `cell`.
    ///
    /// The only place from which module code is called on the lane.
    ///
    /// The lane is looked at again only where the caller goes on to touch what is the lane's: see
    /// ``Passage/settle()``.
    @inlinable @inline(__always)
    func enter<Result>(
        _ cell: UInt16, through passage: inout Passage,
        _ body: (inout Passage) throws -> Result
    ) -> Outcome<Result> {
        guard passage.move(to: cell) else { return .lost }
        do {
            return .returned(try body(&passage))
        } catch {
            return passage.settle() ? .threw(error) : .threwLate(error)
        }
    }

    /// Enters the module of `cell` alone, and comes back.
    ///
    /// What it throws when the lane is lost is reported here.
    ///
    /// - Parameters:
    ///   - cell: The module's place.
    ///   - thread: The calling thread, which owns the lane.
    ///   - body: Module code.
    /// - Returns: How it ended.
    func call<Result>(
        _ cell: Cell, on thread: LaneThread, _ body: () throws -> Result
    ) -> Outcome<Result> {
        guard var passage = Passage(lane: lane, thread: thread) else { return .tooDeep }
        let outcome = enter(cell.number, through: &passage) { _ in try body() }
        return end(passage, outcome, cell.number)
    }

    /// Comes back from a module; what it threw when the lane is lost is reported here.
    @inline(__always)
    private func end<Result>(
        _ passage: consuming Passage, _ outcome: Outcome<Result>, _ cell: UInt16
    ) -> Outcome<Result> {
        if passage.leave() { return outcome }
        passage.giveUp()
        switch outcome {
        case .threw(let error), .threwLate(let error):
            if let cell = lane.cell(cell) { reportLate(cell, error) }
        case .returned, .lost, .tooDeep: break
        }
        return .lost
    }

    /// Finds out whom to call, as the host, and calls, in one stay.
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
        guard var passage = Passage(lane: lane, thread: thread) else { return .tooDeep }
        guard passage.settle() else { return .lost }
        guard let (cell, found) = find() else {
            return passage.leave() ? .returned(()) : .lost
        }
        let outcome = enter(cell, through: &passage) { _ in try body(found) }
        return end(passage, outcome, cell)
    }

    /// Reports what a module threw on a thread that has lost the lane.
    @usableFromInline
    func reportLate(_ cell: Cell, _ error: any Error) {
        if !(error is LaneLost) { lane.hooks.onLateFailure(cell, error) }
    }
}

/// Thrown through a fan-out by a step that found the lane lost.
///
/// It reaches no caller.
struct LaneLost: Error {}

/// A stay in module code: from the first responder entered to the return to who was there before.
@usableFromInline
struct Passage: ~Copyable {
    // Addresses, and no references: who makes a passage holds both the lane and the thread, and counting
    // them in and out would cost more than the stay itself.
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
        outer = mine.cell
        thread.remember(mine)
    }

    /// Hands the lane to the next responder: one compare-exchange.
    ///
    /// - Returns: False where the lane was taken over.
    @inlinable @inline(__always)
    mutating func move(to cell: UInt16) -> Bool {
        let current = mine.pointee
        let next = inside == 0 ? current.entered(cell) : current.moved(to: cell)
        guard OwnershipWord.exchange(current, for: next, at: word) else { return false }
        mine.pointee = next
        inside = cell
        return true
    }

    /// Makes the host the one in hand, before anything of the lane's is touched: until the next
    /// responder is entered, the lane cannot be taken over.
    ///
    /// - Returns: False where that had happened.
    @inlinable @inline(__always)
    mutating func settle() -> Bool {
        let current = mine.pointee
        guard current.cell != 0 else { return true }
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
        if inside == 0, current.cell == outer { return true }
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
