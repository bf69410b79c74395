import AppService

extension HostServices {
    /// Creates the services for the context of a module.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - reload: The reload for which the module is created, if there is one.
    convenience init(of host: AppHost, for reload: ReloadTransaction? = nil) {
        self.init(
            gate: host.gate, workers: host.workers, time: host.time, holds: host.holds,
            stateDirectory: host.stateDirectory, isChildProcess: host.role.upstream != nil,
            hostID: host.inbox?.hostID ?? host.role.upstream?.hostID,
            log: host.log, inbox: host.inbox, ring: host.ring,
            stopping: host.stopping,
            app: AppOfContext(host, reload))
    }
}

extension AppHost {
    func mayReceive(_ event: LifecycleEvent, by module: ModuleID) -> Bool {
        slatefile.modules.first { $0.id == module }
            .map { ModuleDemands(of: $0).mayReceive(event) } ?? true
    }
}

private struct AppOfContext: ContextApp {
    private let reference: WeakHost
    private let startup: StartupQueue
    /// The start-up tasks of a module that is created for a reload, kept until all modules are created, since
    /// tasks may name each other in any order; and its messages, kept until the reload is committed or rolled
    /// back.
    private let staged: (tasks: DeferredQueue<StartupTask>, posts: DeferredQueue<EventRequest>)?

    init(_ host: AppHost, _ reload: ReloadTransaction?) {
        reference = host.reference
        startup = host.startup
        staged = reload.map { ($0.tasks, $0.posts) }
    }

    var metrics: HostMetrics { reference.host?.metrics.withLock { $0 } ?? HostMetrics() }

    func readMetrics(_ completion: @escaping @Sendable (MetricsDocument?) -> Void) {
        guard let host = reference.host else { return completion(nil) }
        host.readMetricsDocument(completion)
    }

    var deadlines: Slatefile.Deadlines { reference.host?.deadlines ?? .init() }

    func register(_ task: StartupTask) throws(StartupError) {
        if staged?.tasks.keep(task) != true { try startup.register(task) }
    }

    func post(_ event: LifecycleEvent, completion: @escaping @Sendable () -> Void) {
        guard let host = reference.host, !host.role.take(event) else { return completion() }
        guard event.kind.stateChange == nil else {
            host.deliver(event)
            return completion()
        }
        // Called when the request is released.
        let request = EventRequest.event(event, CallCompletion { _ in completion() })
        if staged?.posts.keep(request) != true { host.enqueue(request) }
    }

    func submitUpstream(_ record: InboxRecord, for sender: InboxSubmission.Sender) {
        if reference.host?.role.submit(record, for: sender) != true {
            sender.onAcceptance(.failed(InboxRefusal.ending))
        }
    }

    func fail(_ slot: ModuleSlot, _ what: String, _ error: any Error) {
        reference.host?.onLane { app, _ in
            if let record = app.record(of: slot) {
                app.markFailed(record, what, error)
            } else {
                app.reloads.current?.stagedFailed(slot, what, error)
            }
        }
    }

    func deliver(_ event: LifecycleEvent, to slot: ModuleSlot) -> EventAnswer {
        reference.host?.deliver(event, to: slot) ?? .none
    }

    func answered(_ slot: ModuleSlot, _ event: LifecycleEvent, _ answer: EventAnswer) {
        reference.host?.onLane { app, _ in app.answered(slot, event, answer) }
    }

    func paused(_ slot: ModuleSlot) {
        reference.host?.onLane { app, _ in app.leavePausedEvents(of: slot) }
    }

    func rejoined(_ slot: ModuleSlot, missed: Int) {
        reference.host?.onLane { app, _ in app.rejoined(slot, missed: missed) }
    }

    func noteDone(_ slot: ModuleSlot) {
        reference.host?.onLane { app, _ in app.record(of: slot).map(app.markDone) }
    }

    func apply(
        slatefile text: String, probation: Duration?, from module: ModuleID,
        _ completion: @escaping @Sendable (Result<SlatefileChange, SlatefileRefusal>) -> Void
    ) {
        guard let host = reference.host else { return completion(.failure(.stopped)) }
        guard let exchange = host.slatefileExchange else { return completion(.failure(.noFile)) }
        exchange(text, probation, module, completion)
    }
}
