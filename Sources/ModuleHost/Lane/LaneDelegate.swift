/// The host of a lane.
///
/// The lane keeps its delegate alive.
protocol LaneDelegate: Sendable {
    /// Called when a module exceeds its deadline, before the lane is taken from it.
    ///
    /// On the thread of the watchdog's alarm, once for a delivery if it returns true.
    ///
    /// - Returns: Whether the delegate handles that itself: the lane is not taken.
    func reportUnresponsive() -> Bool

    /// Called when modules became overdue, on the lane.
    func tookOver(_ report: TakeoverReport, on thread: LaneThread)

    /// Called when a module that was overdue has caught up, on the lane.
    func rejoined(_ slot: ModuleSlot, missed: Int, on thread: LaneThread)

    /// Called when a module that was overdue has caught up, if the lane was closed before that.
    ///
    /// On any thread; if the module had caught up before the lane was closed, before ``Lane/close()`` returns.
    func rejoinedAtEnd(_ slot: ModuleSlot, missed: Int)

    /// Called when a thread that was stuck has returned, and its modules have caught up or were unloaded; on the lane.
    func returned(on thread: LaneThread)

    /// Called when the lane was closed, as the last work on it.
    func closed(on thread: LaneThread)

    /// Delivers an event from its mailbox to an overdue module, on the thread that was stuck.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - slot: The module.
    ///   - members: The members that the last call for this module has found; nil at first.
    /// - Returns: False if the lane was closed first: the module has not received the event.
    func deliverOverdue(
        _ event: LifecycleEvent, to slot: ModuleSlot, _ members: inout OverdueMembers?
    ) -> Bool

    /// Reads an event from the inbox, on the thread that was stuck.
    ///
    /// - Parameter position: The position of the record.
    /// - Returns: nil for both if nothing can be read; nil for the event if the record is not an event.
    func readOverdue(at position: EventPosition) -> (entry: InboxEntry?, event: LifecycleEvent?)

    /// Notes the durable events that a module has not received; nil if there are none any more.
    ///
    /// Under the lane's lock, before any thread goes on.
    func noteUndelivered(_ slot: ModuleSlot, _ events: UndeliveredEvents?)

    /// Reports a module that takes too long, and without which no thread can be started to go on.
    ///
    /// On the thread of the watchdog's alarm, once for a delivery.
    func hasNoThread(besides slot: ModuleSlot?, _ error: SystemError)

    /// Creates the thread that goes on in the place of a stuck one.
    func makeStandbyThread() throws(SystemError) -> StandbyThread

    /// Reports an error that a module threw on the lane.
    func failed(_ slot: ModuleSlot, _ error: any Error)

    /// Reports an error that an overdue module threw after the lane had been taken from it, on the thread that was
    /// stuck.
    func failedOverdue(_ slot: ModuleSlot, _ error: any Error)
}

extension LaneDelegate {
    func makeStandbyThread() throws(SystemError) -> StandbyThread { try StandbyThread() }
}
