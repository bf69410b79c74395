/// The whole state of a queue: the tasks that run, may run next, and have run.
///
/// Nothing here reads a clock, takes a lock, or calls other code. Each transition returns, as effects, what
/// its caller is to do once the lock is released, so it can be tested step by step.
struct StartupSchedule {
    /// Times and spans alike; an instant is measured from the creation of the queue.
    ///
    /// Not `ContinuousClock.Instant`: its layout is known at run time only, and so would be that of
    /// everything it is part of, which doubles the time of a transition.
    typealias Nanoseconds = Int

    /// An effect that the caller carries out after unlocking, in this order.
    enum Effect {
        /// Lets this worker ask for work.
        case wake(StartupWorker)
        /// Wakes the lane that watches.
        case ring
        case report(StartupEvent)
        case requiredFailure(StartupTask, StartupOutcome)
        /// Calls a caller that waited for a priority to be done.
        case call(@Sendable () -> Void)
        case cancel(Task<Void, Never>)
        /// Releases the work, which may run code that calls the queue again, or that takes long.
        case release(StartupWork)
        /// Asks for an alarm, and passes it to ``StartupSchedule/armed(_:generation:)``.
        case arm(generation: Int, after: Nanoseconds)
        case disarm(any Alarm)
    }

    /// The next step of a worker that asks for work.
    enum Step {
        case run(StartupWork)
        /// Hands the result of a task back, and asks again. The lane keeps its place meanwhile.
        case handBack(task: Int32, numbering: Int, StartupWork.HandBack)
        /// Waits for ``watchTime``, or until woken, and asks again.
        case watch
        case rest
    }

    /// A place in the width: its worker runs a task, is on its way to ask for one, or rests.
    struct Lane {
        let worker: StartupWorker
        /// The task whose work runs, or whose result is being handed back.
        ///
        /// The only copy of its number, so that the tasks can be renumbered meanwhile.
        var task = StartupGraph.none
        /// Whether the lane was woken or watches, and has yet to ask for work.
        var isComing = false
        /// The number of brief tasks that other lanes had ended when this one last asked for work.
        var seenBriefEnds = 0
        /// Whether the lane is lost to an overdue task: it gets no more work until that ends, and its place was given
        /// to another.
        var isLost = false

        mutating func end(isBrief: Bool) {
            task = StartupGraph.none
            if isBrief { seenBriefEnds += 1 }
        }

        /// Notes that the lane asks for work.
        ///
        /// - Returns: Whether it was woken or has watched, and whether others have ended brief tasks since it
        ///   last asked.
        mutating func ask(_ briefEnds: Int) -> (wasComing: Bool, othersEnded: Bool) {
            defer { (isComing, seenBriefEnds) = (false, briefEnds) }
            return (isComing, briefEnds != seenBriefEnds)
        }
    }

    /// The reason why a task has not succeeded.
    enum Failure {
        case failed(String)
        /// The task was overdue; `late` is the time at which its work ended.
        case overdue(late: Nanoseconds?)
        case stopped
        case skipped(after: Int32, root: Int32)

        func renumbered(_ number: (Int32) -> Int32) -> Failure {
            guard case .skipped(let after, let root) = self else { return self }
            return .skipped(after: number(after), root: number(root))
        }
    }

    let width: Int
    /// The deadline of tasks without one of their own; nil means none.
    let deadline: Nanoseconds?
    let reportsEvents: Bool

    var graph = StartupGraph()
    var failures: [Int32: Failure] = [:]
    /// The time at which the first priority was admitted; nil before.
    var start: Nanoseconds?
    var isClosed = false
    var isStopped = false

    /// The lowest priority that may run.
    var admitted: StartupPriority?
    var ready = ReadyTasks()
    /// By priority: tasks that wait only for it to be admitted, or have been raised since.
    var parked: [[Int32]] = [[], [], []]
    /// By priority: tasks that have not ended.
    var open: [3 of Int] = [0, 0, 0]
    var waiters: [(priority: StartupPriority, body: @Sendable () -> Void)] = []
    /// Whether the last task of a priority has ended, or a caller has begun to wait, since the waiters were
    /// checked.
    var mayBeDone = false

    var lanes: [Lane] = []
    var idleLanes: [Int] = []
    /// The number of lanes that are neither idle nor lost, and of those among them that were woken or watch.
    var busy = 0
    var coming = 0
    var pace = Pace()

    var handles: [Int32: Task<Void, Never>] = [:]
    var handingBack: Set<Int32> = []
    /// The number of tasks that were overdue while their results were handed back, and whose receipts are not used yet.
    var overdueReceipts = 0
    /// The number of renumberings of the tasks so far.
    var numbering = 0
    var alarm = AlarmState()

    init(width: Int, deadline: Duration?, reportsEvents: Bool) {
        self.width = width
        self.deadline = deadline?.wholeNanoseconds
        self.reportsEvents = reportsEvents
    }

    // MARK: Registration and admission

