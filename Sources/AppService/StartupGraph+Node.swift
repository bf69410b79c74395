// What changes of a task, until it has ended.
extension StartupGraph {
    /// The phase of a task between registration and its end.
    enum Phase: UInt8 {
        /// Waits for tasks it runs after, or for its priority to be admitted. Moves to `ready`, `skipped`.
        case waiting
        /// Waits for a place in the width. Moves to `running` or `skipped`.
        case ready
        /// Runs. Moves to `handingBack`, `succeeded`, `failed` or `overdue`.
        case running
        /// The work has ended, and its result is being handed back. Moves to `succeeded`, `failed`,
        /// `overdue`.
        case handingBack
        case succeeded
        case failed
        case overdue
        case skipped

        /// Whether the task has yet to begin.
        var isOpen: Bool { self == .waiting || self == .ready }
    }

    /// The state of a task: one value rather than an array for each part, since most transitions change several
    /// of them.
    struct Node {
        /// The number of tasks it runs after that have yet to succeed.
        var pending: Int32 = 0
        /// The length of the longest chain of tasks that waits for this one, itself included.
        var chain: Int32 = 1
        /// The first edge in, and the head of the list of edges out.
        var firstIn: Int32 = 0
        var firstOut = StartupGraph.none
        /// The dependency that ended last.
        var releasedBy = StartupGraph.none
        /// The number of its lane plus one; zero for a task that never began.
        var worker: Int32 = 0
        /// The place in the order of the tasks of the first admission.
        ///
        /// `none` where the task came later or has been raised since; see ``ReadyTasks``.
        var rank = StartupGraph.none
        var phase = Phase.waiting
        /// The declared priority, or the highest of the tasks that wait for this one.
        var priority: StartupPriority
        var wasReady = false
        /// Whether its scope is closed: the queue may forget the task when all have ended.
        var isClosed = false

        // The phase and the worker decide which of these are valid.

        /// The time of the registration; zero before the start.
        var registered: StartupSchedule.Nanoseconds = 0
        var ready: StartupSchedule.Nanoseconds = 0
        var started: StartupSchedule.Nanoseconds = 0
        var ended: StartupSchedule.Nanoseconds = 0

        mutating func connect(firstIn: Int32, pending: Int32) {
            self.firstIn = firstIn
            self.pending = pending
        }

        /// Raises a task that `waiting` waits for, unless it has begun.
        ///
        /// - Returns: Whether its place in the order rose.
        mutating func raise(for waiting: Node) -> Bool {
            let priority = max(priority, waiting.priority)
            let chain = max(chain, waiting.chain + 1)
            guard phase.isOpen, (self.priority, self.chain) != (priority, chain) else {
                return false
            }
            (self.priority, self.chain) = (priority, chain)
            return true
        }

        /// Counts off `dependency`, which has succeeded.
        ///
        /// - Returns: Whether the task waits for no other any more, and has yet to begin.
        mutating func countDown(after dependency: Int32) -> Bool {
            pending -= 1
            guard pending == 0, phase == .waiting else { return false }
            releasedBy = dependency
            return true
        }

        mutating func becomeReady(_ now: StartupSchedule.Nanoseconds) {
            phase = .ready
            ready = now
            wasReady = true
        }

        mutating func begin(_ now: StartupSchedule.Nanoseconds, on lane: Int) {
            phase = .running
            // The clock may have been read before another thread made the task ready.
            started = max(now, ready)
            worker = Int32(lane + 1)
        }

        mutating func end(_ phase: Phase, _ now: StartupSchedule.Nanoseconds) {
            self.phase = phase
            ended = now
        }
    }
}
