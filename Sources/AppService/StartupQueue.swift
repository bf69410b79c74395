/// A queue that runs the work of an app's start: urgent tasks first, independent tasks in parallel, and no
/// task before its dependencies.
///
/// ```swift
/// let queue = StartupQueue(deadline: .seconds(15))
/// try queue.register([
///     StartupTask("settings", priority: .high) { try readSettings() },
///     StartupTask("database", after: ["settings"]) { try openDatabase() },
///     StartupTask("log in", after: ["settings"], deadline: .seconds(5)) { try await logIn() },
///     StartupTask("thumbnails", priority: .low, after: ["database"]) { makeThumbnails() },
/// ])
/// let report = try await queue.run()
/// print(report.blameText)
/// ```
///
/// **Order.** Of the tasks that may begin, those of higher priority begin first, then those for which the
/// longer chain of tasks waits, then those registered earlier. A task that one of a higher priority waits
/// for, directly or not, is raised to that priority.
///
/// **Phases.** No task runs before its priority is admitted. ``run()`` admits each priority when the one
/// above it is done; an app with a moment of its own for each calls ``admit(_:)`` itself.
///
/// **Threads.** At most `width` tasks run at a time, on as many serial Dispatch queues, and one more for each
/// overdue task that has not ended; they are created when they are first needed. Where tasks take less than about 20 µs, as long as waking a thread takes, one
/// worker runs them and a second one watches: if one of them is long after all, the tasks that are ready wait
/// for about 100 µs, and then run beside it. No global queue is used and, when nothing runs, no timer is set: an
/// idle queue costs no wake-ups.
///
/// **Failure.** Tasks that run after a failed task are skipped, and so on. A task that has not ended by its
/// deadline is overdue: it keeps its thread until it ends, for a thread cannot be taken from it, but its
/// place goes to another task, the tasks that run after it are skipped, and its result is dropped. Other tasks
/// go on.
///
/// Every method may be called from any thread, and from inside tasks.
public final class StartupQueue: Sendable {
    private let time: any TimeSource
    private let made: StartupSchedule.Nanoseconds
    let state: Guarded<StartupSchedule>
    /// The place where the worker sleeps that watches the others.
    let watch = TimedWait()
    private let onEvent: (@Sendable (StartupEvent) -> Void)?
    private let onRequiredFailure: (@Sendable (String, StartupOutcome, StartupScope?) -> Void)?

    /// Creates a queue without tasks.
    ///
    /// - Parameters:
    ///   - width: How many tasks run at a time, at least one; nil means as many as there are cores.
    ///   - deadline: The deadline of tasks without one of their own; longer than zero. Nil means none.
    ///   - onEvent: Receives what happens to tasks, on the thread where it happens; must return quickly.
    ///     Events of one task arrive in order, but for one that ends at the moment at which it is overdue: both
    ///     reports are made by threads of their own.
    ///   - onRequiredFailure: Receives the name and the outcome of each required task that failed, was
    ///     overdue or was skipped, except by ``stop()``. The other tasks go on unless it stops the queue.
    ///     Threads as for `onEvent`.
    public convenience init(
        width: Int? = nil, deadline: Duration? = nil,
        onEvent: (@Sendable (StartupEvent) -> Void)? = nil,
        onRequiredFailure: (@Sendable (_ task: String, StartupOutcome) -> Void)? = nil
    ) {
        self.init(
            width: width, deadline: deadline, time: SystemTimeSource.shared, onEvent: onEvent,
            onRequiredFailure: { task, outcome, _ in onRequiredFailure?(task, outcome) })
    }

    /// Creates a queue as the public initializer does, with a clock to choose, and reports the scopes of required tasks.
    package init(
        width: Int? = nil, deadline: Duration? = nil, time: any TimeSource,
        onEvent: (@Sendable (StartupEvent) -> Void)? = nil,
        onRequiredFailure: (@Sendable (String, StartupOutcome, StartupScope?) -> Void)? = nil
    ) {
        self.time = time
        made = time.nanoseconds()
        self.onEvent = onEvent
        self.onRequiredFailure = onRequiredFailure
        state = Guarded(
            StartupSchedule(
                width: width ?? onlineCores(), deadline: deadline, reportsEvents: onEvent != nil))
    }

    // MARK: Registration

    /// Adds a task.
    ///
    /// Before the first ``admit(_:)`` a task may run after one that is registered later. After it, a
    /// task may run after any that was registered before, ended ones included, and begins as soon as
    /// its turn comes.
    ///
    /// - Parameter task: The task to add.
    /// - Throws: ``StartupError`` where the name is empty or taken, the deadline is not longer than zero, or
    ///   the queue is closed; after the first ``admit(_:)`` also where a name it runs after is unknown. The
    ///   queue is then unchanged.
    public func register(_ task: StartupTask) throws(StartupError) {
        try add(CollectionOfOne(task))
    }

    /// Adds tasks that may name each other in any order: all of them, or none where it throws.
    ///
    /// - Parameter tasks: The tasks to add.
    /// - Throws: ``StartupError`` as for one task, with the problems of all.
    public func register(_ tasks: [StartupTask]) throws(StartupError) { try add(tasks) }

    private func add(_ tasks: some Collection<StartupTask>) throws(StartupError) {
        try change { state, effects throws(StartupError) in
            let now = state.start == nil ? nil : self.now()
            try state.register(tasks, now: now, &effects)
        }
    }

