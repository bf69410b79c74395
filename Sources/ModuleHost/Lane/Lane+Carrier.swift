import AppService
import Synchronization

/// A loop of the host whose thread may run a job that it has listed itself, where the lane has nothing else to
/// do: then no other thread has to be woken for the job, nor for its result.
///
/// Such a thread is a *carrier* of the lane while it runs the job.
protocol LaneCarrier: AnyObject, Sendable {
    /// Whether the calling thread runs the loop, and calls ``Lane/carryLoneJob(by:if:)`` at the end of each turn.
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

    /// Called when the carrier has given the lane back, or has lost it.
    func endCarrying()
}

extension Lane {
    /// The number of jobs that are carried one after the other: the one that was listed, and one that continues it, as
    /// the call does that a URL leads to.
    private static let carriedAtOnce = 2

    /// Allows the thread of a loop to carry the lane.
    func add(_ carrier: any LaneCarrier) { state.withLock { $0.carriers.append(carrier) } }

    /// Ends that, after the last turn of the loop.
    func remove(_ carrier: any LaneCarrier) {
        let wake = state.withLock { state in
            state.carriers.removeAll { $0 === carrier }
            // The last turn may have listed a job that is not carried.
            return state.jobs.isEmpty ? nil : state.wakeUp()
        }
        rouse(wake)
    }

    /// Runs the job that is listed on the calling thread, if it is the only one, and else wakes the lane's thread for
    /// it.
    ///
    /// Called by a thread of the loop at the end of each turn, without a lock. Until then the lane's thread is
    /// not woken for a job that the turn lists alone. Where a module keeps the thread until the lane is taken over,
    /// this returns when the module has returned and caught up.
    ///
    /// - Parameters:
    ///   - carrier: The loop.
    ///   - mayCarry: Whether the thread may run the job.
    /// - Returns: Whether it has run a job.
    func carryLoneJob(by carrier: any LaneCarrier, if mayCarry: Bool) -> Bool {
        guard let thread = beginCarrying(carrier, if: mayCarry) else { return false }
        carrier.watchJob()
        var count = 0
        repeat {
            watchdog.arm(for: self)
            runCarriedJob(on: thread)
            count += 1
        } while owns(thread) && count < Self.carriedAtOnce && takesNextJob()
        let isLost = !owns(thread)
        if !isLost { giveBack(thread) }
        // Last: until here the loop may pass to its other thread.
        carrier.endCarrying()
        if isLost { catchUp(on: thread) }
        return true
    }

    /// Makes the calling thread the lane, with the lone job as the current one.
    ///
    /// - Returns: The thread; nil where there is no lone job, or the lane's thread runs it.
    private func beginCarrying(_ carrier: any LaneCarrier, if mayCarry: Bool) -> LaneThread? {
        let (thread, wake) = state.withLock { state -> (LaneThread?, LaneThread?) in
            guard state.isAsleep, !state.jobs.isEmpty else { return (nil, nil) }
            state.isAsleep = false
            let resident = state.thread
            guard mayCarry, state.hasLoneJob, carrier.beginCarrying() else {
                return (nil, resident)
            }
            let thread = state.nextThread(at: resident.ownership, box)
            thread.identity.store(NativeThread.current, ordering: .relaxed)
            state.carried = (by: carrier, from: resident)
            state.thread = thread
            state.current = state.jobs.popFirst()
            // Before a module is entered, all of it.
            box?.setStack(thread.stack)
            setOwner(thread)
            return (thread, nil)
        }
        rouse(wake)
        return thread
    }

    /// Runs the current job, and releases it where the lane is not lost.
    ///
    /// A job may contain the last reference to a module: it is released outside the lock, while the lane is this
    /// thread's.
    private func runCarriedJob(on thread: LaneThread) {
        state.withLock { $0.current }?.run(on: thread, after: 0)
        guard owns(thread) else { return }
        _ = state.withLock { $0.current.take() }
    }

    /// Makes the lone job the current one.
    private func takesNextJob() -> Bool {
        state.withLock { state in
            guard state.hasLoneJob else { return false }
            state.current = state.jobs.popFirst()
            return true
        }
    }

    /// Gives the lane back to its own thread, and wakes that if there is anything to do.
    private func giveBack(_ thread: LaneThread) {
        let wake = state.withLock { state -> LaneThread? in
            guard let resident = state.carried.take()?.from else { return nil }
            resident.word.begin(thread.ownership)
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

extension Lane.State {
    /// Whether there is one job, and nothing else to do.
    fileprivate var hasLoneJob: Bool { jobs.count == 1 && idleJobs.isEmpty && !isClosed }
}
