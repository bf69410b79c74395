import AppService

/// The services of a host that a context needs.
protocol ModuleServices: Sendable {
    func currentEvent(of slot: ModuleSlot) -> LifecycleEvent?
    var metrics: HostMetrics { get }
    func register(_ task: StartupTask, of slot: ModuleSlot) throws(StartupError)
    func post(_ event: LifecycleEvent)

    /// The same, told once it was delivered or is not to be any more, on whatever thread.
    func post(_ event: LifecycleEvent, completion: @escaping @Sendable () -> Void)

    func apply(
        slatefile text: String, from module: ModuleID,
        _ completion: @escaping @Sendable (Result<SlatefileChange, SlatefileRefusal>) -> Void)
    var time: any TimeSource { get }
    var holds: HoldList { get }
    var deadlines: Slatefile.Deadlines { get }

    /// Whether this is one module's process, which another host leads.
    var isChildProcess: Bool { get }

    /// Puts an event into the inbox, and waits until it is there.
    func submit(_ record: InboxRecord) -> InboxSubmission.Acceptance

    /// Whether the calling thread is the lane's: it is not in a module that is overdue.
    var isOnLane: Bool { get }

    /// Runs host code on the lane once that has nothing else to do; never where it is closed first.
    func whenIdle(_ body: @escaping @Sendable () -> Void)

    /// Has the lane go on without the module that the calling thread is in, as where that takes too long:
    /// the module is overdue until it returns.
    ///
    /// - Parameter again: Whether that has been so before for the same reason: then nothing is said of it.
    func yieldLane(again: Bool)

    /// Waits until the host is to stop.
    ///
    /// - Returns: False where time was up.
    @discardableResult
    func waitForStop(within time: Duration) -> Bool

    /// Moves to the dead letters the durable event that an overdue module handles, which is not to receive it again.
    ///
    /// - Parameters:
    ///   - slot: The module.
    ///   - reason: The reason, which is kept with it.
    /// - Returns: False where it handles none, or is not overdue.
    func putAsideEventInHand(of slot: ModuleSlot, because reason: String) -> Bool

    /// Gives a module up: it gets nothing more. What it has not received yet of the durable events is moved to the dead letters.
    ///
    /// - Parameters:
    ///   - slot: The module.
    ///   - what: What failed.
    ///   - error: Why.
    func fail(_ slot: ModuleSlot, _ what: String, _ error: any Error)

    /// Enters a module for something that waits where the module is overdue, and that is dropped where it
    /// is gone.
    ///
    /// - Parameters:
    ///   - slot: The module.
    ///   - body: Runs on the lane, or on the overdue module's own thread.
    ///   - completion: Told what came of it, on whatever thread.
    func enter(
        _ slot: ModuleSlot, _ body: @escaping @Sendable () throws -> Void,
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void)
}
