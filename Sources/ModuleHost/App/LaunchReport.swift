import AppService

/// The steps of a launch with their times, and the ones that READY waited for.
package struct LaunchReport: Hashable, Sendable {
    /// A step of the launch.
    package struct Step: Hashable, Sendable {
        package var kind: LaunchStepKind
        /// The id of the module, or the name of the task.
        package var name: String
        package var started: Duration
        /// Nil while it is not over.
        package var ended: Duration?
        /// The time for which a task could have begun before it did.
        package var waited: Duration = .zero
        /// Whether READY waits for it.
        package var isAwaited = true
        /// The outcome, unless it was a success.
        package var problem: String?

        package var duration: Duration? { ended.map { $0 - started } }
    }

    /// The time at which the host began.
    package var hostStarted: WallTime?
    /// The time from the beginning to READY; nil before it.
    package var ready: Duration?
    /// The steps, in the order of their beginnings.
    package var steps: [Step] = []
    /// The steps that decided when the host was ready, in their order: each let the next one begin.
    package var chain: [Step] = []

    private static let shortest: Duration = .milliseconds(1)

    /// - Parameters:
    ///   - times: The times of the steps.
    ///   - tasks: The report on the start-up tasks, whose times begin when all modules are created.
    init(_ times: LaunchTimes.Times, _ tasks: StartupReport) {
        ready = times.marks[.ready]
        let creations = times.creations.map { creation in
            Step(
                kind: creation.kind, name: creation.module.text, started: creation.started,
                ended: creation.ended, problem: creation.problem)
        }
        let start = times.marks[.created] ?? .zero
        let parts = [
            Self.part(.launch, from: times.marks[.tasksDone], to: times.marks[.launched]),
            Self.part(.root, from: times.marks[.launched], to: ready),
        ].compactMap(\.self)
        steps = creations + tasks.tasks.compactMap { Step($0, from: start) } + parts
        steps.sort { $0.started < $1.started }
        chain =
            Self.chain(of: creations)
            + tasks.criticalChain(upTo: .high).compactMap { Step($0, from: start) }
            + parts.filter { $0.duration.map { $0 >= Self.shortest } ?? true }
        guard ready == nil else { return }
        // Those that it waits for now.
        chain += steps.filter { $0.ended == nil && $0.isAwaited && !chain.contains($0) }
    }

    private static func part(
        _ kind: LaunchStepKind, from start: Duration?, to end: Duration?
    ) -> Step? {
        start.map { Step(kind: kind, name: kind.rawValue, started: $0, ended: end) }
    }

    /// Returns the creations that the last one to end waited for: modules are created one after the other, and their
    /// processes start at the same time.
    private static func chain(of creations: [Step]) -> [Step] {
        var chain: [Step] = []
        let last = creations.sorted { ($0.ended ?? .zero) < ($1.ended ?? .zero) }.reversed()
        for step in last where chain.last.map({ step.isOver(by: $0) }) ?? true {
            chain.append(step)
        }
        return chain.reversed()
    }
}

extension LaunchReport.Step {
    /// Creates the step of a task; nil for one that has not begun.
    fileprivate init?(_ task: StartupReport.Entry, from start: Duration) {
        guard let began = task.started else { return nil }
        self.init(kind: .task, name: task.name, started: start + began)
        ended = task.ended.map { start + $0 }
        waited = began - (task.ready ?? began)
        isAwaited = task.effectivePriority >= .high
        if let outcome = task.outcome, outcome != .succeeded { problem = "\(outcome)" }
    }

    /// Returns whether it ended before another one began.
    fileprivate func isOver(by next: Self) -> Bool { ended.map { $0 <= next.started } ?? false }
}

extension LaunchReport {
    /// The number of steps that are written at most: the slowest ones.
    private static let limit = 2000

    /// Writes the report as one object.
    package func write(to json: inout JSONWriter) {
        var shown = steps
        if shown.count > Self.limit {
            let slowest = shown.sorted { ($0.duration ?? .zero) > ($1.duration ?? .zero) }
            shown = slowest.prefix(Self.limit).sorted { $0.started < $1.started }
        }
        json.object {
            if let hostStarted { $0.member("startedAt", hostStarted.iso8601) }
            if let ready { $0.member("readyMs", millisecondsOf: ready.wholeNanoseconds) }
            $0.member("chain") { $0.objects(for: chain) { $0.write(to: &$1) } }
            $0.member("steps") { $0.objects(for: shown) { $0.write(to: &$1) } }
            if shown.count < steps.count { $0.member("omitted", steps.count - shown.count) }
        }
    }
}

extension LaunchReport.Step {
    /// Writes the step as members of an object.
    func write(to json: inout JSONWriter) {
        json.member("kind", kind.rawValue)
        json.member("name", name)
        json.member("startedMs", millisecondsOf: started.wholeNanoseconds)
        if let duration { json.member("ms", millisecondsOf: duration.wholeNanoseconds) }
        if waited > .zero { json.member("waitedMs", millisecondsOf: waited.wholeNanoseconds) }
        json.member("awaited", isAwaited)
        if let problem { json.member("problem", problem) }
    }
}
