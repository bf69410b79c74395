import AppService
import Synchronization

/// The stop of a host for any thread: requested once, and over once.
final class HostStop: Sendable {
    private enum Stage: UInt8, AtomicRepresentable {
        case none, asked, over
    }

    private let stage = Atomic(Stage.none)
    private let alarms = Guarded<[any Alarm]>([])
    /// The latch that opens when a stop is requested.
    let latch = Latch()

    /// Whether a stop was requested.
    var isAsked: Bool { stage.load(ordering: .acquiring) != .none }

    /// Whether the app has ended.
    var isOver: Bool { stage.load(ordering: .acquiring) == .over }

    /// Requests the stop.
    ///
    /// - Returns: False where it was requested before.
    func ask() -> Bool {
        let isFirst = stage.compareExchange(
            expected: .none, desired: .asked, ordering: .acquiringAndReleasing
        ).exchanged
        if isFirst { latch.open() }
        return isFirst
    }

    /// Stores alarms that the end cancels.
    func keep(_ new: [any Alarm]) { alarms.withLock { $0 = new } }

    /// Notes the end.
    ///
    /// - Returns: False where that was noted before.
    func end() -> Bool {
        guard stage.exchange(.over, ordering: .acquiringAndReleasing) != .over else { return false }
        for alarm in alarms.withLock({ $0 }) { alarm.cancel() }
        return true
    }
}
