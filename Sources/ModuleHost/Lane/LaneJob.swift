/// A piece of work for the lane.
///
/// A class, so that another thread can continue it, and since jobs are passed on several times: a reference is moved
/// by one instruction, a value of any type by its type's functions.
protocol LaneJob: AnyObject, Sendable {
    /// The deadline of the module code that this job enters.
    var limit: DeliveryLimit { get }

    /// The current event, where the job delivers one.
    var event: LifecycleEvent? { get }

    /// Whether the job is delivering an event.
    ///
    /// From any thread, unlike ``event``, which belongs to the thread that owns the lane.
    var isDelivering: Bool { get }

    /// The event that a module sees as the current one while the job enters it.
    ///
    /// Differs from ``event`` only where one module alone is notified: then nothing waits for
    /// others.
    var currentEvent: LifecycleEvent? { get }

    /// The trace that the code which the job enters is a part of.
    var trace: TraceContext? { get }

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
    var isDelivering: Bool { false }
    var currentEvent: LifecycleEvent? { event }
    var trace: TraceContext? { currentEvent?.trace }
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
final class LaneWork: LaneJob {
    let limit: DeliveryLimit
    let currentEvent: LifecycleEvent?
    private let body: @Sendable (LaneThread) -> Void
    private let onAbandon: (@Sendable () -> Void)?

    /// - Parameters:
    ///   - limit: The deadline of the module code that the work enters.
    ///   - currentEvent: The event that a module sees as the current one.
    ///   - body: Does the work; not called again where it was begun on a thread that then was stuck.
    ///   - onAbandon: Called in its place where the lane was closed before, or the job was dropped.
    init(
        limit: DeliveryLimit = .event, currentEvent: LifecycleEvent? = nil,
        body: @escaping @Sendable (LaneThread) -> Void, onAbandon: (@Sendable () -> Void)? = nil
    ) {
        self.limit = limit
        self.currentEvent = currentEvent
        self.body = body
        self.onAbandon = onAbandon
    }

    func run(on thread: LaneThread, after slot: UInt16) {
        if slot == 0 { body(thread) }
    }

    func abandon() { onAbandon?() }
}
