import AppService

/// The metrics of a host since its start.
public struct HostMetrics: Hashable, Sendable {
    /// The number of delivered events of each kind, with or without a responder.
    public var events: [EventKind: Int] {
        var events: [EventKind: Int] = [:]
        for kind in EventKind.allCases where counts[kind.place] > 0 {
            events[kind] = counts[kind.place]
        }
        return events
    }
    /// ``events`` by the place of the kind: a dictionary would hash the kind of each event.
    private var counts = [Int](repeating: 0, count: EventKind.allCases.count)
    /// The number of events that have no meaning in the state of the app, such as `foreground` in the
    /// foreground.
    public internal(set) var ignored = 0
    /// The number of times that a handler threw.
    public internal(set) var failures = 0
    /// The number of times that a module became overdue.
    public internal(set) var timesOverdue = 0
    /// The number of modules that have launched and have not failed, unresponsive ones included.
    public internal(set) var modulesRunning = 0
    /// The number of modules that failed.
    public var modulesFailed: Int { failed.count }
    /// The number of programs that have done what they are for, and have ended.
    public internal(set) var modulesDone = 0
    /// The time from the start to READY; nil before.
    public internal(set) var readyAfter: Duration?
    /// The modules that are busy beyond their deadline, in the order in which they became overdue.
    package internal(set) var overdue: [ModuleID] = []
    /// The times since when each of ``overdue`` is, in the same order.
    package internal(set) var overdueSince: [WallTime] = []
    /// The modules that have failed, in slatefile order.
    package private(set) var failed: [ModuleID] = []
    /// The times since when each of ``failed`` is, in the same order.
    package private(set) var failedSince: [WallTime] = []
    /// The failed modules that have an `instead`, in slatefile order.
    package internal(set) var instead: [TakenInstead] = []
    /// The state of the app.
    public internal(set) var state = LifecycleState.launching {
        didSet { if state != oldValue { stateSince = .now() } }
    }
    /// The time since when the app is in its state; nil before its first change.
    package internal(set) var stateSince: WallTime?

    /// Takes the modules that have failed, with the times since when each is.
    mutating func take(_ failed: [ModuleID], since: [WallTime]) {
        (self.failed, failedSince) = (failed, since)
    }

    /// Counts an event that was delivered.
    mutating func count(_ kind: EventKind) { counts[kind.place] += 1 }
}

/// The metrics of a host, counted on the lane and read by any thread.
final class HostCounters: Sendable {
    private let metrics = Guarded(HostMetrics())

    func withLock<Result>(_ body: (inout HostMetrics) -> Result) -> Result {
        metrics.withLock { body(&$0) }
    }
}
