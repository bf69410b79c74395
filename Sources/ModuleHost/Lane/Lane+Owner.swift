import Synchronization

/// The thread that owns the lane, and host code that the owner runs in the middle of a module's call.
extension Lane {
    func setOwner(_ thread: LaneThread) {
        owner.store(
            UInt(bitPattern: Unmanaged.passUnretained(thread).toOpaque()), ordering: .releasing)
    }

    /// The owner, without counting a reference; nil once the lane has ended.
    private var uncountedOwner: Unmanaged<LaneThread>? {
        UnsafeRawPointer(bitPattern: owner.load(ordering: .acquiring))
            .map(Unmanaged<LaneThread>.fromOpaque)
    }

    /// As ``hold``, without counting a reference: valid as long as the lane.
    var uncountedHold: Unmanaged<LaneThread>? {
        guard let thread = uncountedOwner,
            thread._withUnsafeGuaranteedRef({ $0.isCurrent && owns($0) })
        else { return nil }
        return thread
    }

    /// The calling thread as the lane's owner, or nil where another thread owns the lane.
    ///
    /// Not conclusive: a thread that loses the lane at this very moment still receives itself as the owner.
    /// The next move of its word fails.
    @usableFromInline
    var hold: LaneThread? { uncountedHold?.takeUnretainedValue() }

    /// The word of the calling thread, or nil where another thread owns the lane.
    ///
    /// The same test as ``hold``. Valid until the thread leaves the lane's code.
    var wordInHand: Unmanaged<OwnershipWord>? {
        uncountedHold?._withUnsafeGuaranteedRef { Unmanaged.passUnretained($0.word) }
    }

    /// The word of the thread that owns the lane; all zeros once the lane has ended.
    var ownership: Ownership {
        uncountedOwner?._withUnsafeGuaranteedRef(\.ownership) ?? Ownership(bits: 0)
    }

    /// Returns whether the lane was not taken from `thread`, which owned it or still does.
    ///
    /// By that thread itself.
    func owns(_ thread: LaneThread) -> Bool { !thread.word.isTaken }

    /// Runs host code, from inside a module's call, that accesses the state of the lane.
    ///
    /// - Returns: nil where the lane was lost: `body` has not run.
    func asHost<Result>(on thread: LaneThread, _ body: () -> Result) -> Result? {
        let (word, current) = (thread.word, thread.ownership)
        guard current.slot != 0 else { return body() }
        // Should the body enter another module, this one stands below it.
        thread.remember(current)
        guard word.move(to: current.inHost) else { return nil }
        let result = body()
        // Objects that end in the body may call modules, and the lane may be lost in one of them; otherwise
        // it is not taken meanwhile.
        _ = word.move(to: thread.ownership.resumed(by: current.slot))
        return result
    }

    /// Runs host code that accesses the state of the lane: at once on the lane, else when the lane serves the
    /// thread.
    ///
    /// - Returns: nil where the lane was closed first.
    func asHost<Result>(_ body: () -> Result) -> Result? {
        if let thread = hold, let result = asHost(on: thread, body) { return result }
        return serve { _ in body() }
    }
}
