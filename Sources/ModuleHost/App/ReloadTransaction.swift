import AppService
import Synchronization

/// A reload in progress: modules are created and launched for it, in steps that are each a job of the lane,
/// and then it is committed, or rolled back.
///
/// Events are delivered between the steps. Belongs to the lane.
final class ReloadTransaction {
    let app: App
    let host: AppHost
    let request: ReloadRequest
    var plan: ReloadPlan
    let difference: SlatefileDifference
    /// The new order: modules that stay, and those created for the reload.
    var records: [ModuleRecord]
    /// The modules created for the reload, in order.
    var staged: [ModuleRecord]
    /// The modules that are removed when it is committed, in order.
    var leaving: [ModuleRecord]
    /// The modules created for the reload by their ids.
    private(set) lazy var stagedByID = Dictionary(
        staged.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    /// The modules among them that are brought up by themselves once it is committed.
    private(set) lazy var later = staged.broughtUpLater { [app] in app.record(of: $0) }
    private lazy var laterSlots = Set(later.map(\.slot.number))
    /// The dispatcher for calls of the modules created for the reload, until it is committed.
    let calls: CallDispatcher
    /// The start-up tasks of these modules.
    let tasks = DeferredQueue<StartupTask>()
    /// The messages that they post.
    let posts = DeferredQueue<EventRequest>()
    /// The starts of processes for modules that are yet to be created; nil once all are.
    private var starts: ProcessStarts?
    /// The lazy modules that were made and unloaded before it, by their number.
    let changesOnDemand: Int
    /// The routes of the app before it, until it is over: their handlers are released with their modules.
    var formerTable: RouteTable?
    /// The places of the modules that are stopped before the new instances are made, in order.
    var stopped: [LazyStarts.Start] = []
    /// Ends the wait for their ends.
    var stopAlarm: (any Alarm)?
    /// The wait for the answers of the modules that leave.
    weak var answers: AnswerWaiter<App>?
    /// Whether it is committed or rolled back.
    var isOver = false

    init(
        request: ReloadRequest, plan: ReloadPlan, difference: SlatefileDifference,
        records: [ModuleRecord], staged: [ModuleRecord], leaving: [ModuleRecord],
        calls: CallDispatcher,
        of app: App, in host: AppHost
    ) {
        self.request = request
        self.plan = plan
        self.difference = difference
        self.records = records
        self.staged = staged
        self.leaving = leaving
        self.calls = calls
        changesOnDemand = app.onDemand.changes
        formerTable = app.calls?.table
        self.app = app
        self.host = host
    }

    /// Returns whether a module is brought up by itself once the reload is committed.
    func isLater(_ record: ModuleRecord) -> Bool { laterSlots.contains(record.slot.number) }

    func staged(of slot: ModuleSlot) -> ModuleRecord? { staged.first { $0.slot === slot } }

    func begin() {
        guard !staged.isEmpty else { return commitWhenAnswered() }
        app.attempts.interrupt(leaving)
        app.services.beginTransition(leaving: leaving.map(\.slot))
        for record in staged { app.gate.lane.register(record.slot) }
        stopFirst { reload in reload.makeStaged() }
    }

    /// Creates and launches the new instances.
    private func makeStaged() {
        starts = app.processStarts(of: staged.filter { !isLater($0) }, context)
        starts?.begin()
        withEachStaged { reload, record, thread in
            reload.make(record, on: thread)
        } then: { reload in
            reload.runStartupTasks()
        }
    }

    // MARK: Making modules

    /// Processes each module that is created for the reload, and then calls `last`, as long as nothing has
    /// failed.
    ///
    /// Each has a job of the lane, which is listed when the one before it is done: other jobs have their turn
    /// in between. No other job comes between the last of them and `last`. One whose process has yet to declare itself
    /// is awaited without a job.
    private func withEachStaged(
        from index: Int = 0, notifying event: LifecycleEvent? = nil,
        _ body: @escaping @Sendable (ReloadTransaction, ModuleRecord, LaneThread) -> Void,
        then last: @escaping @Sendable (ReloadTransaction) -> Void
    ) {
        guard index < staged.count else { return last(self) }
        let confined = LaneConfined(self)
        let job = LaneWork(limit: .launch, currentEvent: event) { thread in
            let reload = confined.open(on: thread)
            // A stop that is about to begin rolls it back.
            guard !reload.isOver, !reload.host.isStopping else { return }
            let record = reload.staged[index]
            if !reload.isLater(record) { body(reload, record, thread) }
            // If the lane was lost, the thread that took it rolls the reload back.
            guard reload.app.gate.lane.owns(thread), !reload.isOver, !reload.host.isStopping
            else { return }
            reload.withEachStaged(from: index + 1, notifying: event, body, then: last)
        }
        let lane = app.gate.lane
        guard let starts else { return lane.enqueue(job) }
        starts.whenDone(staged[index].id) { lane.enqueue(job) }
    }

    private func make(_ record: ModuleRecord, on thread: LaneThread) {
        let start = starts?[record.id]
        let context = start?.context.open(on: thread) ?? context(of: record)
        app.make(record, with: context, start, on: thread) { error in
            rollBack(record, failedIn: "init", error)
        }
    }

    private func context(of record: ModuleRecord) -> ModuleContext {
        app.context(
            of: record, appConfig: request.slatefile.config, calls: calls,
            host: HostServices(of: host, for: self))
    }

    private func runStartupTasks() {
        starts = nil
        var released: [StartupTask] = []
        tasks.release { released += $0 }
        do throws(StartupError) {
            try host.startup.register(released)
        } catch {
            return rollBack(because: "invalid start-up tasks: \(error)")
        }
        // Tasks of others may depend on these tasks: all high ones are needed now.
        let confined = LaneConfined(self)
        host.startup.whenDone(.high) { [host] in
            host.onLane { _, thread in confined.open(on: thread).launchStaged() }
        }
    }

    private func launchStaged() {
        // It may have been rolled back while others had the lane.
        guard !isOver, !host.isStopping else { return }
        let event = LifecycleEvent.launch(Launch(origin: request.origin, app: app.slatefile.app))
        withEachStaged(notifying: event) { reload, record, thread in
            reload.launch(record, event, on: thread)
        } then: { reload in
            reload.commitWhenAnswered()
        }
    }

    private func launch(
        _ record: ModuleRecord, _ event: LifecycleEvent, on thread: LaneThread
    ) {
        let members = app.center.members(of: record.slot)
        let isOurs = app.notify(record, members, event, on: thread) { error in
            rollBack(record, failedIn: "launch", error)
        }
        if isOurs, !isOver { app.apply(.launchedForReload, to: record) }
    }

    // MARK: Rolling back

    /// Rolls the reload back: the modules created for it are released, and everything else stays unchanged.
    ///
    /// - Parameter reason: The reason, in words.
    func rollBack(because reason: String) {
        guard !isOver else { return }
        // Those of the host itself end with the app: no caller waits.
        if !app.phase.isEnding || request.origin != .host {
            request.logRolledBack(reason, to: app.log)
        }
        let outcome = app.phase.isEnding ? ReloadOutcome.stopped : .rolledBack(reason)
        undo { [request] app in
            // This one, until it is finished.
            app.reloads.current?.startStopped(outcome) { app.reloads.finish(request, $0) }
        }
    }

    /// Rolls the reload back since a module failed in a step.
    private func rollBack(_ record: ModuleRecord, failedIn step: String, _ error: any Error) {
        rollBack(because: "module '\(record.id)' failed in \(step): \(error)")
    }

    /// Rolls the reload back if a module that was created for it has failed since it was launched.
    func stagedFailed(_ slot: ModuleSlot, _ what: String, _ error: any Error) {
        guard let staged = staged(of: slot) else { return }
        rollBack(because: "module '\(staged.id)': \(what) failed: \(error)")
    }

    /// Rolls the reload back if a module that is created for it does not return.
    func tookTooLong(_ slot: ModuleSlot) {
        guard !isOver, let record = staged(of: slot) else { return }
        let step = record.module == nil ? "init" : "launch"
        rollBack(record, failedIn: step, TooLate(limit: app.slatefile.deadlines.launch))
    }

    /// Restores the former state.
    ///
    /// - Parameter last: Called when all new modules are released.
    func undo(then last: @escaping @Sendable (App) -> Void) {
        isOver = true
        formerTable = nil
        stopAlarm?.cancel()
        app.endWait(answers)
        starts?.cancel()
        starts = nil
        app.unloadingModules.takeOut(staged, routes: calls.routes(of: staged))
        app.unloadingModules.unload(staged)
        app.services.endTransition()
        if let old = app.calls { calls.end(for: old) }
        app.unloadingModules.sendShutdownEvents(then: last)
        posts.release(host.enqueue)
    }

    /// Ends the reload when the lane has ended.
    ///
    /// - Returns: The modules that were created for the reload.
    func leaveBehind() -> [ModuleRecord] {
        starts?.cancel()
        return staged
    }
}
