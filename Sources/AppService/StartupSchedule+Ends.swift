// How tasks end: successfully, with an error, late, or not at all.
extension StartupSchedule {
    /// Ends what has run on the lane of a worker, and returns its next step.
    mutating func step(
        of worker: StartupWorker, after ended: StartupQueue.Ended?, now: Nanoseconds,
        _ effects: inout [Effect]
    ) -> Step {
        let lane = worker.lane
        switch ended {
        case .work(let result)?:
            guard let task = workEnded(on: lane, now: now, &effects) else { break }
            switch result {
            case .ended(let ending): end(task, ending, now: now, &effects)
            case .handBack(let body):
                graph.nodes[Int(task)].phase = .handingBack
                handingBack.insert(task)
                lanes[lane].task = task
                return .handBack(task: task, numbering: numbering, body)
            }
        case .handBack?:
            if !lanes[lane].isLost { lanes[lane].task = StartupGraph.none }
        case nil: break
        }
        return next(for: worker, now: now, &effects)
    }

    /// Handles the end of the work of the task that a lane has begun.
    ///
    /// - Returns: The task; nil where it was overdue, so that its result is dropped.
    private mutating func workEnded(
        on lane: Int, now: Nanoseconds, _ effects: inout [Effect]
    ) -> Int32? {
        let task = lanes[lane].task
        if lanes[lane].isLost {
            endLate(task, now: now, &effects)
            return nil
        }
        pace.note(now - graph.nodes[Int(task)].started)
        lanes[lane].end(isBrief: pace.isBrief)
        if !handles.isEmpty { handles[task] = nil }
        return task
    }

    /// Handles the receipt of a task; only the first counts.
    mutating func handedBack(
        _ task: Int32, _ ending: StartupEnding, now: Nanoseconds,
        _ effects: inout [Effect]
    ) {
        guard handingBack.remove(task) != nil else {
            // Handed back after the deadline, though not twice.
            if case .overdue(nil) = failures[task] {
                overdueReceipts -= 1
                endLate(task, now: now, &effects)
            }
            return
        }
        end(task, ending, now: now, &effects)
    }

    /// Ends a task that has run.
    private mutating func end(
        _ task: Int32, _ ending: StartupEnding, now: Nanoseconds,
        _ effects: inout [Effect]
    ) {
        switch ending {
        case .succeeded: succeed(task, now: now, &effects)
        case .failed(let error): fail(task, .failed, .failed(error), now: now, &effects)
        }
    }

    /// Ends a task, and lets those that run after it begin.
    private mutating func succeed(_ task: Int32, now: Nanoseconds, _ effects: inout [Effect]) {
        graph.nodes[Int(task)].end(.succeeded, now)
        var edge = graph.nodes[Int(task)].firstOut
        while edge >= 0 {
            let (next, target) = (graph.edges[Int(edge)].next, graph.edges[Int(edge)].to)
            edge = next
            if graph.nodes[Int(target)].countDown(after: task) { place(target, now: now) }
        }
        close(task, &effects)
    }

    /// Notes that an overdue task has ended after all.
    private mutating func endLate(
        _ task: Int32, now: Nanoseconds, _ effects: inout [Effect]
    ) {
        // The clock may have been read before another thread found that the task was overdue.
        let now = max(now, graph.nodes[Int(task)].ended)
        failures[task] = .overdue(late: now)
        guard reportsEvents else { return }
        effects.append(
            .report(
                .endedLate(
                    task: graph.tasks[Int(task)].name,
                    after: .nanoseconds(now - graph.nodes[Int(task)].started))))
    }

    mutating func fail(
        _ task: Int32, _ phase: StartupGraph.Phase, _ cause: Failure,
        now: Nanoseconds, _ effects: inout [Effect]
    ) {
        graph.nodes[Int(task)].end(phase, now)
        failures[task] = cause
        close(task, &effects)
        skip(after: task, now: now, &effects)
    }

