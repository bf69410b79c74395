import AppService
import Synchronization

/// A running app: the modules of a slatefile, which are created, launched, notified of events, and released.
///
/// A host is independent of processes: ``HostDaemon`` connects one to signals, files and exit codes, and
/// ``init(slatefile:settings:log:)`` embeds one in a server. All of its methods may be called from any thread,
/// and none of them blocks a thread for a module.
public final class AppHost: Sendable {
    /// The end of an app.
    @nonexhaustive public enum End: Hashable, Sendable {
        /// The app ended as requested: every module received the shutdown events and was released, except those that were
        /// unresponsive when the stop was requested and have not returned.
        case stopped
        /// A required part failed; the reason in words. The launched modules were stopped.
        case failed(String)
        /// The stop ran out of time, or ended without modules that became unresponsive in it. These modules are still busy,
        /// have a hold on one of its steps, or had to be killed in processes of their own, so the process can only exit.
        case overdue([ModuleID])
    }

    /// The receiver of a host's notifications.
    ///
    /// Called on the lane, or where the lane is stuck on another thread.
    package struct Observer: Sendable {
        /// Called at READY, with the number of running modules, of all modules, and the time it took.
        let onReady: @Sendable (_ modules: Int, _ total: Int, _ after: Duration) -> Void
        /// Called where the health may have changed.
        let onHealth: @Sendable (HostHealth) -> Void
        /// Called when a stop begins, with the intended end and the reason; on the thread that requests it.
        let onStop: @Sendable (End, String) -> Void
        /// Called once, at the end.
        let onEnd: @Sendable (End) -> Void
        /// Called at the instant at which another slatefile takes effect.
        let onReload: @Sendable (Slatefile) -> Void
        /// The observer of deliveries and of calls from outside; nil for none.
        let deliveries: (any DeliveryObserver)?

        package init(
            onReady: @escaping @Sendable (_ modules: Int, _ total: Int, _ after: Duration) -> Void =
                {
                    _, _, _ in
                },
            onHealth: @escaping @Sendable (HostHealth) -> Void = { _ in },
            onStop: @escaping @Sendable (End, String) -> Void = { _, _ in },
            onReload: @escaping @Sendable (Slatefile) -> Void = { _ in },
            deliveries: (any DeliveryObserver)? = nil,
            onEnd: @escaping @Sendable (End) -> Void = { _ in }
        ) {
            self.onReady = onReady
            self.onHealth = onHealth
            self.onStop = onStop
            self.onReload = onReload
            self.deliveries = deliveries
            self.onEnd = onEnd
        }
    }

    private let currentSlatefile: Guarded<Slatefile>
    private let exchange = Guarded<SlatefileExchange?>(nil)
    let gate: Gate
    let log: Log
    let time: any TimeSource
    let startup: StartupQueue
    /// The threads of asynchronous code that is not on the lane.
    let workers: WorkerPool
    /// The health when it last changed, for callers that cannot wait for the lane; nil before the launch.
    let lastHealth = Guarded<HostHealth?>(nil)
    let observer: Observer
    let stateDirectory: String
    let processes: ProcessSettings
    let moduleProcesses: ModuleProcesses
    /// The behavior that differs where this app is the process of one module.
    let role: any AppRole
    let tokens: TokenStore
    let inbox: Inbox?
    /// The record of what happens; nil for a host without one.
    let ring: RecordRing?
    let app: LaneConfined<App>
    let holds: HoldList
    /// The metrics of the host, for any thread.
    let metrics: HostCounters
    /// The times of the steps of the launch.
    let launchTimes: LaunchTimes
    /// The clients that wait for conditions.
    let waits: HostWaits
    /// The memory budget of everything from outside that is not done.
    package let inFlight = InFlightBudget()
    let stopping = HostStop()
    /// The life of a host that is embedded in a program; nil for the host of a process.
    let life: EmbeddedLife?
    /// The reference of the parts that must not keep the host alive.
    let reference: WeakHost

