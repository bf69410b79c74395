/// The host that has started this process for one of its modules: it sends events, and receives their outcomes.
///
/// A host that runs an app of its own has none.
protocol UpstreamHost: UpstreamCalls {
    /// Its requests, which the lane serves while a call waits.
    var input: any LaneInput { get }

    /// Notes the host of this process, which it drives from then on.
    func set(_ host: Host)

    /// Reports that the module was created and its `high` start-up tasks are done, or that one of them failed.
    func made(_ app: RunningApp)

    /// Reports what the module threw in an event.
    func failed(_ event: LifecycleEvent, _ error: any Error)

    /// Reports the end of an event.
    func ended(_ event: LifecycleEvent, _ tally: EventTally)

    /// Hands over a message of the module. On any thread.
    func post(_ event: LifecycleEvent)
}
