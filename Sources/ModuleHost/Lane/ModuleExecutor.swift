import Synchronization

/// The serial executor of a module's asynchronous code.
///
/// Each *slice* of that code, from one suspension to the next, is a job of the lane and enters the module
/// through the gate. So it is never beside other code of the module, and has the deadline of an event. While
/// the module is overdue its slices wait for the thread that it keeps. A slice always runs: also after the
/// module was unloaded, and after the lane was closed.
final class ModuleExecutor: SerialExecutor {
    let gate: Gate
    let slot: ModuleSlot
    /// The executor of code that is not isolated to any actor.
    let workers: WorkerPool
    /// The identity of the thread that creates a task, whose first slice it runs itself; else 0.
    private let creator = Atomic<UInt>(0)
    /// That first slice.
    private let firstSlice = Guarded<UnownedJob?>(nil)

    init(gate: Gate, slot: ModuleSlot, workers: WorkerPool) {
        (self.gate, self.slot, self.workers) = (gate, slot, workers)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let slice = UnownedJob(job)
        if creator.load(ordering: .relaxed) == NativeThread.current {
            firstSlice.withLock { $0 = slice }
        } else {
            gate.lane.enqueue(SliceJob(slice, on: self))
        }
    }

    /// Returns whether the calling thread is in the module.
    ///
    /// Asked by the runtime where it does not know: in code of the module that is not asynchronous.
    func isIsolatingCurrentContext() -> Bool? {
        // A new task would begin at once, before its owner knows it.
        guard creator.load(ordering: .relaxed) != NativeThread.current else { return false }
        if let thread = gate.lane.hold { return thread.ownership.slot == slot.number }
        return gate.lane.overdueSlot === slot
    }

    /// Calls `create`, which creates a task of this executor.
    ///
    /// In the module.
    ///
    /// - Returns: The task, and its first slice for ``run(_:)``.
    func firstSlice(
        of create: () -> Task<Void, Never>
    ) -> (Task<Void, Never>, UnownedJob?) {
        creator.store(NativeThread.current, ordering: .relaxed)
        let task = create()
        creator.store(0, ordering: .relaxed)
        let slice = firstSlice.withLock { slice in
            defer { slice = nil }
            return slice
        }
        return (task, slice)
    }

    /// Runs a slice; in the module.
    func run(_ slice: UnownedJob) {
        slice.runSynchronously(
            isolatedTo: asUnownedSerialExecutor(), taskExecutor: workers.asUnownedTaskExecutor())
    }
}

/// A job that runs one slice of a module's asynchronous code.
private final class SliceJob: LaneJob {
    private let slice: UnownedJob
    private let executor: ModuleExecutor

    init(_ slice: UnownedJob, on executor: ModuleExecutor) {
        self.slice = slice
        self.executor = executor
    }

    func run(on thread: LaneThread, after stuck: UInt16) {
        guard stuck == 0 else { return }
        let (gate, slot) = (executor.gate, executor.slot)
        if gate.lane.admit(slot, at: nil) != .go, isDeferred { return }
        _ = gate.call(slot, on: thread) { executor.run(slice) }
    }

    /// The lane was closed: its thread may still be in the module, and an overdue one, too.
    func abandon() {
        if !isDeferred { executor.gate.lane.runAfterEnd { [self] in executor.run(slice) } }
    }

    /// Gives the slice to the thread that the module keeps, if the module is overdue.
    private var isDeferred: Bool {
        let work = DeferredWork { [self] in
            executor.run(slice)
        } abandon: { [self] in
            executor.run(slice)
        }
        return executor.gate.lane.defer(for: executor.slot, work)
    }
}