    /// Creates a host.
    ///
    /// Nothing happens before ``launch()``.
    ///
    /// - Parameters:
    ///   - slatefile: The modules, in their order.
    ///   - stateDirectory: The folder in which the host and its modules keep their files; it exists.
    ///   - processes: The settings of the processes of isolated modules.
    ///   - tokens: The tokens with which remote callers reach more than public routes.
    ///   - inbox: The source of durable events, from READY on; without one there are none.
    ///   - log: The log.
    ///   - time: The source of deadlines and durations.
    ///   - observer: The receiver of the host's notifications.
    ///   - blackBox: The black box, which shows after a death which module was running; nil for none.
    ///   - ring: The record of what happens; nil for none.
    package convenience init(
        slatefile: Slatefile, stateDirectory: String,
        processes: ProcessSettings = ProcessSettings(), tokens: TokenStore = .empty,
        inbox: Inbox? = nil, log: Log,
        time: any TimeSource = SystemTimeSource.shared, observer: Observer = Observer(),
        blackBox: BlackBox? = nil, ring: RecordRing? = nil
    ) {
        self.init(
            slatefile: slatefile, stateDirectory: stateDirectory, processes: processes,
            tokens: tokens, inbox: inbox, log: log, time: time, observer: observer,
            blackBox: blackBox, ring: ring, role: StandaloneRole())
    }

    /// Creates the host of the process of one module.
    ///
    /// The parameters are those of the other initializer.
    init(
        slatefile: Slatefile, stateDirectory: String, processes: ProcessSettings,
        tokens: TokenStore, inbox: Inbox?, log: Log, time: any TimeSource, observer: Observer,
        blackBox: BlackBox?, ring: RecordRing? = nil, role: any AppRole, life: EmbeddedLife? = nil
    ) {
        let slatefile = slatefile.namingFacades()
        self.role = role
        self.life = life
        currentSlatefile = Guarded(slatefile)
        self.stateDirectory = stateDirectory
        moduleProcesses = ModuleProcesses(time: time)
        var processes = processes
        processes.running = moduleProcesses
        self.processes = processes
        self.tokens = tokens
        self.inbox = inbox
        self.ring = ring
        self.log = log
        self.time = time
        self.observer = observer
        let reference = WeakHost()
        let lane = Lane(
            limits: Watchdog.Limits(of: slatefile), time: time,
            delegate: LaneReports(to: reference, role: role, inbox: inbox), box: blackBox,
            input: role.input)
        gate = Gate(lane: lane)
        startup = StartupQueue(
            width: slatefile.startup.width, deadline: slatefile.startup.deadline, time: time,
            onEvent: { reference.host?.startupEvent($0) },
            onRequiredFailure: { task, outcome, slot in
                reference.host?.requiredTaskFailed(task, outcome, of: slot as? ModuleSlot)
            })
        workers = WorkerPool(width: slatefile.startup.width ?? onlineCores())
        let app = App(
            slatefile: slatefile, gate: gate, log: log, time: time, inbox: inbox, ring: ring,
            role: role)
        self.app = LaneConfined(app)
        holds = app.holds
        metrics = app.metrics
        waits = app.waits
        launchTimes = app.launchTimes
        self.reference = reference
        app.host = self
        app.observer = observer.deliveries
        reference.set(self)
        role.set(self)
    }

    /// Ends the lane: jobs that are still listed are dropped.
    ///
    /// Stop a host before releasing it.
    deinit {
        gate.lane.close()
        holds.close()
        holds.clear()
        moduleProcesses.killAll()
    }

    /// Creates the modules, runs the start-up tasks that cannot wait, launches, and reports READY.
    ///
    /// - Throws: ``SystemError`` where the system has no room for the lane's thread. Every other failure is
    ///   reported to the observer.
    package func launch() throws(SystemError) {
        try gate.lane.start()
        // Kept alive by the lane's own delegate from now on, until the lane closes.
        reference.keep(app)
        onLane(limit: .launch) { app, _ in app.advance(.begin) }
    }