    /// Gives up the tasks of some scopes for good: they run on, but are not required any more, their names are free for
    /// others, and once all tasks have ended, the queue may forget them.
    ///
    /// A queue that lives long would otherwise keep the tasks of all modules that it ever had.
    package func close(_ scopes: [StartupScope]) { state.withLock { $0.graph.close(scopes) } }

    /// Ends registration: later attempts throw, and registered tasks run on.
    public func close() { state.withLock { $0.isClosed = true } }

    // MARK: Phases

    /// Lets the tasks of a priority, and of those above it, begin.
    ///
    /// The first call checks all tasks; the queue's time begins when it succeeds. Admitting a priority again,
    /// or any priority after ``stop()``, has no effect.
    ///
    /// - Parameter priority: The lowest priority whose tasks may begin.
    /// - Throws: At the first call, ``StartupError`` with every unknown name and every cycle, and with a
    ///   width or deadline that is not valid. Nothing has begun then, and the call may be repeated when the
    ///   missing tasks are registered.
    public func admit(_ priority: StartupPriority) throws(StartupError) {
        try change { state, effects throws(StartupError) in
            try state.admit(priority, now: now(), &effects)
        }
    }

    /// Calls `body` once, when a priority has been admitted and every task of it or above has ended;
    /// at once if that is so already.
    ///
    /// - Parameters:
    ///   - priority: The lowest priority to wait for. Raised tasks count with the priority they were raised
    ///     to.
    ///   - body: Runs on the thread that ended the last of them, or on the caller's: it should dispatch long
    ///     work elsewhere.
    public func whenDone(
        _ priority: StartupPriority, _ body: @escaping @Sendable () -> Void
    ) {
        change { state, _ in state.whenDone(priority, body) }
    }

    /// Waits until a priority has been admitted and every task of it or above has ended.
    ///
    /// - Parameter priority: The lowest priority to wait for.
    public func done(_ priority: StartupPriority) async {
        await withCheckedContinuation { continuation in
            whenDone(priority) { continuation.resume() }
        }
    }

    /// Runs everything: the high tasks, then the default ones, then the low ones.
    ///
    /// When the calling task is cancelled the queue stops, and this returns when the running tasks have
    /// ended.
    ///
    /// - Returns: The report on every task.
    /// - Throws: ``StartupError`` where the tasks are not valid, before any has begun.
    public func run() async throws(StartupError) -> StartupReport {
        try admit(.high)
        await withTaskCancellationHandler {
            // Each phase begins on the thread that ended the one before, and this task is resumed once.
            whenDone(.high) { self.admitLater(.default) }
            whenDone(.default) { self.admitLater(.low) }
            await done(.low)
        } onCancel: {
            stop()
        }
        return report()
    }

    /// Admits a priority after the first one, which cannot throw.
    private func admitLater(_ priority: StartupPriority) {
        change { state, _ in state.admitLater(priority, now: now()) }
    }

    /// Closes the queue, skips every task that has not begun, and cancels running asynchronous tasks.
    ///
    /// Running synchronous tasks go on; ``done(_:)`` with `.low` waits for them.
    public func stop() { change { state, effects in state.stop(now: now(), &effects) } }

    /// Returns the report on each task so far.
    public func report() -> StartupReport {
        // Copied first, so that no worker waits while the report is assembled.
        StartupReport(state.withLock { $0 })
    }

    // MARK: Carrying out effects

    /// Ends a task whose result was handed back, or could not be.
    func handedBack(_ task: Int32, of numbering: Int, _ ending: StartupEnding) {
        change { state, effects in
            // A receipt with an older numbering has been used already.
            guard state.numbering == numbering else { return }
            state.handedBack(task, ending, now: now(), &effects)
        }
    }

    /// Returns the time since the queue was created.
    func now() -> StartupSchedule.Nanoseconds { time.nanoseconds() - made }

    /// Changes the state under the lock, then carries out the effects.
    private func change<Failure: Error>(
        _ body: (inout StartupSchedule, inout [StartupSchedule.Effect]) throws(Failure) -> Void
    ) throws(Failure) {
        var effects: [StartupSchedule.Effect] = []
        try state.withLock { state throws(Failure) in
            try body(&state, &effects)
            state.settle(&effects)
        }
        perform(&effects)
    }

    /// Carries out the effects of a transition in their order, and removes them.
    func perform(_ effects: inout [StartupSchedule.Effect]) {
        var skipped: [StartupWork] = []
        for effect in effects {
            switch effect {
            case .wake(let worker): worker.run { self.work(on: worker) }
            case .ring: watch.ring()
            case .report(let event): onEvent?(event)
            case .requiredFailure(let task, let outcome):
                onRequiredFailure?(task.name, outcome, task.scope)
            case .call(let body): body()
            case .cancel(let handle): handle.cancel()
            case .release(let work): skipped.append(work)
            case .arm(let generation, let delay): arm(generation, delay)
            case .disarm(let alarm): alarm.cancel()
            }
        }
        effects.removeAll(keepingCapacity: true)
        if !skipped.isEmpty { StartupWorker.release(consume skipped) }
    }

    private func arm(_ generation: Int, _ delay: StartupSchedule.Nanoseconds) {
        let alarm = time.schedule(after: .nanoseconds(delay)) { [weak self] in
            guard let self else { return }
            change { state, effects in
                state.rang(generation: generation, now: now(), &effects)
            }
        }
        change { state, effects in state.armed(alarm, generation: generation, &effects) }
    }
}
