import AppService
import Synchronization

/// The running app: its modules, its phase, its state, its metrics.
///
/// Each step of its life has its own type: ``launch``, ``reloads``, ``shutdown``. Belongs to the lane.
final class App {
    /// The current slatefile.
    var slatefile: Slatefile
    let gate: Gate
    let center: CommunicationCenter
    private(set) lazy var services = ServiceRegistry(
        gate: gate, isAlone: role.upstream != nil, modules: onDemand)
    let holds: HoldList
    /// Calls between modules, and from outside; nil until the routes are known.
    var calls: CallDispatcher?
    let log: Log
    let time: any TimeSource
    /// The inbox; nil for a host without durable events.
    let inbox: Inbox?
    /// The record of what happens; nil for a host without one.
    let ring: RecordRing?
    let role: any AppRole
    /// The host that owns the app.
    weak var host: AppHost?
    /// The observer of deliveries; nil for none.
    var observer: (any DeliveryObserver)?

    private(set) var phase = AppPhase.made
    var state = LifecycleState.launching
    /// The number of changes of the state that were events.
    private(set) var stateChanges = 0
    /// The modules that are made, or about to be, in order.
    var records: [ModuleRecord] = []
    /// The metrics, changed on the lane and read by any thread.
    let metrics = HostCounters()
    /// The times of the steps of the launch.
    let launchTimes = LaunchTimes()
    /// The clients that wait for conditions.
    let waits = HostWaits()
    /// The URLs of the inbox that modules have yet to answer.
    let unansweredURLs = UnansweredURLs()
    /// The modules that have failed.
    var failed = FailedModules()
    /// The time at which the app was made.
    let startedAt = WallTime.now()
    /// The time at which the current event began; nil where neither the log, the record nor the observer says how long it takes.
    private(set) var eventBegan: ContinuousClock.Instant?
    /// The time that the event took which has just ended, where they say so.
    var timeInEvent = Duration.zero
    /// The events that modules have yet to answer.
    var openEvents = OpenEvents()
    /// The work that waits until modules have answered.
    var answerWaiters: [AnswerWaiter<App>] = []

    private(set) lazy var onDemand = ModulesOnDemand(of: self)
    private(set) lazy var launch = AppLaunch(of: self)
    private(set) lazy var reloads = Reloads(of: self)
    private(set) lazy var attempts = Attempts(of: self)
    private(set) lazy var unloadingModules = UnloadingModules(of: self)
    private(set) lazy var shutdown = Shutdown(of: self)

    init(
        slatefile: Slatefile, gate: Gate, log: Log, time: any TimeSource, inbox: Inbox?,
        ring: RecordRing?, role: any AppRole
    ) {
        self.inbox = inbox
        self.ring = ring
        self.role = role
        self.slatefile = slatefile
        self.gate = gate
        self.log = log
        self.time = time
        center = CommunicationCenter(gate: gate)
        holds = HoldList(gate: gate, log: log, time: time, deadlines: slatefile.deadlines)
    }

    /// Moves to the next phase, and carries out its effects.
    func advance(_ change: AppPhase.Change) {
        // On a copy: while a method changes a property in place, the runtime watches each access to it.
        var next = phase
        let effects = next.apply(change)
        phase = next
        for effect in effects {
            switch effect {
            case .makeModules: launch.makeModules()
            case .reportStartedUp: role.startedUp(self)
            case .openRoot: launch.openRoot()
            case .becomeReady: launch.becomeReady()
            case .openInbox: launch.openInbox()
            case .beginNextReload: reloads.beginNext()
            case .undoReload: reloads.current?.rollBack(because: "the host stops")
            case .closeEntrances: shutdown.closeEntrances()
            case .dropHeld: launch.dropHeld()
            case .notifyOfStop: role.notifyOfStop(origin: shutdown.origin, in: self)
            case .release: shutdown.releaseWhenAnswered()
            case .end(let end): shutdown.end(end)
            }
        }
    }

    func record(of slot: ModuleSlot) -> ModuleRecord? {
        // The rank is its place among the enabled modules, unless it is not one of them, or not yet.
        guard let record = record(at: Int(slot.rank) - 1), record.slot === slot else { return nil }
        return record
    }

    /// Delivers an event of the host itself after everything accepted before.
    func deliverNow(_ request: EventRequest, limit: DeliveryLimit = .event) {
        gate.lane.enqueue(EventJob(request, in: LaneConfined(self), limit: limit))
    }

