/// The report on the tasks of a queue, with times.
///
/// Times are measured from the moment the first priority was admitted; a task registered before that counts
/// as registered then.
public struct StartupReport: Sendable {
    /// The report on one task; the time of a step that has not happened is nil.
    public struct Entry: Hashable, Sendable {
        /// The name of the task.
        public let name: String
        /// The priority it was registered with.
        public let priority: StartupPriority
        /// The priority it was raised to, or else `priority`.
        public let effectivePriority: StartupPriority
        /// Whether the app requires the task.
        public let required: Bool
        /// The tasks it runs after.
        public let after: [String]
        /// The dependency that ended last and so let the task begin.
        public let releasedBy: String?
        /// The time of its registration.
        public let registered: Duration
        /// The time from which it might begin: its dependencies had ended and its priority was admitted.
        public let ready: Duration?
        /// The time at which its work began.
        public let started: Duration?
        /// The time of its end: its result was handed back, it was overdue, or it was skipped.
        public let ended: Duration?
        /// The time at which the work of an overdue task ended at last.
        public let endedLate: Duration?
        /// The number of the worker it ran on, from 1.
        ///
        /// A worker that replaces the worker of an overdue task has a number of its own.
        public let worker: Int?
        /// The outcome of the task; nil before its end.
        public let outcome: StartupOutcome?

        /// The time from its start to its end; nil where one of them is missing.
        public var duration: Duration? {
            guard let started, let ended else { return nil }
            return ended - started
        }
    }

    /// Every task, in order of registration.
    public let tasks: [Entry]

    /// The time from the first admission to the end of the last task that ran.
    public var makespan: Duration {
        tasks.lazy.filter { $0.started != nil }.compactMap(\.ended).max() ?? .zero
    }

    /// The tasks that ran to an end, slowest first.
    public var blame: [Entry] {
        tasks.filter { $0.duration != nil }
            .sorted { ($0.duration ?? .zero) > ($1.duration ?? .zero) }
    }

    /// The tasks that decided when the last one ended, in the order in which they ran: each let the
    /// next one begin.
    public var criticalChain: [Entry] { criticalChain(upTo: .low) }

    /// Returns the tasks that decided when the last one of some priorities ended, in the order in which they ran.
    ///
    /// - Parameter priority: The lowest priority that counts, as for ``StartupQueue/done(_:)``.
    /// - Returns: The tasks; each let the next one begin.
    public func criticalChain(upTo priority: StartupPriority) -> [Entry] {
        let ran = tasks.filter { $0.duration != nil && $0.effectivePriority >= priority }
        // The first of those that ended last.
        guard
            var link = ran.max(by: { ($0.ended ?? .zero) < ($1.ended ?? .zero) })
        else { return [] }
        let byName = Dictionary(ran.map { ($0.name, $0) }) { first, _ in first }
        var chain = [link]
        while let name = link.releasedBy, let before = byName[name] {
            chain.append(before)
            link = before
        }
        return chain.reversed()
    }
}

extension StartupReport {
    init(_ schedule: StartupSchedule) {
        tasks = schedule.graph.tasks.indices.lazy.filter { !schedule.graph.nodes[$0].isClosed }
            .map { Entry(schedule, task: $0) }
    }
}

extension StartupReport.Entry {
    fileprivate init(_ schedule: StartupSchedule, task number: Int) {
        let task = schedule.graph.tasks[number]
        let node = schedule.graph.nodes[number]
        name = task.name
        priority = task.priority
        effectivePriority = node.priority
        required = task.required
        after = task.after
        releasedBy = node.releasedBy < 0 ? nil : schedule.graph.tasks[Int(node.releasedBy)].name
        outcome = schedule.outcome(of: Int32(number))
        guard let start = schedule.start else {
            registered = .zero
            ready = nil
            started = nil
            ended = nil
            endedLate = nil
            worker = nil
            return
        }
        func sinceStart(_ instant: StartupSchedule.Nanoseconds) -> Duration {
            .nanoseconds(instant - start)
        }
        registered = sinceStart(max(node.registered, start))
        ready = node.wasReady ? sinceStart(node.ready) : nil
        started = node.worker > 0 ? sinceStart(node.started) : nil
        ended = outcome == nil ? nil : sinceStart(node.ended)
        worker = node.worker > 0 ? Int(node.worker) : nil
        if case .overdue(let late?) = schedule.failures[Int32(number)] {
            endedLate = sinceStart(late)
        } else {
            endedLate = nil
        }
    }
}
