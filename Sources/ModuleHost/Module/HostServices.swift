import AppService

/// The services of a host that posted events need.
protocol PostingServices: Sendable {
    /// Posts an event; `completion` is called once it was delivered or will not be any more, on any thread.
    func post(_ event: LifecycleEvent, completion: @escaping @Sendable () -> Void)

    var time: any TimeSource { get }
}

/// The app of a module, for what only the app can do.
protocol ContextApp: Sendable {
    func post(_ event: LifecycleEvent, completion: @escaping @Sendable () -> Void)
    var metrics: HostMetrics { get }
    /// Reads all metrics, and passes their document on: once, off the lane; nil if the app has ended.
    func readMetrics(_ completion: @escaping @Sendable (MetricsDocument?) -> Void)
    var deadlines: Slatefile.Deadlines { get }

    func register(_ task: StartupTask) throws(StartupError)

    /// Submits an event to the inbox of the host that controls this process.
    func submitUpstream(_ record: InboxRecord, for sender: InboxSubmission.Sender)

    /// Delivers an event that has waited to all parts of a module, on the lane and in the module.
    func deliver(_ event: LifecycleEvent, to slot: ModuleSlot) -> EventAnswer

    /// Takes the answer of a module to an event for which nothing waited, on the lane.
    func answered(_ slot: ModuleSlot, _ event: LifecycleEvent, _ answer: EventAnswer)

    /// Notes that a module receives no events for a time: none waits for its answers, on the lane.
    func paused(_ slot: ModuleSlot)

    /// Reports a module that was behind and not overdue, and has caught up, on the lane.
    func rejoined(_ slot: ModuleSlot, missed: Int)

    /// Marks a module as failed, on the lane.
    func fail(_ slot: ModuleSlot, _ what: String, _ error: any Error)

    /// Notes that the program of a module has ended on purpose, on the lane.
    func noteDone(_ slot: ModuleSlot)

    func apply(
        slatefile text: String, probation: Duration?, from module: ModuleID,
        _ completion: @escaping @Sendable (Result<SlatefileChange, SlatefileRefusal>) -> Void)
}

/// The error for a module that has no thread on which to receive the waiting events.
struct NoThread: Error, CustomStringConvertible {
    let description =
        "the system has no thread on which it can receive what waits for it in the inbox"
}

/// The services of a host for the context of a module.
///
/// It has no strong reference to the host: a module that an overdue stop left behind keeps its context, and
/// would keep everything else alive.
final class HostServices: PostingServices {
    let gate: Gate
    /// The threads of code of modules that is not on the lane.
    let workers: WorkerPool
    let time: any TimeSource
    let holds: HoldList
    let stateDirectory: String
    /// Whether this is one module's process, which another host controls.
    let isChildProcess: Bool
    /// The id of the host of the inbox; nil where there is none.
    let hostID: String?
    private let log: Log
    private let inbox: Inbox?
    /// The record of what happens; nil for a host without one.
    let ring: RecordRing?
    private let stopping: HostStop
    private let app: any ContextApp

    init(
        gate: Gate, workers: WorkerPool, time: any TimeSource, holds: HoldList,
        stateDirectory: String, isChildProcess: Bool, hostID: String? = nil, log: Log,
        inbox: Inbox?,
        ring: RecordRing? = nil, stopping: HostStop,
        app: any ContextApp
    ) {
        self.gate = gate
        self.workers = workers
        self.time = time
        self.holds = holds
        self.stateDirectory = stateDirectory
        self.isChildProcess = isChildProcess
        self.hostID = hostID
        self.log = log
        self.inbox = inbox
        self.ring = ring
        self.stopping = stopping
        self.app = app
    }

    var metrics: HostMetrics { app.metrics }
    func readMetrics(_ completion: @escaping @Sendable (MetricsDocument?) -> Void) {
        app.readMetrics(completion)
    }
    var deadlines: Slatefile.Deadlines { app.deadlines }

    func post(_ event: LifecycleEvent, completion: @escaping @Sendable () -> Void) {
        app.post(event, completion: completion)
    }

    func apply(
        slatefile text: String, probation: Duration?, from module: ModuleID,
        _ completion: @escaping @Sendable (Result<SlatefileChange, SlatefileRefusal>) -> Void
    ) {
        app.apply(slatefile: text, probation: probation, from: module, completion)
    }

