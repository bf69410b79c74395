// Overdue tasks, and the one alarm that finds them.
extension StartupSchedule {
    /// One alarm for the whole queue, set for the earliest deadline.
    ///
    /// It is left set when a task ends in time, as most do; it then finds nothing to do, and is set again if
    /// anything runs.
    struct AlarmState {
        /// The instant at which it is due; nil if none is set.
        var due: Nanoseconds?
        /// The number that distinguishes an alarm from one that it replaced.
        var generation = 0
        /// The handle of the alarm; nil until its setter has returned it.
        var handle: (any Alarm)?
    }

    /// Returns the deadline of the task itself, or the queue's.
    ///
    /// A hundred years are the maximum, so that sums do not overflow.
    func deadline(of task: Int32) -> Nanoseconds? {
        guard let deadline = graph.tasks[Int(task)].deadlineNanoseconds ?? deadline else {
            return nil
        }
        return min(deadline, 100 * 366 * 86_400 * 1_000_000_000)
    }

    mutating func arm(
        after delay: Nanoseconds, now: Nanoseconds, _ effects: inout [Effect]
    ) {
        let due = now + delay
        if let earlier = alarm.due, earlier <= due { return }
        if let handle = alarm.handle { effects.append(.disarm(handle)) }
        alarm = AlarmState(due: due, generation: alarm.generation + 1)
        effects.append(.arm(generation: alarm.generation, after: delay))
    }

    mutating func armed(_ handle: any Alarm, generation: Int, _ effects: inout [Effect]) {
        if alarm.due != nil, alarm.generation == generation {
            alarm.handle = handle
        } else {
            effects.append(.disarm(handle))
        }
    }

    /// Cancels the alarm when nothing runs, so that an idle queue wakes no thread.
    mutating func disarm(_ effects: inout [Effect]) {
        if let handle = alarm.handle { effects.append(.disarm(handle)) }
        alarm = AlarmState(generation: alarm.generation)
    }

    /// Handles the alarm: ends overdue tasks, and sets the alarm for those that run on.
    mutating func rang(
        generation: Int, now: Nanoseconds, _ effects: inout [Effect]
    ) {
        guard alarm.due != nil, alarm.generation == generation else { return }
        alarm.due = nil
        alarm.handle = nil
        let onLanes = lanes.filter { !$0.isLost && $0.task >= 0 }.map(\.task)
        var next: Nanoseconds?
        for task in onLanes + handingBack.subtracting(onLanes).sorted() {
            guard let deadline = deadline(of: task) else { continue }
            let rest = graph.nodes[Int(task)].started + deadline - now
            if rest <= 0 {
                overdue(task, now: now, &effects)
            } else {
                next = min(next ?? rest, rest)
            }
        }
        if let next { arm(after: next, now: now, &effects) }
    }

    /// Marks a task as overdue, unless its receipt was used: its place in the width goes to another lane, its thread
    /// stays with it.
    private mutating func overdue(
        _ task: Int32, now: Nanoseconds, _ effects: inout [Effect]
    ) {
        let lane = Int(graph.nodes[Int(task)].worker) - 1
        if lanes[lane].task == task {
            lanes[lane].isLost = true
            busy -= 1
            pace.isBrief = false
        }
        let isHandingBack = handingBack.remove(task) != nil
        guard isHandingBack || graph.nodes[Int(task)].phase == .running else { return }
        if isHandingBack { overdueReceipts += 1 }
        let handle = handles.removeValue(forKey: task)
        fail(task, .overdue, .overdue(late: nil), now: now, &effects)
        // Behind the report of its end: a task that heeds it ends at once.
        if let handle { effects.append(.cancel(handle)) }
    }
}
