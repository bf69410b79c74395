import AppService

/// What a host has done so far, in figures.
public struct HostFigures: Hashable, Sendable {
    /// How many events of each kind were delivered, whoever responded.
    public internal(set) var events: [EventKind: Int] = [:]
    /// How many events meant nothing in the state they came in, such as `foreground` in the foreground.
    public internal(set) var ignored = 0
    /// How many times a handler threw.
    public internal(set) var failures = 0
    /// How many times a module became late.
    public internal(set) var lateness = 0
    /// How many modules run.
    public internal(set) var modulesRunning = 0
    /// How many modules failed.
    public internal(set) var modulesFailed = 0
    /// How long it took from the start to READY; nil before.
    public internal(set) var readyAfter: Duration?
    /// The modules that are busy beyond their deadline, in the order in which they became so.
    package internal(set) var late: [ModuleID] = []
    /// Where the app is.
    public internal(set) var state = LifecycleState.launching
}

/// The figures of a host, counted on the lane and read by any thread.
final class HostCounters: Sendable {
    private let figures = Guarded(HostFigures())

    func withLock<Result>(_ body: (inout HostFigures) -> Result) -> Result {
        figures.withLock { body(&$0) }
    }
}
