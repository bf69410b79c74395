public import AppService
import Synchronization

/// The context of a module: its settings, its log, and the host's services.
///
/// A context belongs to its module and is used from the module's own code, on the lane. Only the log
/// is `Sendable`, and goes along with work that leaves the lane.
public final class ModuleContext {
    /// The module's id, from the slatefile.
    public let id: ModuleID

    /// The app's name, from the slatefile.
    public let app: String

    /// The module's log.
    ///
    /// Lines bear its id.
    public let log: Log

    /// The folder in which the host, and what is to outlast it, keeps its files.
    ///
    /// No slash at the end.
    public let stateDirectory: String

    /// Sends messages to the app's modules, in slatefile order.
    public let center: CommunicationCenter

    /// Services by protocol: those of this module for others, and those of others.
    public let services: ServiceRegistry

    /// Opens URLs.
    public let router: Router

    /// Calls actions of other modules.
    public let mediator: Mediator

    /// The functions of the host that the module may call.
    public let host: HostAccess

    let slot: ModuleSlot
    private var configValue: JSONValue?
    private var appConfigValue: JSONValue?
    /// Whether the module has read the app's settings, so that other ones concern it.
    ///
    /// The lane may ask that while the module is overdue.
    let readsAppConfig = Atomic(false)
    private var timers: [ObjectIdentifier: ModuleTimer] = [:]

    init(
        id: ModuleID, slot: ModuleSlot, app: String, config: JSONValue?, appConfig: JSONValue?,
        log: Log,
        stateDirectory: String, center: CommunicationCenter, services: ServiceRegistry,
        calls: CallChannel, host: any ModuleServices
    ) {
        self.id = id
        self.slot = slot
        self.app = app
        self.log = log
        self.stateDirectory = stateDirectory
        self.center = center
        self.services = services
        router = Router(calls)
        mediator = Mediator(calls)
        self.host = HostAccess(services: host, module: id, slot: slot)
        configValue = config
        appConfigValue = appConfig
    }

    // MARK: Settings

