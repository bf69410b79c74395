internal import Dispatch

/// A place to run tasks of one priority, one at a time: a serial Dispatch queue, which is also the
/// executor of the asynchronous ones.
///
/// A queue of its own rather than a global or concurrent one: any use of those, and of the default
/// executor of Swift tasks, leaves the process with about one wake-up a second for ever.
final class StartupWorker: TaskExecutor {
    /// The place in the width that it stands for; see ``StartupSchedule/Lane``.
    let lane: Int
    let priority: StartupPriority
    private let queue: DispatchQueue

    init(lane: Int, priority: StartupPriority) {
        self.lane = lane
        self.priority = priority
        queue = DispatchQueue(
            label: "appservice.startup.\(lane + 1).\(priority)", qos: priority.quality)
    }

    func run(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
