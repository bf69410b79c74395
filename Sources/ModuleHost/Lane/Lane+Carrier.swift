import AppService
import Synchronization

/// A loop of the host whose thread may run a job that it has listed itself, where the lane has nothing else to
/// do: then no other thread has to be woken for the job, nor for its result.
///
/// Such a thread is a *carrier* of the lane while it runs the job.
protocol LaneCarrier: AnyObject, Sendable {
    /// Whether the calling thread runs the loop, and calls ``Lane/carryLoneJob(by:)`` before it waits again.
    var isCurrent: Bool { get }

    /// Called before the calling thread carries the lane. Under the lane's lock.
    ///
    /// - Returns: False where no other thread could run the loop meanwhile: the lane's own thread runs the job.
    func beginCarrying() -> Bool

    /// Sees to it that another thread runs the loop, where the job takes long.
    ///
    /// By the carrier, before it runs the job.
    func watchJob()

    /// Has the other thread run the loop from now on, if a job is being carried.
    ///
    /// From any thread, before the lane is taken from the carrier.
    func passOn()

    /// Called when the carrier is back from the job, whether or not it has lost the lane.
    func endCarrying()
}

extension Lane {
    /// Allows the thread of a loop to carry the lane.
    func add(_ carrier: any LaneCarrier) { state.withLock { $0.carriers.append(carrier) } }

    /// Ends that, before the loop ends.
    func remove(_ carrier: any LaneCarrier) {
        state.withLock { state in state.carriers.removeAll { $0 === carrier } }
    }

    /// The outcome for a job that the thread of a loop has listed.
    private enum LoneJob {
        /// There is none, or the lane's thread is awake.
        case none
        /// It is not alone, or cannot be carried.
        case left(to: LaneThread)
        case carried(any LaneJob, on: LaneThread)
    }

    /// Runs the job that the calling thread has listed in its turn on this thread, if it is the only one, and else
    /// wakes the lane's thread for it.
    ///
    /// Called by a thread of the loop at the end of each turn, without a lock. Until then the lane's thread is
    /// not woken for that job. Where a module keeps the thread until the lane is taken over, this returns when
    /// the module has returned and caught up.
    ///
    /// - Returns: Whether it has run a job.
    func carryLoneJob(by carrier: any LaneCarrier) -> Bool {
        let lone = state.withLock { state in beginCarrying(&state, carrier) }
        switch lone {
        case .none: return false
        case .left(let thread):
            rouse(thread)
            return false
        case .carried(let job, let thread):
            carrier.watchJob()
            watchdog.arm(for: self)
            job.run(on: thread, after: 0)
            carrier.endCarrying()
            endCarrying(on: thread)
            return true
        }
    }

    private func beginCarrying(_ state: inout State, _ carrier: any LaneCarrier) -> LoneJob {
        guard state.isAsleep, !state.jobs.isEmpty else { return .none }
        state.isAsleep = false
        guard state.jobs.count == 1, state.idleJobs.isEmpty, !state.isClosed,
            carrier.beginCarrying(), let job = state.jobs.popFirst()
        else { return .left(to: state.thread) }
        let resident = state.thread
        let thread = state.nextThread(mine: resident.mine, box)
        thread.identity.store(NativeThread.current, ordering: .relaxed)
        state.carried = (by: carrier, from: resident)
        state.thread = thread
        state.current = job
        // Before a module is entered, all of it.
        box?.setStack(thread.stack)
        setOwner(thread)
        return .carried(job, on: thread)
    }

    /// Gives the lane back to its own thread, and wakes that if there is anything to do.
    private func endCarrying(on thread: LaneThread) {
        guard owns(thread) else { return catchUp(on: thread) }
        // A job may contain the last reference to a module: it is released outside the lock, while the lane is
        // this thread's.
        _ = state.withLock { $0.current.take() }
        let wake = state.withLock { state -> LaneThread? in
            guard let resident = state.carried?.from else { return nil }
            resident.mine = thread.mine
            state.carried = nil
            state.thread = resident
            box?.setStack(resident.stack)
            setOwner(resident)
            thread.end()
            state.spareThreads.append(thread)
            state.isAsleep = state.jobs.isEmpty && state.idleJobs.isEmpty && !state.isClosed
            return state.isAsleep ? nil : resident
        }
        rouse(wake)
    }
}