    /// Skips the tasks that wait for `task`, which has not succeeded, and those that wait for them, and so
    /// on.
    ///
    /// With `only`, skips that task alone and the tasks that wait for it.
    mutating func skip(
        after task: Int32, only: Int32? = nil, now: Nanoseconds,
        _ effects: inout [Effect]
    ) {
        let root = if case .skipped(_, let root) = failures[task] { root } else { task }
        var work: [(task: Int32, after: Int32)] = []
        if let only { work = [(only, task)] } else { work = waiting(for: task) }
        while let (skipped, after) = work.popLast() {
            guard graph.nodes[Int(skipped)].phase == .waiting else { continue }
            graph.nodes[Int(skipped)].end(.skipped, now)
            failures[skipped] = .skipped(after: after, root: root)
            effects.append(.release(graph.takeWork(skipped)))
            close(skipped, &effects)
            work += waiting(for: skipped)
        }
    }

    /// Returns the tasks that run right after `task`, the earliest registered one last.
    private func waiting(for task: Int32) -> [(task: Int32, after: Int32)] {
        var result: [(task: Int32, after: Int32)] = []
        graph.forEachAfter(task) { result.append(($0, task)) }
        return result
    }

    /// Reports the end of a task, with any outcome, and counts it off.
    private mutating func close(_ task: Int32, _ effects: inout [Effect]) {
        let node = graph.nodes[Int(task)]
        if reportsEvents || (node.phase != .succeeded && graph.tasks[Int(task)].required) {
            report(task, &effects)
        }
        let level = Int(node.priority.rawValue)
        open[level] -= 1
        if open[level] == 0 { mayBeDone = true }
    }

    private func report(_ task: Int32, _ effects: inout [Effect]) {
        guard let outcome = outcome(of: task) else { return }
        let node = graph.nodes[Int(task)]
        let task = graph.tasks[Int(task)]
        if reportsEvents {
            let duration = node.worker > 0 ? node.ended - node.started : 0
            effects.append(.report(.ended(task: task.name, outcome, after: .nanoseconds(duration))))
        }
        if task.required, outcome != .succeeded, outcome != .skipped(.stopped) {
            effects.append(.requiredFailure(task, outcome))
        }
    }

    /// Returns the outcome of a task; nil before its end.
    func outcome(of task: Int32) -> StartupOutcome? {
        switch failures[task] {
        case nil: graph.nodes[Int(task)].phase == .succeeded ? .succeeded : nil
        case .failed(let error): .failed(error)
        case .overdue: .overdue(.nanoseconds(deadline(of: task) ?? 0))
        case .stopped: .skipped(.stopped)
        case .skipped(let after, let root):
            .skipped(
                .dependency(
                    graph.tasks[Int(after)].name, root: graph.tasks[Int(root)].name,
                    cause: outcome(of: root)?.asCause ?? ""))
        }
    }

    // MARK: Stopping

    /// Skips every task that has not begun, and cancels those that can be cancelled.
    mutating func stop(now: Nanoseconds, _ effects: inout [Effect]) {
        guard !isStopped else { return }
        isStopped = true
        isClosed = true
        if start == nil {
            start = now
            for node in graph.nodes { open[Int(node.priority.rawValue)] += 1 }
        }
        admitted = .low
        ready.removeAll()
        for task in Int32(0)..<Int32(graph.tasks.count)
        where graph.nodes[Int(task)].phase.isOpen {
            graph.nodes[Int(task)].end(.skipped, now)
            failures[task] = .stopped
            effects.append(.release(graph.takeWork(task)))
            close(task, &effects)
        }
        for handle in handles.values { effects.append(.cancel(handle)) }
        mayBeDone = true
    }

    /// Keeps the handle of asynchronous work that has begun, or cancels it where the work is past that.
    mutating func began(
        on lane: Int, _ handle: Task<Void, Never>, _ effects: inout [Effect]
    ) {
        let task = lanes[lane].task
        switch graph.nodes[Int(task)].phase {
        case .running where !isStopped: handles[task] = handle
        case .running, .overdue: effects.append(.cancel(handle))
        // The work ended before its starter returned.
        case .handingBack, .succeeded, .failed: break
        case .waiting, .ready, .skipped: assertionFailure("work that runs has begun")
        }
    }
}
