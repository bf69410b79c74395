/// A piece of work for the lane.
///
/// It lies on the heap, so that another thread can continue it.
protocol LaneJob: Sendable {
    /// The deadline of the module code that this job enters.
    var limit: DeliveryLimit { get }

    /// The current event, where the job delivers one.
    var event: LifecycleEvent? { get }

    /// The event that a module sees as the current one while the job enters it.
    ///
    /// Differs from ``event`` only where one module alone is notified: then nothing waits in the log for
    /// others.
    var currentEvent: LifecycleEvent? { get }

    /// The entry of the inbox that is not done until the current module has returned.
    var durableEvent: InboxEntry? { get }

    /// Whether the job was accepted from outside or posted by a module, so that a stop may drop it where the
    /// modules take too long for the jobs before it.
    var isDroppable: Bool { get }

    /// Does the work, or continues it on another thread.
    ///
    /// - Parameters:
    ///   - thread: The calling thread, which owns the lane. Once it loses the lane (see
    ///     ``Gate/Outcome/lost``) it must not access the state of the lane.
    ///   - slot: 0 to begin; else the number of the slot at which another thread was stuck: the work
    ///     continues after it.
    func run(on thread: LaneThread, after slot: UInt16)

    /// Called instead of `run` where the lane was closed before, or the job was dropped.
    func abandon()

    /// Called if the lane is closed while the job runs: a thread that waits for its result stops waiting.
    ///
    /// From any thread, while `run` may go on.
    func abandonInHand()
}

extension LaneJob {
    var limit: DeliveryLimit { .event }
    var event: LifecycleEvent? { nil }
    var currentEvent: LifecycleEvent? { event }
    var durableEvent: InboxEntry? { event?.entry }
    var isDroppable: Bool { false }
    func abandon() {}
    func abandonInHand() {}
}

/// The deadline of the slatefile that applies to a delivery.
enum DeliveryLimit: Hashable, Sendable {
    /// `deadlines.event`, or the module's own.
    case event
    /// `deadlines.launch`: for creating a module and for `launch`.
    case launch
    /// `deadlines.stop`: for the events of a stop and for unloading a module.
    case stop
}

/// Host code to run on the lane.
struct LaneWork: LaneJob {
    var limit: DeliveryLimit = .event
    var currentEvent: LifecycleEvent?
    let body: @Sendable (LaneThread) -> Void
    var onAbandon: (@Sendable () -> Void)?

    func run(on thread: LaneThread, after slot: UInt16) {
        // Work that was begun on a thread that then was stuck is not begun again.
        if slot == 0 { body(thread) }
    }

    func abandon() { onAbandon?() }
}
