extension Lane {
    /// The functions of the host that the lane calls.
    struct Hooks: Sendable {
        /// Called in place of a takeover when a module exceeds its deadline; nil to take the lane over.
        ///
        /// On the thread of the watchdog's alarm, once for a delivery.
        var onUnresponsive: (@Sendable () -> Void)?
        /// Called when modules became overdue.
        ///
        /// On the lane.
        var onTakeover: @Sendable (TakeoverReport, LaneThread) -> Void = { _, _ in }
        /// Called when a module that was overdue has caught up.
        ///
        /// On the lane.
        var onRejoined: @Sendable (ModuleSlot, _ missed: Int, LaneThread) -> Void = { _, _, _ in }
        /// Called when a module that was overdue has caught up, where the lane was closed before that.
        ///
        /// On any thread; where the module had caught up before the lane was closed, before ``close()``
        /// returns.
        var onRejoinedAtEnd: @Sendable (ModuleSlot, _ missed: Int) -> Void = { _, _ in }
        /// Called when a thread that was stuck has returned, and its modules have caught up or were unloaded.
        ///
        /// On the lane.
        var onReturned: @Sendable (LaneThread) -> Void = { _ in }
        /// Called when the lane was closed, as the last work on it.
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
        /// Reads an event from the inbox, at the position of a record.
        ///
        /// Both results are nil where nothing can be read; the event is nil where the record is not an event.
        /// On the thread that was stuck.
        var readOverdue: @Sendable (EventPosition) -> (entry: InboxEntry?, event: LifecycleEvent?) =
            {
                _ in (nil, nil)
            }
        /// Called with the first durable event that a module has not received, and whether the module was
        /// notified of it; nil where there is none any more.
        ///
        /// Under the lane's lock, before any thread goes on.
        var onUndelivered: @Sendable (ModuleSlot, EventPosition?, _ isBegun: Bool) -> Void = {
            _, _, _ in
        }
        /// Called when a module takes too long, and no thread can be started to go on without it.
        ///
        /// On the thread of the watchdog's alarm, once for a delivery.
        var onNoThread: @Sendable (ModuleSlot?, SystemError) -> Void = { _, _ in }
        /// Creates the thread that goes on where another is stuck.
        var makeStandbyThread: @Sendable () throws(SystemError) -> StandbyThread = {
            () throws(SystemError) in try StandbyThread()
        }
        /// Called with an error that a module threw.
        ///
        /// On the lane.
        var onFailure: @Sendable (ModuleSlot, any Error) -> Void = { _, _ in }
        /// Called with an error that an overdue module threw after the lane had been taken from it.
        ///
        /// On the thread that was stuck.
        var onOverdueFailure: @Sendable (ModuleSlot, any Error) -> Void = { _, _ in }
    }
}