    /// Delivers an event, from READY on.
    ///
    /// An earlier event waits for READY.
    ///
    /// - Parameter event: The event. A state event changes the state; one that has no meaning in the current
    ///   state is counted, logged, and otherwise ignored; `terminate` stops the app.
    package func deliver(_ event: LifecycleEvent) { deliver(event, load: nil) }

    /// Delivers an event that counts as in flight until it is delivered.
    func deliver(_ event: consuming LifecycleEvent, load: consuming InFlight?) {
        if event.kind == .terminate {
            stop(.stopped, because: "\(event.origin)", origin: event.origin)
        } else if let change = event.kind.stateChange {
            enqueue(.change(change, origin: event.origin), load: load)
        } else {
            enqueue(.event(event), load: load)
        }
    }

    /// The current slatefile.
    var slatefile: Slatefile { currentSlatefile.withLock { $0 } }

    /// The current deadlines, without a copy of the whole slatefile: they are read for each asynchronous call.
    var deadlines: Slatefile.Deadlines { currentSlatefile.withLock { $0.deadlines } }

    /// Replaces the current slatefile.
    func exchange(_ slatefile: Slatefile) {
        currentSlatefile.withLock { $0 = slatefile }
        observer.onReload(slatefile)
    }

    /// A closure that exchanges the slatefile's file; nil where the host runs without one.
    typealias SlatefileExchange =
        @Sendable (
            _ text: String, _ probation: Duration?, _ module: ModuleID,
            _ completion: @escaping @Sendable (Result<SlatefileChange, SlatefileRefusal>) -> Void
        ) -> Void

    var slatefileExchange: SlatefileExchange? {
        get { exchange.withLock { $0 } }
        set { exchange.withLock { $0 = newValue } }
    }

    // MARK: The lane

    /// Runs host code with the state of the lane.
    func onLane(
        limit: DeliveryLimit = .event,
        _ body: @escaping @Sendable (App, LaneThread) -> Void
    ) {
        gate.lane.enqueue(limit: limit) { [app] thread in body(app.open(on: thread), thread) }
    }

    func onLaneWhenIdle(_ body: @escaping @Sendable (App) -> Void) {
        gate.lane.whenIdle { [app] thread in body(app.open(on: thread)) }
    }

    /// Makes the lane deliver an event.
    func enqueue(_ request: consuming EventRequest, load: consuming InFlight? = nil) {
        gate.lane.enqueue(EventJob(request, in: app, load: load))
    }

    /// Makes the lane deliver events one after the other.
    func enqueue(_ requests: [EventRequest]) {
        gate.lane.enqueue(requests.map { EventJob($0, in: app) })
    }
}

/// A reference to the host, for parts of it that are created before it.
final class WeakHost: Sendable {
    private let box = WeakBox<AppHost>()

    var host: AppHost? { box.object }

    func set(_ host: AppHost) { box.set(host) }

    /// The app until the lane has closed, even if the host is released before: its modules must be
    /// disconnected from each other then.
    private let app = Guarded<LaneConfined<App>?>(nil)

    func keep(_ app: LaneConfined<App>) { self.app.withLock { $0 = app } }

    func takeApp() -> LaneConfined<App>? {
        app.withLock { app in
            defer { app = nil }
            return app
        }
    }
}

extension AppHost: InboxHost {
    var lane: Lane { gate.lane }

    var enabledModules: [ModuleID] { slatefile.modules.filter(\.isEnabled).map(\.id) }

    func enqueue(_ events: [LifecycleEvent]) -> [any LaneJob] {
        let jobs = events.map { EventJob(.event($0), in: app) }
        gate.lane.enqueue(jobs)
        return jobs
    }
}
