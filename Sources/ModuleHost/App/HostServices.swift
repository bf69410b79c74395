import AppService

/// The services of a host for the context of a module.
///
/// It has no strong reference to the host: a module that an overdue stop left behind keeps its context, and
/// would keep everything else alive.
struct HostServices: ModuleServices {
    let gate: Gate
    let workers: WorkerPool
    let startup: StartupQueue
    let log: Log
    let time: any TimeSource
    let holds: HoldList
    let stateDirectory: String
    let isChildProcess: Bool
    private let inbox: Inbox?
    private let stopping: HostStop
    /// The start-up tasks of a module that is created for a reload, kept until all modules are created, since
    /// tasks may name each other in any order; and its messages, kept until the reload is committed or rolled
    /// back.
    private let staged: (tasks: DeferredQueue<StartupTask>, posts: DeferredQueue<EventRequest>)?
    private let reference = WeakHost()

    /// - Parameters:
    ///   - host: The host.
    ///   - reload: The reload for which the module is created, if there is one.
    init(of host: AppHost, for reload: ReloadTransaction? = nil) {
        staged = reload.map { ($0.tasks, $0.posts) }
        gate = host.gate
        workers = host.workers
        startup = host.startup
        log = host.log
        time = host.time
        holds = host.holds
        stateDirectory = host.stateDirectory
        inbox = host.inbox
        isChildProcess = host.role.upstream != nil
        stopping = host.stopping
        reference.set(host)
    }

    func currentEvent(of slot: ModuleSlot) -> LifecycleEvent? { gate.lane.currentEvent(of: slot) }

    func place(for slot: ModuleSlot) -> ModulePlace {
        ModulePlace(gate: gate, slot: slot, workers: workers, time: time)
    }

    var metrics: HostMetrics { reference.host?.metrics.withLock { $0 } ?? HostMetrics() }

    func register(_ task: StartupTask, of slot: ModuleSlot) throws(StartupError) {
        var task = task
        if let box = gate.lane.box {
            // The slot, and not its number alone: while the task may run, the slot belongs to no other
            // module.
            task.observeWork { box.count(tasksOf: slot.number, $0 ? 1 : -1) }
        }
        if staged?.tasks.keep(task) != true { try startup.register(task) }
    }

    func hasFailed(_ slot: ModuleSlot) -> Bool { gate.lane.hasFailed(slot) }

    func countWork(of slot: ModuleSlot, _ change: Int) {
        gate.lane.box?.count(tasksOf: slot.number, change)
    }

    func post(_ event: LifecycleEvent, completion: @escaping @Sendable () -> Void) {
        guard let host = reference.host, !host.role.take(event) else { return completion() }
        guard event.kind.stateChange == nil else {
            host.deliver(event)
            return completion()
        }
        // Called when the request is released.
        enqueue(.event(event, CallCompletion { _ in completion() }), in: host)
    }

    private func enqueue(_ request: EventRequest, in host: AppHost) {
        if staged?.posts.keep(request) != true { host.enqueue(request) }
    }

    var deadlines: Slatefile.Deadlines { reference.host?.deadlines ?? .init() }

    func submit(_ record: InboxRecord) -> InboxSubmission.Acceptance {
        guard let inbox else { return .failed(InboxRefusal.none) }
        let fate = BlockingFuture<InboxSubmission.Acceptance>()
        inbox.submit(
            InboxSubmission(line: record.line, id: record.id, record: record) { fate.keep($0) })
        return fate.take() ?? .failed(InboxRefusal.ending)
    }

    var isOnLane: Bool { gate.lane.hold != nil }

    func whenIdle(_ body: @escaping @Sendable () -> Void) {
        gate.lane.whenIdle { _ in body() }
    }

    func yieldLane(again: Bool) {
        guard let thread = gate.lane.hold else { return }
        _ = gate.lane.takeOver(at: thread.ownership, because: again ? .repeatedYield : .yield)
    }

    func waitForStop(within time: Duration) -> Bool { stopping.latch.wait(within: time) }

    func noteUnfinished(_ module: ModuleID) { stopping.note(unfinished: module) }

    func putAsideEventInHand(of slot: ModuleSlot, because reason: String) -> Bool {
        guard let inbox, gate.lane.dropCurrentEvent(of: slot, because: reason) else {
            return false
        }
        inbox.noteDropped()
        return true
    }

    func fail(_ slot: ModuleSlot, _ what: String, _ error: any Error) {
        let error = DescribedError(error)
        // At once: otherwise it would receive the next event although it has failed.
        gate.lane.fail(slot)
        reference.host?.onLane { app, _ in
            if let record = app.record(of: slot) {
                app.markFailed(record, what, error)
            } else {
                app.reloads.current?.stagedFailed(slot, what, error)
            }
        }
    }

    func apply(
        slatefile text: String, from module: ModuleID,
        _ completion: @escaping @Sendable (Result<SlatefileChange, SlatefileRefusal>) -> Void
    ) {
        guard let host = reference.host else { return completion(.failure(.stopped)) }
        guard let exchange = host.slatefileExchange else { return completion(.failure(.noFile)) }
        exchange(text, module, completion)
    }

    func enter(
        _ slot: ModuleSlot, reachesLeaving: Bool, _ body: @escaping @Sendable () throws -> Void,
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        gate.lane.enqueue(
            ModuleJob(gate: gate, slot: slot, reachesLeaving: reachesLeaving, body: body) {
                [log] result in
                if case .failure(let error) = result, !(error is ModuleGone) {
                    log.of(module: slot.id?.text ?? "").error("\(error)")
                }
                completion(result)
            })
    }
}
