import AppService

/// The services of a host that posted events need.
protocol PostingServices: Sendable {
    /// Posts an event; `completion` is called once it was delivered or will not be any more, on any thread.
    func post(_ event: LifecycleEvent, completion: @escaping @Sendable () -> Void)

    var time: any TimeSource { get }
}

/// The services of a host that a context needs.
protocol ModuleServices: PostingServices {
    func currentEvent(of slot: ModuleSlot) -> LifecycleEvent?
    var metrics: HostMetrics { get }

    /// Creates the isolation of a module's asynchronous code.
    func place(for slot: ModuleSlot) -> ModulePlace

    /// The threads of code of modules that is not on the lane.
    var workers: WorkerPool { get }

    /// Notes that code of a module begins or ends to run off the lane, for the case that it ends the process.
    func countWork(of slot: ModuleSlot, _ change: Int)

    /// Returns whether a module has failed, so that it receives nothing more.
    func hasFailed(_ slot: ModuleSlot) -> Bool

    func register(_ task: StartupTask, of slot: ModuleSlot) throws(StartupError)
    func apply(
        slatefile text: String, from module: ModuleID,
        _ completion: @escaping @Sendable (Result<SlatefileChange, SlatefileRefusal>) -> Void)
    var holds: HoldList { get }
    var deadlines: Slatefile.Deadlines { get }

    /// Whether this is one module's process, which another host controls.
    var isChildProcess: Bool { get }

    /// Submits an event to the inbox, and waits until it is accepted.
    func submit(_ record: InboxRecord) -> InboxSubmission.Acceptance

    /// Whether the calling thread is the lane's, and so not in a module that is overdue.
    var isOnLane: Bool { get }

    /// Runs host code on the lane once the lane has nothing else to do; never where it is closed before.
    func whenIdle(_ body: @escaping @Sendable () -> Void)

    /// Makes the lane go on without the module that the calling thread is in, as if it took too long: the
    /// module is overdue until it returns.
    ///
    /// - Parameter again: Whether that has happened before for the same reason: then nothing is logged.
    func yieldLane(again: Bool)

    /// Notes that a stop ends without a module that became unresponsive in it.
    func noteUnfinished(_ module: ModuleID)

    /// Waits until the host is to stop.
    ///
    /// - Returns: False on a timeout.
    @discardableResult
    func waitForStop(within time: Duration) -> Bool

    /// Moves the durable event that an overdue module is handling to the dead letters; the module does not
    /// receive it again.
    ///
    /// - Parameters:
    ///   - slot: The module.
    ///   - reason: The reason, which is kept with it.
    /// - Returns: False where it is not handling one, or is not overdue.
    func putAsideEventInHand(of slot: ModuleSlot, because reason: String) -> Bool

    /// Marks a module as failed: it receives nothing more. Durable events that it has not received wait until
    /// it is restarted.
    ///
    /// - Parameters:
    ///   - slot: The module.
    ///   - what: The step that failed.
    ///   - error: The reason.
    func fail(_ slot: ModuleSlot, _ what: String, _ error: any Error)

    /// Enters a module for work that waits where the module is overdue, and that is dropped where it is
    /// unloaded.
    ///
    /// - Parameters:
    ///   - slot: The module.
    ///   - reachesLeaving: Whether a module that is being unloaded is entered, too.
    ///   - body: Runs on the lane, or on the overdue module's own thread.
    ///   - completion: Called with the result, on any thread.
    func enter(
        _ slot: ModuleSlot, reachesLeaving: Bool, _ body: @escaping @Sendable () throws -> Void,
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void)
}

extension ModuleServices {
    /// Whether a stop was requested.
    var isStopping: Bool { waitForStop(within: .zero) }

    /// Enters a module, unless it is being unloaded.
    func enter(
        _ slot: ModuleSlot, _ body: @escaping @Sendable () throws -> Void,
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        enter(slot, reachesLeaving: false, body, completion: completion)
    }
}
