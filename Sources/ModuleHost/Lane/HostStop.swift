import AppService
import Synchronization

/// The stop of a host for any thread: requested once, and over once.
final class HostStop: Sendable {
    private enum Stage: UInt8, AtomicRepresentable {
        case none, asked, over
    }

    private let stage = Atomic(Stage.none)
    private let alarms = Guarded<[any Alarm]>([])
    private let request = Guarded<Request?>(nil)
    /// Jobs that the stop has dropped, which are released last of all: that may take seconds.
    private let unfinishedModules = Guarded<[ModuleID]>([])
    private let dropped = Guarded<[any LaneJob]>([])
    /// The latch that opens when a stop is requested.
    let latch = Latch()

    /// Whether a stop was requested.
    var isAsked: Bool { stage.load(ordering: .acquiring) != .none }

    /// Whether the app has ended.
    var isOver: Bool { stage.load(ordering: .acquiring) == .over }

    /// The time of the stop, and the modules that were unresponsive when the stop was requested.
    struct Request: Sendable {
        /// The instant at which the time of the stop is over.
        let ends: ContinuousClock.Instant
        let limit: Duration
        /// The name of the limit in messages.
        let limitName: String
        let unresponsive: [ModuleSlot]
    }

    /// The request; nil before a stop is requested.
    var current: Request? { request.withLock { $0 } }

    /// Requests the stop.
    ///
    /// - Parameter make: Makes the request, unless there was one before.
    /// - Returns: The request; nil where the stop was requested before.
    func ask(_ make: () -> Request) -> Request? {
        guard ask() else { return nil }
        let new = make()
        request.withLock { $0 = new }
        return new
    }

    private func ask() -> Bool {
        let isFirst = stage.compareExchange(
            expected: .none, desired: .asked, ordering: .acquiringAndReleasing
        ).exchanged
        if isFirst { latch.open() }
        return isFirst
    }

    /// Stores alarms that the end cancels.
    func keep(_ new: [any Alarm]) { alarms.withLock { $0 = new } }

    /// The modules that became unresponsive in the stop and did not return in time, though the stop had time left.
    var unfinished: [ModuleID] { unfinishedModules.withLock { $0 } }

    func note(unfinished module: ModuleID) {
        guard isAsked else { return }
        unfinishedModules.withLock { $0.append(module) }
    }

    /// Stores jobs that were dropped, until the end.
    func keep(dropped jobs: [any LaneJob]) { dropped.withLock { $0 += jobs } }

    /// Returns the dropped jobs, which are released when the caller has no further use for time.
    func takeDropped() -> [any LaneJob] {
        dropped.withLock { dropped in
            defer { dropped = [] }
            return dropped
        }
    }

    /// Notes the end of an app that is not stopped in order.
    ///
    /// - Returns: False where the end was noted before.
    func endAtOnce() -> Bool {
        guard end() else { return false }
        latch.open()
        return true
    }

    /// Notes the end.
    ///
    /// - Returns: False where that was noted before.
    func end() -> Bool {
        guard stage.exchange(.over, ordering: .acquiringAndReleasing) != .over else { return false }
        for alarm in alarms.withLock({ $0 }) { alarm.cancel() }
        return true
    }
}
