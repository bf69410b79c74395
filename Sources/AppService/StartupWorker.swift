internal import Dispatch

/// A place to run tasks, one at a time: a serial Dispatch queue, which is also the executor of the
/// asynchronous ones.
///
/// A queue of its own rather than a global or concurrent one: any use of those, and of the default executor
/// of Swift tasks, leaves the process with about one wake-up a second for ever. It has no quality of service:
/// for one above the default, Dispatch on Linux asks for a nice value below 0, and writes a line to standard
/// error on each thread of a process that may not have one.
final class StartupWorker: TaskExecutor {
    /// The place in the width that the worker stands for; see ``StartupSchedule/Lane``.
    let lane: Int
    private let queue: DispatchQueue

    init(lane: Int) {
        self.lane = lane
        queue = DispatchQueue(label: "appservice.startup.\(lane + 1)")
    }

    func run(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Releases work that will not run, one piece after the other, on a thread of its own.
    ///
    /// The `deinit` of a captured object may take long, so no worker, alarm or caller waits for it. Where another owner
    /// has a reference to the work, such as a caller that keeps its tasks, the last owner releases it.
    static func release(_ work: consuming [StartupWork]) {
        // The array is emptied on the queue; otherwise this thread might release the closure, and the work with it.
        let work = Guarded(work)
        DispatchQueue(label: "appservice.startup.release").async { work.withLock { $0 = [] } }
    }
}
