// The assignment of tasks to workers, and the choice of workers to wake.
//
// Where tasks take less time than it takes to wake a thread, a second worker only contends for the lock. So at
// first one lane is woken to look after the one that runs. If a task has ended before it came, it watches: it
// sleeps, and looks again. It takes part, and other lanes are woken, when no task has ended in between.
extension StartupSchedule {
    /// The time a watching lane sleeps: the longest that a ready task waits behind one that turns out to be
    /// long.
    static let watchTime: Nanoseconds = 100_000
    /// Tasks that take less time are brief: about as long as waking a thread takes.
    static let briefTime: Nanoseconds = 20_000

    /// The pace at which tasks end.
    struct Pace {
        /// Whether the last task that ended was brief, and no lane has found the others stuck since.
        var isBrief = true
        var briefEnds = 0
        /// The lane that sleeps and watches the others.
        var watcher: Int?

        /// Notes how long a task has taken that ends.
        mutating func note(_ time: Nanoseconds) {
            isBrief = time < StartupSchedule.briefTime
            if isBrief { briefEnds += 1 }
        }
    }

    /// Returns the next step of a worker that has nothing to do.
    mutating func next(
        for worker: StartupWorker, now: Nanoseconds, _ effects: inout [Effect]
    ) -> Step {
        let lane = worker.lane
        if lanes[lane].isLost {
            // Its overdue task has ended after all.
            (lanes[lane].isLost, lanes[lane].task) = (false, StartupGraph.none)
            idleLanes.append(lane)
            return .rest
        }
        let (wasComing, othersEnded) = lanes[lane].ask(pace.briefEnds)
        let othersRun = busy - coming > (wasComing ? 0 : 1)
        let othersKeepUp = othersRun && pace.isBrief && othersEnded
        if wasComing {
            coming -= 1
            if pace.watcher == lane { pace.watcher = nil }
            if othersRun, !othersKeepUp { pace.isBrief = false }
        }
        if othersKeepUp {
            if coming == 0, ready.count > 0 {
                lanes[lane].isComing = true
                coming += 1
                pace.watcher = lane
                return .watch
            }
        } else {
            while let task = ready.pop() {
                // Begun or skipped already: it was pushed again under a better key, or is stale.
                guard graph.nodes[Int(task)].phase == .ready else { continue }
                begin(task, on: lane, now: now, &effects)
                return .run(graph.takeWork(task))
            }
        }
        busy -= 1
        idleLanes.append(lane)
        return .rest
    }

    private mutating func begin(
        _ task: Int32, on lane: Int, now: Nanoseconds, _ effects: inout [Effect]
    ) {
        lanes[lane].task = task
        graph.nodes[Int(task)].begin(now, on: lane)
        if let deadline = deadline(of: task) { arm(after: deadline, now: now, &effects) }
        if reportsEvents {
            effects.append(.report(.started(task: graph.tasks[Int(task)].name, worker: lane + 1)))
        }
    }

    /// Wakes idle lanes, creating them where the width allows more: one where tasks are brief, else as many as
    /// there is ready work for.
    mutating func wakeLanes(_ effects: inout [Effect]) {
        if pace.watcher != nil, !pace.isBrief || coming == busy {
            pace.watcher = nil
            effects.append(.ring)
        }
        let wanted = pace.isBrief ? 1 : ready.count
        while coming < wanted, busy < width {
            let lane = idleLanes.popLast() ?? lanes.count
            if lane == lanes.count { lanes.append(Lane(worker: StartupWorker(lane: lane))) }
            lanes[lane].isComing = true
            lanes[lane].seenBriefEnds = pace.briefEnds
            busy += 1
            coming += 1
            effects.append(.wake(lanes[lane].worker))
        }
    }
}
