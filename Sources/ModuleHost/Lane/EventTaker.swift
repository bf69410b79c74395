/// A receiver of a module's events that may answer them later: its process, or its asynchronous handlers.
///
/// Belongs to the module: called on the lane, or on the module's own thread while it is overdue.
protocol EventTaker: AnyObject {
    /// Ends the wait for the event that it has not answered: a process has the rest of its time, and a handler is cancelled.
    ///
    /// In the module, on the lane.
    func settleEvent()

    /// Goes on with what the module has not received: with one event at least.
    ///
    /// In the module; has no effect on a thread of its own, which goes on by itself.
    ///
    /// - Returns: Whether it has received anything, and may have more to receive.
    @discardableResult
    func goOn() -> Bool

    /// The end of the time in which the module receives no events, since it wants one again later; nil for none. From any thread.
    var pauseEnd: ContinuousClock.Instant? { get }
}