    func register(_ task: StartupTask, of slot: ModuleSlot) throws(StartupError) {
        var task = task
        task.scope = slot
        if let box = gate.lane.box {
            // The slot, and not its number alone: while the task may run, the slot belongs to no other
            // module.
            task.observeWork { box.count(tasksOf: slot.number, $0 ? 1 : -1) }
        }
        try app.register(task)
    }

    // MARK: Modules

    func currentEvent(of slot: ModuleSlot) -> LifecycleEvent? { gate.lane.currentEvent(of: slot) }

    /// Creates the isolation of a module's asynchronous code.
    func place(for slot: ModuleSlot) -> ModulePlace {
        ModulePlace(gate: gate, slot: slot, workers: workers, time: time)
    }

    /// Notes that code of a module begins or ends to run off the lane, for the case that it ends the process.
    func countWork(of slot: ModuleSlot, _ change: Int) {
        gate.lane.box?.count(tasksOf: slot.number, change)
    }

    /// Returns whether a module has failed, so that it receives nothing more.
    func hasFailed(_ slot: ModuleSlot) -> Bool { gate.lane.hasFailed(slot) }

    /// Marks a module as failed: it receives nothing more.
    ///
    /// Durable events that it has not received wait until it is restarted.
    ///
    /// - Parameters:
    ///   - slot: The module.
    ///   - what: The step that failed.
    ///   - error: The reason.
    func fail(_ slot: ModuleSlot, _ what: String, _ error: any Error) {
        // At once: otherwise it would receive the next event although it has failed.
        gate.lane.fail(slot)
        app.fail(slot, what, DescribedError(error))
    }

    /// Notes that the program of a module has ended on purpose: the module receives nothing more.
    func noteDone(_ slot: ModuleSlot) {
        gate.lane.fail(slot)
        app.noteDone(slot)
    }

    /// Enters a module for work that waits where the module is overdue, and that is dropped where it is
    /// unloaded.
    ///
    /// - Parameters:
    ///   - slot: The module.
    ///   - reachesLeaving: Whether a module that is being unloaded is entered, too.
    ///   - trace: The trace that the work is a part of.
    ///   - body: Runs on the lane, or on the overdue module's own thread.
    ///   - completion: Called with the result, on any thread.
    func enter(
        _ slot: ModuleSlot, reachesLeaving: Bool = false, trace: TraceContext? = nil,
        _ body: @escaping @Sendable () throws -> Void,
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        gate.lane.enqueue(
            ModuleJob(
                gate: gate, slot: slot, reachesLeaving: reachesLeaving, trace: trace, body: body
            ) {
                [log] result in
                if case .failure(let error) = result, !(error is ModuleGone) {
                    log.of(module: slot.id?.text ?? "").error("\(error)")
                }
                completion(result)
            })
    }

    // MARK: The lane

    /// Whether the calling thread is the lane's, and so not in a module that is overdue.
    var isOnLane: Bool { gate.lane.hold != nil }

    /// Runs host code on the lane once the lane has nothing else to do; never where it is closed before.
    func whenIdle(_ body: @escaping @Sendable () -> Void) {
        gate.lane.whenIdle { _ in body() }
    }

    /// Makes the lane go on without the module that the calling thread is in, as if it took too long: the
    /// module is overdue until it returns.
    ///
    /// - Parameter again: Whether that has happened before for the same reason: then nothing is logged.
    func yieldLane(again: Bool) {
        loseLane(because: again ? .repeatedYield : .yield)
    }

    /// Makes the lane go on without the module that the calling thread is in, since it takes too long, if the thread is the
    /// lane's.
    func loseLane(because cause: TakeoverCause = .overdue) {
        guard let thread = gate.lane.hold else { return }
        _ = gate.lane.takeOver(at: thread.ownership, because: cause)
    }

    // MARK: Events that are answered later

    /// See ``Lane/open(_:_:)``.
    func open(_ slot: ModuleSlot, _ event: LifecycleEvent) -> Bool { gate.lane.open(slot, event) }

    /// See ``Lane/leaveOpen(_:_:)``.
    func leaveOpen(_ slot: ModuleSlot, _ event: LifecycleEvent) -> Bool {
        gate.lane.leaveOpen(slot, event)
    }

