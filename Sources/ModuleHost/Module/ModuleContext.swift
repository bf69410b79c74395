public import AppService
import Synchronization

/// The context of a module: its settings, its log, and the host's services.
///
/// A context belongs to its module and is used from the module's own code, on the lane. Only the log is
/// `Sendable`, and may be captured by work that leaves the lane.
public final class ModuleContext {
    /// The module's id, from the slatefile.
    public let id: ModuleID

    /// The app's name, from the slatefile.
    public let app: String

    /// The module's log.
    ///
    /// Lines bear its id.
    public let log: Log

    /// The folder of the host's files, and of files of modules that are to outlive the host.
    ///
    /// No slash at the end.
    public let stateDirectory: String

    /// The center that sends messages to the app's modules, in slatefile order.
    public let center: CommunicationCenter

    /// The registry of services by protocol: those of this module for others, and those of others.
    public let services: ServiceRegistry

    /// The router, which opens URLs.
    public let router: Router

    /// The mediator, which calls actions of other modules.
    public let mediator: Mediator

    /// The functions of the host that the module may call.
    public let host: HostAccess

    let slot: ModuleSlot
    private var configValue: JSONValue?
    private var appConfigValue: JSONValue?
    /// Whether the module has read the app's settings, so that changes of them concern it.
    ///
    /// The lane may read this while the module is overdue.
    let readsAppConfig = Atomic(false)
    private let posted = PostedEvents()
    private var createdPlace: ModulePlace?
    private var timers: [ObjectIdentifier: ModuleTimer] = [:]

    init(
        id: ModuleID, slot: ModuleSlot, app: String, config: JSONValue?, appConfig: JSONValue?,
        log: Log,
        stateDirectory: String, center: CommunicationCenter, services: ServiceRegistry,
        calls: CallChannel, host: HostServices
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

    /// Returns the module's own `config`, decoded as a `T`.
    ///
    /// A module without `config` is read as `{}`.
    ///
    /// - Parameter type: The type to decode.
    /// - Returns: The settings.
    /// - Throws: ``JSONError`` with the place in the slatefile of every value that is missing, unknown or of
    ///   the wrong type.
    public func config<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        try (configValue ?? .emptyObject).decodeReportingAll(type)
    }