    /// Adds tasks to the queue; before the start, when `now` is nil, only records them.
    mutating func register(
        _ batch: some Collection<StartupTask>, now: Nanoseconds?,
        _ effects: inout [Effect]
    ) throws(StartupError) {
        if isClosed { throw StartupError(diagnostics: batch.map { .closed($0.name) }) }
        forgetClosed()
        let first = graph.tasks.count
        try graph.add(batch, now: now ?? 0)
        guard let now else { return }
        do throws(StartupError) {
            let raised = try graph.connect(from: first)
            adopt(from: first, raised, now: now, &effects)
        } catch {
            graph.remove(from: first)
            throw error
        }
    }

    /// Lets tasks of `priority` and above run; the first call connects them.
    mutating func admit(
        _ priority: StartupPriority, now: Nanoseconds, _ effects: inout [Effect]
    ) throws(StartupError) {
        if start == nil {
            try checkSettings()
            _ = try graph.connect(from: 0)
            ready.rank(&graph.nodes)
            start = now
            admitted = priority
            adopt(from: 0, [], now: now, &effects)
            mayBeDone = true
        } else {
            admitLater(priority, now: now)
        }
    }

    /// Lets tasks of `priority` and above run, once another priority has been admitted.
    mutating func admitLater(_ priority: StartupPriority, now: Nanoseconds) {
        guard let before = admitted, priority < before else { return }
        admitted = priority
        for level in StartupPriority.allCases where level >= priority {
            let tasks = parked[Int(level.rawValue)]
            parked[Int(level.rawValue)] = []
            for task in tasks where graph.nodes[Int(task)].phase == .waiting {
                place(task, now: now)
            }
        }
        mayBeDone = true
    }

    /// Throws the problems of the queue itself together with those of its tasks.
    private func checkSettings() throws(StartupError) {
        var diagnostics: [StartupError.Diagnostic] = []
        if width < 1 { diagnostics.append(.width(width)) }
        if let deadline, deadline <= 0 {
            diagnostics.append(.deadline(.nanoseconds(deadline), of: nil))
        }
        guard !diagnostics.isEmpty else { return }
        var trial = graph
        do throws(StartupError) { _ = try trial.connect(from: 0) } catch {
            diagnostics += error.diagnostics
        }
        throw StartupError(diagnostics: diagnostics)
    }

    /// Puts the tasks from number `first` on, which are connected, into their places.
    private mutating func adopt(
        from first: Int, _ raised: [StartupGraph.Raise], now: Nanoseconds,
        _ effects: inout [Effect]
    ) {
        for raise in raised {
            graph.nodes[Int(raise.task)].rank = StartupGraph.none
            open[Int(raise.from.rawValue)] -= 1
            open[Int(raise.to.rawValue)] += 1
        }
        for raise in raised where graph.nodes[Int(raise.task)].pending == 0 {
            place(raise.task, now: now)
        }
        let count = graph.tasks.count
        for task in first..<count {
            open[Int(graph.nodes[task].priority.rawValue)] += 1
            if graph.nodes[task].pending == 0 { place(Int32(task), now: now) }
        }
        if !failures.isEmpty { skipHopeless(from: first, now: now, &effects) }
    }

    /// Skips the new tasks that run after one that has not succeeded.
    private mutating func skipHopeless(
        from first: Int, now: Nanoseconds, _ effects: inout [Effect]
    ) {
        for task in Int32(first)..<Int32(graph.tasks.count)
        where graph.nodes[Int(task)].phase == .waiting {
            if let above = graph.edgesIn(task).first(where: { failures[$0.from] != nil }) {
                skip(after: above.from, only: task, now: now, &effects)
            }
        }
    }

    /// Puts a task that waits for no other among the ready ones, or parks it until its priority is admitted.
    ///
    /// Called again when the task's place in the order rose.
    mutating func place(_ task: Int32, now: Nanoseconds) {
        let node = graph.nodes[Int(task)]
        guard let admitted, node.priority >= admitted else {
            parked[Int(node.priority.rawValue)].append(task)
            return
        }
        if node.phase == .waiting {
            graph.nodes[Int(task)].becomeReady(now)
        }
        ready.push(task, node)
    }

    // MARK: Waiting for the end

    /// Calls `body` when all tasks of `priority` and above have ended, now if they have.
    mutating func whenDone(
        _ priority: StartupPriority, _ body: @escaping @Sendable () -> Void
    ) {
        waiters.append((priority, body))
        mayBeDone = true
    }

    /// Completes a transition: every critical section ends with it.
    mutating func settle(_ effects: inout [Effect]) {
        if ready.count > 0, coming == 0 || coming == busy || !pace.isBrief {
            wakeLanes(&effects)
        }
        if busy == coming, alarm.due != nil, handingBack.isEmpty { disarm(&effects) }
        if mayBeDone { callWaiters(&effects) }
    }

    private mutating func callWaiters(_ effects: inout [Effect]) {
        mayBeDone = false
        guard let admitted, !waiters.isEmpty else { return }
        waiters.removeAll { waiter in
            guard waiter.priority >= admitted,
                StartupPriority.allCases.allSatisfy({
                    $0 < waiter.priority || open[Int($0.rawValue)] == 0
                })
            else { return false }
            effects.append(.call(waiter.body))
            return true
        }
    }
}
