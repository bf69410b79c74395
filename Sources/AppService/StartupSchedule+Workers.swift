// The assignment of tasks to workers, and the choice of workers to wake.
extension StartupSchedule {
    /// Returns the next step of a worker that has nothing to do.
    mutating func next(
        for worker: StartupWorker, now: Nanoseconds, _ effects: inout [Effect]
    ) -> Step {
        let lane = worker.lane
        if lanes[lane].isLost { return .rest }
        if lanes[lane].isComing {
            lanes[lane].isComing = false
            coming -= 1
        }
        while let task = ready.pop() {
            // Begun or skipped already: it was pushed again under a better key, or is stale.
            guard graph.nodes[Int(task)].phase == .ready else { continue }
            begin(task, on: lane, now: now, &effects)
            return .run(task, graph.takeWork(task))
        }
        busy -= 1
        idleLanes.append(lane)
        return .rest
    }

    private mutating func begin(
        _ task: Int32, on lane: Int, now: Nanoseconds, _ effects: inout [Effect]
    ) {
        graph.nodes[Int(task)].phase = .running
        lanes[lane].task = task
        times[Int(task)].begin(now, on: lane)
        if let deadline = deadline(of: task) { arm(after: deadline, now: now, &effects) }
        if reportsEvents {
            effects.append(.report(.started(task: graph.tasks[Int(task)].name, worker: lane + 1)))
        }
    }

    /// Wakes as many idle lanes as there is ready work for, creating them where the width allows more.
    mutating func wakeLanes(_ effects: inout [Effect]) {
        while coming < ready.count, busy < width {
            let lane = idleLanes.popLast() ?? lanes.count
            if lane == lanes.count { lanes.append(Lane(worker: StartupWorker(lane: lane))) }
            lanes[lane].isComing = true
            busy += 1
            coming += 1
            effects.append(.wake(lanes[lane].worker))
        }
    }
}