    /// See ``Lane/answered(_:_:)``.
    func answered(_ slot: ModuleSlot, _ event: LifecycleEvent) { gate.lane.answered(slot, event) }

    /// See ``Lane/retry(_:_:)``.
    func retry(_ slot: ModuleSlot, _ event: LifecycleEvent) -> Bool { gate.lane.retry(slot, event) }

    /// Gives the events that wait for a module their outcomes without it, since it wants them later.
    func paused(_ slot: ModuleSlot) { app.paused(slot) }

    /// See ``Lane/giveBack(_:)``.
    func giveBack(_ slot: ModuleSlot) { gate.lane.giveBack(slot) }

    /// Delivers an event that has waited to all parts of a module, on the lane and in the module.
    func deliver(_ event: LifecycleEvent, to slot: ModuleSlot) -> EventAnswer {
        app.deliver(event, to: slot)
    }

    /// Has the calling thread, which loses the lane, read what waits for a module in the inbox.
    func yieldToRead(_ slot: ModuleSlot) {
        yieldLane(again: true)
        if isOnLane { fail(slot, "restart", NoThread()) }
    }

    /// Passes the answer of a module to an event for which nothing waited to the app.
    func answered(_ slot: ModuleSlot, _ event: LifecycleEvent, _ answer: EventAnswer) {
        app.answered(slot, event, answer)
    }

    /// Notes that a module that was behind and not overdue has caught up.
    func rejoined(_ slot: ModuleSlot, missed: Int) {
        if missed > 0 { app.rejoined(slot, missed: missed) }
    }

    // MARK: The stop

    /// Whether a stop was requested.
    var isStopping: Bool { waitForStop(within: .zero) }

    /// Waits until the host is to stop.
    ///
    /// - Returns: False on a timeout.
    @discardableResult
    func waitForStop(within time: Duration) -> Bool { stopping.latch.wait(within: time) }

    /// Notes that a stop ends without a module that became unresponsive in it.
    func noteUnfinished(_ module: ModuleID) { stopping.note(unfinished: module) }

    // MARK: The inbox

    /// Submits an event to the inbox: that of this host, or for a module's process that of its host.
    ///
    /// - Parameters:
    ///   - module: The module that sends it; its events stand in the order in which they were submitted.
    ///   - onAcceptance: Called once, on any thread.
    ///   - onDelivery: Called once, on any thread, where the event was accepted; nil if no caller waits.
    func submit(
        _ record: InboxRecord, of module: ModuleID,
        onAcceptance: @escaping @Sendable (InboxSubmission.Acceptance) -> Void,
        onDelivery: (@Sendable (InboxSubmission.DeliveryResult) -> Void)? = nil
    ) {
        if isChildProcess {
            return app.submitUpstream(
                record,
                for: InboxSubmission.Sender(onAcceptance: onAcceptance, onDelivery: onDelivery))
        }
        guard let inbox else { return onAcceptance(.failed(InboxRefusal.none)) }
        inbox.submit(
            InboxSubmission(
                line: record.line, id: record.id, of: module, record: record,
                onAcceptance: { [self] acceptance in
                    if case .accepted(let position) = acceptance {
                        note(record, at: position, of: module)
                    }
                    onAcceptance(acceptance)
                }, onDelivery: onDelivery))
    }

    /// Adds an event of a trace that a module has sent to the record: its delivery comes later, from the inbox.
    private func note(_ record: InboxRecord, at position: EventPosition, of module: ModuleID) {
        guard let ring, let trace = record.trace, ring.keeps(.zero, failed: false, trace) else {
            return
        }
        ring.add(
            .sent(
                HostRecord.Sending(
                    kind: record.event.kind, topic: record.event.topic, id: record.id,
                    position: position, trace: trace.placeWithin)), of: module)
    }

    /// Moves a durable event that a module which is behind is handling to the dead letters; the module does not receive it
    /// again.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - slot: The module.
    ///   - reason: The reason, which is kept with it.
    func putAside(_ event: LifecycleEvent, of slot: ModuleSlot, because reason: String) {
        guard let inbox, gate.lane.drop(event, of: slot, because: reason) else { return }
        inbox.noteDropped()
    }
}
