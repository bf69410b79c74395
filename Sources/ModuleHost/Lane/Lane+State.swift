extension Lane {
    /// The state that changes under the lane's one lock.
    struct State {
        var jobs = Deque<any LaneJob>()
        var idleJobs = Deque<any LaneJob>()
        var current: (any LaneJob)?
        /// The thread that owns the lane.
        var thread: LaneThread
        /// All threads that ever owned the lane, since other threads read the owner without counting a
        /// reference.
        private(set) var threads: [LaneThread]
        /// The objects of threads that have ended, for the next ones: as many as modules were overdue at a
        /// time.
        var spareThreads: [LaneThread] = []
        var isAsleep = false
        var isClosed = false
        /// Whether the lane was closed and its last thread has ended.
        var hasEnded = false
        /// Work for the time after that.
        var afterEnd: [@Sendable () -> Void] = []
        var slots: [UInt16: ModuleSlot] = [:]
        var mailboxes: Mailboxes
        var stalled = StalledThreads()
        /// Slots that the lane has unregistered, as long as they are referenced elsewhere: code that runs
        /// with the last reference to such a module would be attributed to the next one with its number.
        var retired: [Retired] = []
        /// A number below which none is free, so that the search for one does not begin anew each time.
        var firstVacant: UInt16 = 1
        /// The last delivery that took too long while no thread could be started to go on.
        var unreplaced: UInt32?
        /// The job that the lane's next thread continues, after a takeover.
        var resumption: Resumption?

        init(_ thread: LaneThread, _ mailboxes: Mailboxes) {
            (self.thread, threads, self.mailboxes) = (thread, [thread], mailboxes)
        }
    }

    /// The slot of an unloaded module.
    struct Retired {
        weak var slot: ModuleSlot?
        let number: UInt16
    }

    /// A job in which a thread was stuck.
    struct Resumption {
        /// The slot after which it continues.
        let slot: UInt16
        let report: TakeoverReport
    }

    /// The next step of the lane's thread.
    enum Step {
        case run(any LaneJob)
        case resume(Resumption)
        case sleep, end
    }
}

extension Lane.State {
    /// Frees the numbers of slots that are not referenced any more.
    mutating func dropReleased() {
        var first = firstVacant
        retired.removeAll { retired in
            guard retired.slot == nil else { return false }
            first = min(first, retired.number)
            return true
        }
        firstVacant = first
    }

    /// Returns the unloaded module whose slot still has a number; nil if no such slot is referenced.
    func unloadedModule(_ number: UInt16) -> ModuleID? {
        retired.first { $0.number == number }?.slot?.id
    }

    /// Takes the next job.
    ///
    /// - Returns: What to do, and the job that is done.
    mutating func nextStep() -> (Lane.Step, done: (any LaneJob)?) {
        if let resumption = resumption.take() { return (.resume(resumption), nil) }
        let done = current.take()
        if let job = jobs.popFirst() ?? (isClosed ? nil : idleJobs.popFirst()) {
            current = job
            return (.run(job), done)
        }
        if isClosed { return (.end, done) }
        isAsleep = true
        return (.sleep, done)
    }

    /// Returns the thread to wake, if the lane's thread sleeps.
    mutating func wakeUp() -> LaneThread? {
        guard isAsleep else { return nil }
        isAsleep = false
        return thread
    }

    /// Returns the object for the next thread, with a stack in the black box if there is room.
    mutating func nextThread(at first: Ownership, _ box: BlackBox?) -> LaneThread {
        let spare =
            spareThreads.firstIndex { $0.stack != nil } ?? spareThreads.indices.first
        if let spare {
            let thread = spareThreads.remove(at: spare)
            thread.begin(at: first)
            return thread
        }
        let thread = LaneThread(at: first, stack: box?.makeStack())
        threads.append(thread)
        return thread
    }
}
