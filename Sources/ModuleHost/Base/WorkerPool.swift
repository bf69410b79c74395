import AppService
import Dispatch

/// Threads for the code of modules that is not on the lane.
///
/// They run asynchronous code, and work that modules begin off the lane. A limited number of serial Dispatch
/// queues take jobs from one list, in which modules take turns.
///
/// Queues of its own rather than the executor of Swift tasks: any use of that leaves the process with about
/// one wake-up a second for ever.
final class WorkerPool: TaskExecutor {
    fileprivate enum Job {
        case slice(UnownedJob)
        case work(@Sendable () -> Void)
    }

    fileprivate struct State {
        var jobs = TurnQueue<Job>()
        /// The number of jobs that run at a time.
        var width: Int
        /// The number of queues, created when they are first needed.
        var queues = 0
        var idle: [DispatchQueue] = []
    }

    private let state: Guarded<State>

    /// - Parameter width: The number of jobs that run at a time.
    init(width: Int) { state = Guarded(State(width: max(1, width))) }

    /// All asynchronous code takes turns as one owner: its slices are short.
    func enqueue(_ job: consuming ExecutorJob) { add(.slice(UnownedJob(job)), of: nil) }

    /// Runs work on one of the threads, after the work of the same owner that was added before.
    ///
    /// - Parameter owner: The owner, which takes turns with others; it is not kept.
    func run(for owner: AnyObject? = nil, _ work: @escaping @Sendable () -> Void) {
        add(.work(work), of: owner.map(ObjectIdentifier.init))
    }

    /// Gives the place of a thread whose work does not return to another thread.
    func replaceStuckThread() {
        let queue = state.withLock { state -> DispatchQueue? in
            state.width += 1
            return state.jobs.isEmpty ? nil : state.queue()
        }
        start(queue)
    }

    /// Notes that the work of a thread whose place was given away has returned.
    func stuckThreadReturned() { state.withLock { $0.width -= 1 } }

    private func add(_ job: Job, of owner: ObjectIdentifier?) {
        let queue = state.withLock { state -> DispatchQueue? in
            state.jobs.append(job, of: owner)
            return state.queue()
        }
        start(queue)
    }

    private func start(_ queue: DispatchQueue?) { queue?.async { self.work(queue) } }

    private func work(_ queue: DispatchQueue?) {
        while let job = next(queue) {
            switch job {
            case .slice(let slice): slice.runSynchronously(on: asUnownedTaskExecutor())
            case .work(let work): work()
            }
        }
    }

    /// Takes the next job; where there is none, or one queue too many, the queue rests or ends.
    private func next(_ queue: DispatchQueue?) -> Job? {
        state.withLock { state in
            if state.queues > state.width {
                state.queues -= 1
                return nil
            }
            let job = state.jobs.popFirst()
            if job == nil, let queue { state.idle.append(queue) }
            return job
        }
    }
}

extension WorkerPool.State {
    /// Returns a queue that can take a job; nil where as many as may be are at work.
    fileprivate mutating func queue() -> DispatchQueue? {
        if let idle = idle.popLast() { return idle }
        guard queues < width else { return nil }
        queues += 1
        return DispatchQueue(label: "modulehost.worker.\(queues)")
    }
}