    /// The module's own `config`, as a `T`.
    ///
    /// A module without `config` is read as `{}`.
    ///
    /// - Parameter type: What to make of it.
    /// - Returns: The settings.
    /// - Throws: ``JSONError`` with the place in the slatefile of everything that is missing, unknown or
    ///   of the wrong type.
    public func config<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        try (configValue ?? .emptyObject).decode(type)
    }

    /// The app's `config`, as a `T`.
    ///
    /// A slatefile without one is read as `{}`.
    ///
    /// - Parameter type: What to make of it. Keys that it does not ask for are faults, so a module that
    ///   wants a part of it asks for a `[String: JSONValue]`.
    /// - Returns: The settings.
    /// - Throws: ``JSONError`` as for ``config(_:)``.
    public func appConfig<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        readsAppConfig.store(true, ordering: .relaxed)
        return try (appConfigValue ?? .emptyObject).decode(type)
    }

    /// The module's own `config`, as it is.
    var currentConfig: JSONValue { configValue ?? .emptyObject }

    /// The app's `config`, as it is.
    var currentAppConfig: JSONValue {
        readsAppConfig.store(true, ordering: .relaxed)
        return appConfigValue ?? .emptyObject
    }

    func configurationChanged(_ change: ConfigurationChange) {
        configValue = change.config
        appConfigValue = change.appConfig
    }

    // MARK: Messages

    /// Posts a message to every module that listens to its topic.
    ///
    /// - Order: Delivered once what was accepted before is; not before READY, and not any more once the
    ///   app stops.
    /// - Parameters:
    ///   - topic: What it is about, such as `user.signed-in`.
    ///   - payload: What it says, written as JSON.
    /// - Throws: ``EventError`` for an empty topic, and whatever encoding the payload throws.
    public func post(_ topic: String, _ payload: some Encodable) throws {
        try post(topic, json: JSONValue(parsing: JSONEncoding.bytes(payload)))
    }

    /// Posts a message that is its topic and no more.
    ///
    /// - Parameter topic: What it is about.
    /// - Throws: ``EventError`` for an empty topic.
    public func post(_ topic: String) throws { try post(topic, json: nil) }

    private func post(_ topic: String, json: JSONValue?) throws {
        try host.services.post(.message(topic: topic, payload: json, origin: .local(id)))
    }

    // MARK: The current event

    /// The event that the module is receiving; nil outside of one, as in a timer's tick.
    public var event: LifecycleEvent? { host.services.currentEvent(of: slot) }

    /// The position of the current event in the inbox; nil for an event that is not durable.
    ///
    /// A durable event is delivered at least once: after the host has died in it, it comes again. A module
    /// that stores this position together with the event's effect, in one transaction, and leaves out
    /// what is not beyond the position stored, acts exactly once. Nothing else does.
    public var position: EventPosition? { event?.position }

    // MARK: The host

    /// The metrics of the host, up to the current event.
    public var hostMetrics: HostMetrics { host.services.metrics }

    // MARK: Work at start-up

    /// Registers work for the start-up queue.
    ///
    /// Register in `init`: a name or a dependency that makes no sense then ends the launch with an error
    /// that names it. Later registration is allowed until the app stops.
    ///
    /// - Order: `high` tasks run before `launch` is delivered, `default` ones from then on, `low` ones
    ///   once the app is ready and the lane is idle. See ``StartupQueue``.
    /// - Thread: The work runs off the lane, beside other work, so it cannot use the module: it takes
    ///   values along. To use what it makes, see the form with `then`.
    /// - Parameters:
    ///   - name: What the task is called within this module. Everywhere else it is
    ///     `<module id>/<name>`.
    ///   - priority: How soon it is needed.
    ///   - after: Tasks that must have succeeded before: of this module by their name, of others, and where
    ///     the name has a `/` in it, by `<module id>/<name>`.
    ///   - deadline: How long it may take; nil means `startup.deadline` of the slatefile.
    ///   - required: Whether the app cannot do without it: when it fails, at whatever time, the app is
    ///     stopped and the host exits 70.
    ///   - work: What to do.
    /// - Throws: ``StartupError`` where the name is taken, or a late task waits for an unknown one.
    public func startup(
        _ name: String, priority: StartupPriority = .default, after: [String] = [],
        deadline: Duration? = nil, required: Bool = false,
        work: @escaping @Sendable () throws -> Void
    ) throws {
        try register(
            StartupTask(
                ownTask(name), priority: priority, after: after.map(task),
                deadline: deadline, required: required, work: work))
    }

    /// Registers asynchronous work for the start-up queue.
    ///
    /// - Parameters:
    ///   - name: What the task is called within this module.
    ///   - priority: How soon it is needed.
    ///   - after: Tasks that must have succeeded before.
    ///   - deadline: How long it may take.
    ///   - required: Whether the app cannot do without it.
    ///   - work: What to do, off the lane.
    /// - Throws: ``StartupError`` as for synchronous work.
    public func startup(
        _ name: String, priority: StartupPriority = .default, after: [String] = [],
        deadline: Duration? = nil, required: Bool = false,
        work: @escaping @Sendable () async throws -> Void
    ) throws {
        try register(
            StartupTask(
                ownTask(name), priority: priority, after: after.map(task),
                deadline: deadline, required: required, work: work))
    }

    /// Registers work for the start-up queue whose result the module takes on the lane.
    ///
    /// ```swift
    /// try context.startup("feed", priority: .high) {
    ///     try readFeed()          // off the lane, without the module
    /// } then: { feed in
    ///     self.feed = feed        // on the lane
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: What the task is called within this module.
    ///   - priority: How soon it is needed.
    ///   - after: Tasks that must have succeeded before.
    ///   - deadline: How long it may take, `then` included.
    ///   - required: Whether the app cannot do without it.
    ///   - work: Makes the result, off the lane.
    ///   - then: Takes the result, on the lane; what waits for the task begins afterwards. Throwing fails
    ///     the task. A task that is overdue hands nothing back.
    /// - Throws: ``StartupError`` as for work without a result.
    public func startup<Value: Sendable>(
        _ name: String, priority: StartupPriority = .default, after: [String] = [],
        deadline: Duration? = nil, required: Bool = false,
        work: @escaping @Sendable () throws -> Value, then: @escaping (Value) throws -> Void
    ) throws {
        try register(
            StartupTask(
                ownTask(name), priority: priority, after: after.map(task),
                deadline: deadline, required: required, work: work, handBack: handBack(then)))
    }

    /// Registers asynchronous work for the start-up queue whose result the module takes on the lane.
    ///
    /// - Parameters:
    ///   - name: What the task is called within this module.
    ///   - priority: How soon it is needed.
    ///   - after: Tasks that must have succeeded before.
    ///   - deadline: How long it may take, `then` included.
    ///   - required: Whether the app cannot do without it.
    ///   - work: Makes the result, off the lane.
    ///   - then: Takes the result, on the lane.
    /// - Throws: ``StartupError`` as for work without a result.
    public func startup<Value: Sendable>(
        _ name: String, priority: StartupPriority = .default, after: [String] = [],
        deadline: Duration? = nil, required: Bool = false,
        work: @escaping @Sendable () async throws -> Value, then: @escaping (Value) throws -> Void
    ) throws {
        try register(
            StartupTask(
                ownTask(name), priority: priority, after: after.map(task),
                deadline: deadline, required: required, work: work, handBack: handBack(then)))
    }

    /// Returns the full name of this module's task.
    private func ownTask(_ name: String) -> String { "\(id)/\(name)" }

    /// Returns the full name of a task that others wait for.
    private func task(_ name: String) -> String {
        name.utf8.contains(UInt8(ascii: "/")) ? name : ownTask(name)
    }

    private func register(_ task: StartupTask) throws(StartupError) {
        try host.services.register(task, of: slot)
    }

    private func handBack<Value: Sendable>(
        _ then: @escaping (Value) throws -> Void
    ) -> @Sendable (Value, StartupReceipt) -> Void {
        let confined = LaneConfined(then)
        return { [services = host.services, slot] value, receipt in
            services.enter(slot) {
                try confined.openInModule()(value)
            } completion: { result in
                switch result {
                case .success: receipt.done()
                case .failure(let error): receipt.fail(error)
                }
            }
        }
    }

    // MARK: Timers

    /// Calls the module once, after a while.
    ///
    /// - Parameters:
    ///   - delay: How long to wait.
    ///   - tick: Runs on the lane. What it throws is reported under the module's name.
    /// - Returns: The timer, to call it off. It need not be kept.
    @discardableResult
    public func timer(
        after delay: Duration, _ tick: @escaping () throws -> Void
    ) -> ModuleTimer {
        start(ModuleTimer(interval: delay, repeats: false, tick))
    }

    /// Calls the module again and again.
    ///
    /// The next interval begins when a tick has returned, so ticks never pile up. A host that is to be
    /// idle has no use for this: prefer a timer that is set when there is something to do.
    ///
    /// - Parameters:
    ///   - interval: How long to wait before each tick; at least a millisecond.
    ///   - tick: Runs on the lane. What it throws is reported under the module's name.
    /// - Returns: The timer, to call it off. It need not be kept.
    @discardableResult
    public func timer(
        every interval: Duration, _ tick: @escaping () throws -> Void
    ) -> ModuleTimer {
        start(ModuleTimer(interval: max(interval, .milliseconds(1)), repeats: true, tick))
    }

    private func start(_ timer: ModuleTimer) -> ModuleTimer {
        timers[ObjectIdentifier(timer)] = timer
        timer.onEnd = { [weak self] timer in self?.timers[ObjectIdentifier(timer)] = nil }
        timer.schedule(services: host.services, slot: slot)
        return timer
    }

    /// Calls off all that could still reach the module: it is about to be released.
    func invalidate() {
        for timer in Array(timers.values) { timer.cancel() }
        host.services.holds.endAll(of: slot)
    }
}