    var health: HostHealth {
        var health = HostHealth(
            state: state, isReady: phase.isReady,
            modules: records.isEmpty ? slatefile.modules.count(where: \.isEnabled) : records.count)
        // Modules that are being unloaded concern the host alone.
        health.overdue = gate.lane.overdueSlots.filter { !unloadingModules.holds($0) }.compactMap(
            \.id)
        health.failed = failed.ids
        health.problem = inbox?.metrics.withLock(\.problem)
        return health
    }

    /// Reports ``health``, which may have changed.
    func reportHealth() {
        let health = health
        let since = health.overdue.map { self.record(of: $0)?.overdueSince ?? startedAt }
        metrics.withLock { ($0.overdue, $0.overdueSince) = (health.overdue, since) }
        host?.lastHealth.withLock { $0 = health }
        host?.observer.onHealth(health)
        reviewWaits()
    }
}

// MARK: The delivering job

extension App {
    /// Returns the events of a request, in order: none where it has no meaning in the app's state, nil where
    /// the job is kept and will be run again.
    func plan(_ request: EventRequest, of job: EventJob) -> EventPlan? {
        switch request {
        case .event(let event, _):
            guard !isHeld(job) else { return nil }
            // Those behind a stop are left to the next host, like those that a stop drops.
            if let entry = event.entry, phase.isEnding || shutdown.isWaiting {
                inbox?.handBack(entry)
                return .several([])
            }
            if event.entry != nil, onDemand.starts.keepInOrder(job) { return nil }
            guard state.acceptsEvents else {
                ignore(event.kind.rawValue)
                return .several([])
            }
            return .one(event)
        case .change(let change, let origin, let onIgnored):
            guard !isHeld(job) else { return nil }
            let events = apply(change, origin: origin)
            if events.isEmpty { onIgnored?(state) }
            return .several(events)
        case .own(let event):
            // It has no meaning after a stop.
            return phase.isEnding ? .several([]) : .one(event)
        case .ownChange(let change, let origin):
            return .several(
                phase.isEnding && change != .terminate ? [] : apply(change, origin: origin))
        }
    }

    /// Keeps jobs from outside until the app is ready.
    func isHeld(_ job: any LaneJob) -> Bool {
        guard phase.isBeforeReady else { return false }
        launch.hold(job)
        return true
    }

    private func apply(_ change: LifecycleState.Change, origin: Origin) -> [LifecycleEvent] {
        switch state.apply(change) {
        case .deliver(let kinds):
            stateChanges += 1
            metrics.withLock { $0.state = state }
            reportHealth()
            return kinds.map { .state($0, origin: origin) }
        case .ignore:
            ignore(EventKind.allCases.first { $0.stateChange == change }?.rawValue ?? "\(change)")
            return []
        }
    }

    private func ignore(_ what: String) {
        metrics.withLock { $0.ignored += 1 }
        log.write(.info, "ignored: the app is \(state.inWords)", event: what)
    }

    func begin(_ event: inout LifecycleEvent) {
        if phase.isEnding { gate.lane.watchdog.stopReaches(event.kind) }
        observe(&event)
        event.laterAnswers = laterAnswers(to: event.kind)
        gate.lane.accept(&event)
        gate.lane.box?.setActivity(.event(event.kind))
        if let entry = event.entry { inbox?.began(entry) }
        eventBegan = keepsTimes ? time.now() : nil
        holds.follow(event.kind)
        if case .configuration(let reload) = event.content { take(reload) }
    }

    /// Returns whether the delivery of an event continues after a module was overdue in it.
    func goesOn(with event: LifecycleEvent) -> Bool {
        event.kind != .launch || failed.firstRequired == nil
    }

    func ended(_ event: LifecycleEvent, _ tally: EventTally, of request: EventRequest) {
        gate.lane.box?.setActivity(nil)
        metrics.withLock { $0.count(event.kind) }
        // One reading for both.
        timeInEvent = eventBegan?.duration(to: time.now()) ?? .zero
        note(event, tally, after: timeInEvent)
        if event.kind == .launch { launched() }
        role.ended(event, tally, of: request, in: self)
    }

    /// Every remaining module has launched, whether it handles `launch` or not.
    private func launched() {
        let end = failed.firstRequired ?? .max
        for record in records {
            if record.slot.rank > end { break }
            apply(.launched, to: record)
        }
    }
}
