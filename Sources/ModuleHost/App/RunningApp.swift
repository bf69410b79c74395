import AppService
import Synchronization

/// The app as it runs: its modules, its state, its figures.
///
/// Belongs to the lane.
final class RunningApp {
    /// The slatefile that holds.
    var slatefile: Slatefile
    let gate: Gate
    let center: CommunicationCenter
    let services: ServiceRegistry
    let holds: HoldList
    /// Calls between modules, and from outside; nil until the routes are known.
    var calls: CallDispatcher?
    let log: Log
    let time: any TimeSource
    /// The inbox; nil for a host without durable events.
    let inbox: Inbox?
    var records: [ModuleRecord] = []
    /// Processes of modules that are yet to be made; nil once all are.
    var starts: ProcessStarts?
    var state = LifecycleState.launching
    /// Changed on the lane, read by any thread.
    let figures = HostCounters()
    /// The jobs from outside that wait for READY.
    var held: [any LaneJob] = []
    var isReady = false
    /// The end of the app, once that is decided.
    var ending: Host.End?
    /// Whether the modules have heard of the end, so that they are let go of.
    var isReleasing = false
    /// The modules that a stop has yet to let go of, since they were late; nil before it lets go of any.
    var unreleased: [ModuleRecord]?
    /// The reload that is on its way; nil where none is.
    var reload: Reload?
    /// Reloads that wait for the app to be ready, or for the one on its way.
    var waitingReloads: [ReloadRequest] = []
    /// Modules to be made anew that were late.
    var outdated: Set<ModuleID> = []
    /// The modules that have not returned from `init` in time: no more is to come of them.
    var hangingInInit: [Cell] = []
    /// The tries to come for modules that have failed.
    var retries: [ModuleID: ModuleRetry] = [:]
    /// The number of reloads, with those that failed.
    var reloadCount = 0
    /// Modules that are no longer part of the app, and yet to be let go of, by the numbers of their cells.
    var departing: [UInt16: ModuleRecord] = [:]
    /// The host that owns the app; set at launch.
    weak var host: Host?
    var startedAt: ContinuousClock.Instant
    private var eventBegan: ContinuousClock.Instant

    init(slatefile: Slatefile, gate: Gate, log: Log, time: any TimeSource, inbox: Inbox?) {
        self.inbox = inbox
        self.slatefile = slatefile
        self.gate = gate
        self.log = log
        self.time = time
        center = CommunicationCenter(gate: gate)
        services = ServiceRegistry(gate: gate)
        holds = HoldList(gate: gate, log: log, time: time, allowance: slatefile.deadlines.stop)
        startedAt = time.now()
        eventBegan = startedAt
    }

    func record(of cell: Cell) -> ModuleRecord? {
        // The rank is its place among the records, unless it is not one of them, or not yet.
        let index = Int(cell.rank) - 1
        guard records.indices.contains(index), records[index].cell === cell else { return nil }
        return records[index]
    }

    /// Marks a module as failed: it gets nothing more.
    ///
    /// A required one ends the app.
    func markFailed(_ record: ModuleRecord, _ what: String, _ error: any Error) {
        guard !record.isFailed else { return }
        record.status = .failed("\(what): \(error)")
        gate.lane.fail(record.cell)
        figures.withLock { figures in
            figures.modulesFailed += 1
            figures.modulesRunning -= 1
        }
        tellHealth()
        // The host that leads this one says so.
        if host?.parent != nil { return }
        let log = log.of(module: record.id.text)
        guard record.entry.isRequired else {
            log.error("\(what) failed, the app goes on without it: \(error)")
            // A process that is given up was restarted often enough.
            if what != "process" { scheduleRetry(of: record) }
            return
        }
        log.error("\(what) failed, and the module is required: \(error)")
        host?.fail("required module '\(record.id)' failed in \(what): \(error)")
    }

    /// Delivers something of the host's own once what was accepted before is delivered.
    func deliverNow(_ request: EventRequest, limit: DeliveryLimit = .event) {
        gate.lane.enqueue(EventJob(request, in: self, limit: limit))
    }
}

// MARK: For the job that delivers

extension RunningApp {
    /// Returns the events that a request comes to, in order: none where it means nothing in the app's state, nil where
    /// the job is held and will be run again.
    func plan(_ request: EventRequest, of job: EventJob) -> [LifecycleEvent]? {
        switch request {
        case .event(let event, _):
            guard !isHeld(job) else { return nil }
            guard state.acceptsEvents else {
                if let entry = event.entry { inbox?.handBack(entry) }
                return ignore(event.kind.rawValue)
            }
            return [event]
        case .change(let change, let origin, let onIgnored):
            guard !isHeld(job) else { return nil }
            let events = apply(change, origin: origin)
            if events.isEmpty { onIgnored?(state) }
            return events
        case .own(let event):
            // A stop that came in between makes it meaningless.
            return ending == nil ? [event] : []
        case .ownChange(let change, let origin):
            return ending == nil || change == .terminate ? apply(change, origin: origin) : []
        }
    }

    /// Keeps what comes from outside before READY.
    func isHeld(_ job: any LaneJob) -> Bool {
        guard !isReady, ending == nil else { return false }
        held.append(job)
        return true
    }