    /// Returns the app's `config`, decoded as a `T`.
    ///
    /// A slatefile without one is read as `{}`.
    ///
    /// - Parameter type: The type to decode. Keys that it does not ask for are errors, so a module that needs
    ///   only a part decodes a `[String: JSONValue]`.
    /// - Returns: The settings.
    /// - Throws: ``JSONError`` as for ``config(_:)``.
    public func appConfig<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        readsAppConfig.store(true, ordering: .relaxed)
        return try (appConfigValue ?? .emptyObject).decodeReportingAll(type)
    }

    /// The module's own `config`, not decoded.
    var currentConfig: JSONValue { configValue ?? .emptyObject }

    /// The app's `config`, not decoded.
    var currentAppConfig: JSONValue {
        readsAppConfig.store(true, ordering: .relaxed)
        return appConfigValue ?? .emptyObject
    }

    func configurationChanged(_ change: ConfigurationChange) {
        configValue = change.config
        appConfigValue = change.appConfig
    }

    // MARK: Messages

    /// Posts a message to every module that receives its topic.
    ///
    /// - Order: Delivered after everything accepted before; not before READY, and not any more once the app
    ///   stops.
    /// - Limit: At most 16 384 messages of a module, and 8 MiB of them, are yet to be delivered. None is delivered
    ///   before the current event or call is over.
    /// - Parameters:
    ///   - topic: The topic, such as `user.signed-in`.
    ///   - payload: The payload, encoded as JSON.
    /// - Throws: ``EventError`` for an empty topic and beyond the limit, and any error of encoding the payload.
    public func post(_ topic: String, _ payload: some Encodable) throws {
        try post(topic, json: JSONValue(parsing: JSONEncoding.bytes(payload)))
    }

    /// Posts a message that consists of its topic alone.
    ///
    /// - Parameter topic: The topic.
    /// - Throws: ``EventError`` for an empty topic and beyond the limit.
    public func post(_ topic: String) throws { try post(topic, json: nil) }

    private func post(_ topic: String, json: JSONValue?) throws {
        let event = try LifecycleEvent.message(
            topic: topic, payload: json, origin: .local(id)
        ).traced(by: host.services.gate.lane.currentTrace)
        let footprint = event.footprint
        if let limit = posted.enter(footprint) {
            throw EventError(.message, .tooManyPosted(limit))
        }
        host.services.post(event) { [posted] in posted.leave(footprint) }
    }

    // MARK: The current event

    /// The event that the module is receiving; nil outside an event, as in a timer's tick.
    ///
    /// In an asynchronous handler, also behind a suspension.
    public var event: LifecycleEvent? {
        HandledEvent.current(of: slot) ?? host.services.currentEvent(of: slot)
    }

    /// The position of the current event in the inbox; nil for an event that is not durable.
    ///
    /// A durable event is delivered at least once: after the host has died in it, it is delivered again. A
    /// module that stores this position together with the event's effect, in one transaction, and skips
    /// events that are not beyond the stored position, acts exactly once. No other method achieves that.
    public var position: EventPosition? { event?.position }

    /// The place in a distributed trace of what the module is doing: the `traceparent`, as W3C Trace Context has it, of the
    /// event, call or result that it handles; nil for none.
    ///
    /// Messages, events and calls of the module meanwhile have it, too.
    public var traceparent: String? { host.services.gate.lane.currentTrace?.text }

    // MARK: The host

    /// The id of the host: 16 hexadecimal digits, made once for an inbox; nil in a host without one, and where the disk did
    /// not take it.
    ///
    /// Together with it the ``position`` of an event is unique among all hosts, as long as no state directory is copied.
    public var hostID: String? { host.services.hostID }

    /// The metrics of the host, up to the current event.
    public var hostMetrics: HostMetrics { host.services.metrics }

    // MARK: Work at start-up

    /// Registers work for the start-up queue.
    ///
    /// Register in `init`: a name or a dependency that is not valid then ends the launch with an error that
    /// names it. Later registration is allowed until the app stops.
    ///
    /// - Order: `high` tasks run before `launch` is delivered, `default` ones from then on, `low` ones once
    ///   the app is ready and the lane is idle. See ``StartupQueue``.
    /// - Thread: The work runs off the lane, beside other work, so it cannot use the module: it captures
    ///   values. To use its result, see the form with `then`.
    /// - Parameters:
    ///   - name: The name of the task within this module. Everywhere else it is `<module id>/<name>`.
    ///   - priority: How soon it is needed.
    ///   - after: Tasks that must have succeeded before: of this module by their name, of others, and where
    ///     the name has a `/` in it, by `<module id>/<name>`.
    ///   - deadline: How long it may take; nil means `startup.deadline` of the slatefile.
    ///   - required: Whether the app requires it: when it fails, at any time, the app is stopped and the host
    ///     exits 70.
    ///   - work: The work.
    /// - Throws: ``StartupError`` where the name is taken, or a task registered later waits for an unknown
    ///   one.
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
    ///   - name: The name of the task within this module.
    ///   - priority: How soon it is needed.
    ///   - after: Tasks that must have succeeded before.
    ///   - deadline: How long it may take.
    ///   - required: Whether the app requires it.
    ///   - work: The work, off the lane.
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
    ///   - name: The name of the task within this module.
    ///   - priority: How soon it is needed.
    ///   - after: Tasks that must have succeeded before.
    ///   - deadline: How long it may take, `then` included.
    ///   - required: Whether the app requires it.
    ///   - work: Produces the result, off the lane.
    ///   - then: Receives the result, on the lane; tasks that wait for this one begin afterwards. Throwing
    ///     fails the task. A task that is overdue hands nothing back.
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
    ///   - name: The name of the task within this module.
    ///   - priority: How soon it is needed.
    ///   - after: Tasks that must have succeeded before.
    ///   - deadline: How long it may take, `then` included.
    ///   - required: Whether the app requires it.
    ///   - work: Produces the result, off the lane.
    ///   - then: Receives the result, on the lane.
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

    /// Calls the module once, after a delay.
    ///
    /// - Parameters:
    ///   - delay: The delay.
    ///   - tick: Runs on the lane. An error that it throws is reported under the module's name.
    /// - Returns: The timer, which can cancel it. It need not be kept.
    @discardableResult
    public func timer(
        after delay: Duration, _ tick: @escaping () throws -> Void
    ) -> ModuleTimer {
        start(ModuleTimer(interval: delay, repeats: false, tick))
    }

    /// Calls the module repeatedly.
    ///
    /// The next interval begins when a tick has returned, so ticks never accumulate. It keeps a host from
    /// being idle: prefer a timer that is set when there is work to do.
    ///
    /// - Parameters:
    ///   - interval: The time before each tick; at least a millisecond.
    ///   - tick: Runs on the lane. An error that it throws is reported under the module's name.
    /// - Returns: The timer, which can cancel it. It need not be kept.
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

    /// Whether a timer of the module will tick.
    var hasTimers: Bool { !timers.isEmpty }

    // MARK: Asynchronous code

    /// Whether there are calls that are not answered, work off the lane, or a long-running task.
    var hasPendingWork: Bool { (createdPlace?.pendingCount ?? 0) > 0 }

    /// The isolation of the module's asynchronous code, created when it is first needed.
    var place: ModulePlace {
        if let createdPlace { return createdPlace }
        let place = host.services.place(for: slot)
        createdPlace = place
        return place
    }

    /// Returns the longest time until an answer that comes later.
    func callDeadline(_ own: Duration? = nil) -> Duration {
        own ?? host.services.deadlines.call
    }

    var time: any TimeSource { host.services.time }

    /// Cancels everything that could still reach the module: it is about to be released.
    func invalidate() {
        for timer in Array(timers.values) { timer.cancel() }
        createdPlace?.close()
        host.services.holds.endAll(of: slot)
    }
}
