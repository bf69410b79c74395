/// A receiver of what a host delivers and of the calls from outside, for traces, metrics or an audit.
///
/// - Thread: Events on the lane; calls on the thread of the caller, and their answers on any. It must not block, nor call the
///   host and wait for that.
/// - Order: The end of an event comes before the beginning of the next one, unless a module answers it later.
public protocol DeliveryObserver: Sendable {
    /// Called before modules receive an event.
    ///
    /// - Returns: The `traceparent` of what modules do with the event; nil, or an invalid text, for that of the event.
    func willDeliver(_ event: LifecycleEvent) -> String?

    /// Called when each module that receives an event has handled it, or is unresponsive.
    func didDeliver(_ delivery: Delivery)

    /// Called before a route is called, or a URL is opened, from outside the app.
    ///
    /// - Parameters:
    ///   - target: The module and the action, or the scheme and the host of a URL: what follows may be a parameter.
    ///   - origin: The origin of the call.
    ///   - traceparent: The trace that the call is a part of; nil for none.
    /// - Returns: The `traceparent` of what modules do in the call; nil, or an invalid text, for that of the call.
    func willCall(_ target: String, from origin: Origin, traceparent: String?) -> String?

    /// Called when the call has its answer.
    ///
    /// - Parameters:
    ///   - target: The target, as before the call.
    ///   - traceparent: The trace, as ``willCall(_:from:traceparent:)`` returned it.
    ///   - failure: The kind of failure, in words, or the error of the module; nil for a reply.
    func didCall(_ target: String, traceparent: String?, in duration: Duration, failure: String?)
}

extension DeliveryObserver {
    /// Returns nil: the trace of the event stays.
    public func willDeliver(_ event: LifecycleEvent) -> String? { nil }
    /// Does nothing.
    public func didDeliver(_ delivery: Delivery) {}
    /// Returns nil: the trace of the call stays.
    public func willCall(_ target: String, from origin: Origin, traceparent: String?) -> String? {
        nil
    }
    /// Does nothing.
    public func didCall(
        _ target: String, traceparent: String?, in duration: Duration, failure: String?
    ) {}
}

/// The delivery of an event to the modules of a host.
public struct Delivery: Hashable, Sendable {
    /// The kind of event.
    public let event: EventKind
    /// The topic of a message; nil for other events.
    public let topic: String?
    /// The origin of the event.
    public let origin: Origin
    /// The id of a durable event, as ``LifecycleEvent/id``; nil for other events.
    public let id: String?
    /// The trace that the event is a part of; nil for none.
    public let traceparent: String?
    /// The time until the last module had handled it.
    public let duration: Duration
    /// The module that took longest, or whose answer came last; nil where that took less than 10 ms.
    public let slowest: ModuleID?
    /// The number of modules that received it and returned.
    public let delivered: Int
    /// The number of modules that received it and threw; their errors are in the log.
    public let failed: Int
    /// The number of unresponsive modules, which receive it when they return.
    public let unresponsive: Int
    /// The joined replies of the modules to a push; nil for other events.
    public let fetchResult: FetchResult?
    /// The module that claimed the event; nil where none did.
    public let claimedBy: ModuleID?

    init(
        _ event: LifecycleEvent, _ outcome: EventOutcome, in duration: Duration, slowest: ModuleID?
    ) {
        self.event = event.kind
        topic = event.topic
        (origin, id, traceparent) = (event.origin, event.id, event.traceparent)
        (self.duration, self.slowest) = (duration, slowest)
        delivered = outcome.delivered
        failed = outcome.failed
        unresponsive = outcome.overdue
        fetchResult = outcome.fetch
        claimedBy = outcome.claimedBy
    }
}
