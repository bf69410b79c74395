import AppService
import Dispatch

/// Threads for the asynchronous code of modules that is not on the lane: a limited number of serial Dispatch
/// queues, which take jobs from one list.
///
/// Queues of its own rather than the executor of Swift tasks: any use of that leaves the process with about
/// one wake-up a second for ever.
final class WorkerPool: TaskExecutor {
    private struct State {
        var jobs = Deque<UnownedJob>()
        /// Created when they are first needed.
        var queues: [DispatchQueue] = []
        var idle: [DispatchQueue] = []
    }

    private let width: Int
    private let state = Guarded(State())

    /// - Parameter width: The number of jobs that run at a time.
    init(width: Int) { self.width = max(1, width) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let idle = state.withLock { state -> DispatchQueue? in
            state.jobs.append(job)
            if let idle = state.idle.popLast() { return idle }
            guard state.queues.count < width else { return nil }
            let queue = DispatchQueue(label: "modulehost.worker.\(state.queues.count + 1)")
            state.queues.append(queue)
            return queue
        }
        idle?.async { self.work(idle) }
    }

    private func work(_ queue: DispatchQueue?) {
        while let job = next(queue) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Takes the next job; where there is none, the queue is idle.
    private func next(_ queue: DispatchQueue?) -> UnownedJob? {
        state.withLock { state in
            let job = state.jobs.popFirst()
            if job == nil, let queue { state.idle.append(queue) }
            return job
        }
    }
}
