/// The reason why the lane is taken from its thread.
enum TakeoverCause: Sendable {
    /// A module is past its deadline.
    case overdue
    /// The module yields the lane itself, and has logged the reason.
    case yield
    /// The module yields again and again for the same reason, which was logged.
    case repeatedYield
}

/// The modules that became overdue in one takeover, and the circumstances.
struct TakeoverReport: Sendable {
    /// The modules on the stuck stack, outermost first.
    ///
    /// All are overdue; the last one did not return.
    let slots: [ModuleSlot]
    /// The innermost module on the stack, if it was unloaded: what it has left behind still runs.
    let unloaded: ModuleID?
    let cause: TakeoverCause
    /// The job of the thread that lost the lane.
    let job: (any LaneJob)?
}