    private func apply(_ change: LifecycleState.Change, origin: Origin) -> [LifecycleEvent] {
        switch state.apply(change) {
        case .deliver(let kinds):
            figures.withLock { $0.state = state }
            tellHealth()
            return kinds.map { .state($0, origin: origin) }
        case .ignore:
            return ignore(
                EventKind.allCases.first { $0.stateChange == change }?.rawValue ?? "\(change)")
        }
    }

    private func ignore(_ what: String) -> [LifecycleEvent] {
        figures.withLock { $0.ignored += 1 }
        log.write(.info, "ignored: the app is \(state.rawValue)", event: what)
        return []
    }

    func begin(_ event: inout LifecycleEvent) {
        if ending != nil { gate.lane.watchdog.stopReaches(event.kind) }
        gate.lane.accept(&event)
        gate.lane.box?.setActivity(.event(event.kind))
        if let entry = event.entry { inbox?.began(entry) }
        eventBegan = time.now()
        holds.follow(event.kind)
        if case .configuration(let reload) = event.content { take(reload) }
    }

    /// Has contexts answer with the new settings.
    private func take(_ reload: ConfigurationReload) {
        for record in records where !record.isFailed {
            if let context = record.context, let change = reload.change(for: record.id) {
                let confined = LaneConfined(context)
                // The context of a late module is its own thread's.
                let isDeferred = gate.lane.defer(
                    for: record.cell,
                    LateModules.Work { confined.value.configurationChanged(change) })
                if !isDeferred { context.configurationChanged(change) }
            }
        }
    }

    /// Notes that a responder threw.
    ///
    /// - Returns: Whether the others are to be told.
    func failed(_ cell: Cell, in event: LifecycleEvent, _ error: any Error) -> FanStep {
        figures.withLock { $0.failures += 1 }
        if let parent = host?.parent {
            parent.failed(event, error)
            return .next
        }
        guard let record = record(of: cell) else { return .next }
        if event.kind == .launch {
            markFailed(record, "launch", error)
            return goesOn(with: event) ? .next : .end
        }
        log.of(module: record.id.text).write(
            .error, "failed: \(error)", event: event.kind.rawValue)
        return .next
    }

    /// A module threw on a thread that had lost the lane.
    func failedLate(_ cell: Cell, in event: LifecycleEvent?, _ error: any Error) {
        figures.withLock { $0.failures += 1 }
        if event?.kind == .launch, let record = record(of: cell), !record.isFailed {
            return markFailed(record, "launch", error)
        }
        logFailedLate(cell, in: event, error)
    }

    func logFailedLate(_ cell: Cell, in event: LifecycleEvent?, _ error: any Error) {
        log.of(module: cell.id?.text ?? "").write(
            .error, "failed, late: \(error)", event: event?.kind.rawValue)
    }

    /// Returns whether an event is still to be delivered after a module was late in it.
    func goesOn(with event: LifecycleEvent) -> Bool {
        event.kind != .launch || firstFailedRequired == nil
    }

    func ended(_ event: LifecycleEvent, _ tally: EventTally, of request: EventRequest) {
        gate.lane.box?.setActivity(nil)
        figures.withLock { $0.events[event.kind, default: 0] += 1 }
        if event.kind == .launch { launched() }
        let unheard = unheard(event, tally)
        log.write(
            .info, unheard ?? tally.summary, event: event.kind.rawValue,
            duration: eventBegan.duration(to: time.now()),
            fields: [LogField("origin", "\(event.origin)")])
        if let parent = host?.parent { return parent.ended(event, tally) }
        if case .url(let url, let token) = event.content {
            open(url, token, after: event, tally, of: request)
        } else if let entry = event.entry {
            var outcome = EventOutcome(tally)
            outcome.unheard = unheard
            inbox?.ended(entry, outcome)
        }
    }

    /// Returns the notice about an event from outside for which there was no module; nil if there was one.
    private func unheard(_ event: LifecycleEvent, _ tally: EventTally) -> String? {
        guard tally.isUnheard, host?.parent == nil, event.entry?.only == nil else { return nil }
        guard case .message(let message) = event.content else {
            return event.kind.isDurable && event.kind != .openURL
                ? "no module responds to '\(event.kind.rawValue)'" : nil
        }
        let topics = center.listeners(of: MessageEvent.self, .message).entries.lazy
            .filter { $0.cell.status.load(ordering: .acquiring) == .listed }
            .flatMap(\.member.knownTopics).prefix(256)
        let nearest = nearestName(to: message.topic, in: Array(topics))
        return "no module listens to topic \(quoted(message.topic))"
            + (nearest.map { "; did you mean \(quoted($0))?" } ?? "")
    }

    func completed(_ request: EventRequest) {
        guard let host, host.parent == nil else { return }
        switch request {
        case .own(let event) where event.kind == .launch: openRoot(in: host)
        case .ownChange(.activate, _): becomeReady(in: host)
        case .ownChange(.terminate, _): releaseWhenNobodyHolds(in: host)
        default: break
        }
    }
}

extension EventTally {
    /// Whether no module was told, or will be.
    fileprivate var isUnheard: Bool {
        delivered + failed + late == 0 && claimedBy == nil
    }

    /// The result of the event in words: `3 modules, newData`.
    fileprivate var summary: String {
        var text = delivered == 1 ? "1 module" : "\(delivered) modules"
        if failed > 0 { text += ", \(failed) failed" }
        if late > 0 { text += ", \(late) late" }
        if let fetch { text += ", \(fetch.rawValue)" }
        if let claimedBy = claimedBy?.id { text += ", claimed by \(claimedBy)" }
        return text
    }
}
