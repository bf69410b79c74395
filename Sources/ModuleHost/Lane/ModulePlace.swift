import AppService

/// The isolation of a module's asynchronous code: an actor whose executor enters the module.
actor ModulePlace {
    private nonisolated let executor: ModuleExecutor
    private nonisolated let pending = Guarded(Pending())
    /// The source of time, for deadlines of the code.
    nonisolated let time: any TimeSource

    private struct Pending {
        var work: [ObjectIdentifier: any PendingWork] = [:]
        /// The number of those that count for ``ModuleWork/limit``.
        var offLane = 0
        var isClosed = false
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(gate: Gate, slot: ModuleSlot, workers: WorkerPool, time: any TimeSource) {
        self.time = time
        executor = ModuleExecutor(gate: gate, slot: slot, workers: workers)
    }

    /// Begins asynchronous code of the module.
    ///
    /// In the module: the code up to its first suspension has run when this returns.
    ///
    /// - Parameters:
    ///   - body: Code of the module. It is isolated by a parameter: for a closure that is
    ///     `nonisolated(nonsending)`, Swift 6.3 forgets the isolation where it has a capture list.
    ///   - onCreate: Receives its task, before it begins.
    nonisolated func begin(
        _ body: @escaping @Sendable (isolated any Actor) async -> Void,
        onCreate: (Task<Void, Never>) -> Void
    ) {
        // What it begins lasts longer than the event of the one that begins it.
        let (task, first) = TraceContext.with(executor.gate.lane.currentTrace) {
            HandledEvent.$current.withValue(nil) {
                assumeIsolated { place in place.executor.firstSlice { place.task(body) } }
            }
        }
        onCreate(task)
        if let first { executor.run(first) }
    }

    /// Creates a task that is isolated to this place.
    ///
    /// It does not begin at once, since the executor says that it is elsewhere: its owner has to know it
    /// before. Of all forms of a task this one alone takes over the isolation of its context, which must be a
    /// method for that, and has an executor for the code that is not isolated.
    private func task(
        _ body: @escaping @Sendable (isolated any Actor) async -> Void
    ) -> Task<Void, Never> {
        Task.immediate(executorPreference: executor.workers) { await body(self) }
    }

    // MARK: Work to cancel when the module is unloaded

    /// Notes work that has begun; cancels it at once where the module is unloaded.
    nonisolated func add(_ work: any PendingWork) {
        let isClosed = pending.withLock { pending in
            if !pending.isClosed { pending.work[ObjectIdentifier(work)] = work }
            return pending.isClosed
        }
        if isClosed { work.moduleUnloaded() }
    }

    /// Counts one more piece of work off the lane.
    ///
    /// - Returns: False where there are as many as a module may have.
    nonisolated func countWork(limit: Int) -> Bool {
        pending.withLock { pending in
            guard pending.offLane < limit else { return false }
            pending.offLane += 1
            return true
        }
    }

    /// Counts one piece of work off the lane less.
    nonisolated func uncountWork() { pending.withLock { $0.offLane -= 1 } }

    /// Notes that work has ended.
    ///
    /// - Returns: False where that was noted before, or the module is unloaded.
    @discardableResult
    nonisolated func remove(_ work: any PendingWork) -> Bool {
        pending.withLock { $0.work.removeValue(forKey: ObjectIdentifier(work)) != nil }
    }

    /// Cancels all work: the module is unloaded.
    nonisolated func close() {
        let work = pending.withLock { pending in
            defer { (pending.work, pending.isClosed) = ([:], true) }
            return pending.work
        }
        for each in work.values { each.moduleUnloaded() }
    }

    /// The number of pieces of work that have not ended.
    nonisolated var pendingCount: Int { pending.withLock { $0.work.count } }
}

/// Work of a module that goes on after the module has returned.
protocol PendingWork: AnyObject, Sendable {
    /// Cancels the work.
    func moduleUnloaded()
}
