extension Lane {
    /// The functions of the host that the lane calls.
    struct Hooks: Sendable {
        /// Modules became overdue.
        ///
        /// On the lane.
        var onTakeover: @Sendable (TakeoverReport, LaneThread) -> Void = { _, _ in }
        /// A module that was overdue has caught up.
        ///
        /// On the lane.
        var onRejoined: @Sendable (ModuleSlot, _ missed: Int, LaneThread) -> Void = { _, _, _ in }
        /// The same, where the lane was closed before it came to that.
        ///
        /// On whatever thread; where it had caught up before the lane was closed, before ``close()`` returns.
        var onRejoinedAtEnd: @Sendable (ModuleSlot, _ missed: Int) -> Void = { _, _ in }
        /// A thread that was stuck has returned, and its modules have caught up or are gone.
        ///
        /// On the lane.
        var onReturned: @Sendable (LaneThread) -> Void = { _ in }
        /// The lane was closed, and this is the last that happens on it.
        ///
        /// On the lane.
        var onClosed: @Sendable (LaneThread) -> Void = { _ in }
        /// Delivers an event of the log to an overdue module.
        ///
        /// On the thread that was stuck.
        ///
        /// The members are those that the last call for this module has found; nil at first. False where the
        /// lane was closed first: the module has not received the event.
        var deliverOverdue: @Sendable (LifecycleEvent, ModuleSlot, inout OverdueMembers?) -> Bool =
            {
                _, _, _ in true
            }
        /// Reads an event from the inbox, at a place where one begins; without one where nothing can be
        /// read, without an event where what stands there is none.
        ///
        /// On the thread that was stuck.
        var readOverdue: @Sendable (EventPosition) -> (entry: InboxEntry?, event: LifecycleEvent?) =
            {
                _ in (nil, nil)
            }
        /// A module has a durable event that it has not received: the first one, and whether it was notified of
        /// it; nil where there is none any more.
        ///
        /// Under the lane's lock, before any thread goes on.
        var onUndelivered: @Sendable (ModuleSlot, EventPosition?, _ isBegun: Bool) -> Void = {
            _, _, _ in
        }
        /// A module takes too long, and there is no thread to go on without it.
        ///
        /// On the watchdog's thread, once for a delivery.
        var onNoThread: @Sendable (ModuleSlot?, SystemError) -> Void = { _, _ in }
        /// Makes the thread that goes on where another is stuck.
        var makeStandbyThread: @Sendable () throws(SystemError) -> StandbyThread = {
            () throws(SystemError) in try StandbyThread()
        }
        /// A module threw.
        ///
        /// On the lane.
        var onFailure: @Sendable (ModuleSlot, any Error) -> Void = { _, _ in }
        /// An overdue module threw after the lane had been taken from it.
        ///
        /// On the thread that was stuck.
        var onOverdueFailure: @Sendable (ModuleSlot, any Error) -> Void = { _, _ in }
    }
}
