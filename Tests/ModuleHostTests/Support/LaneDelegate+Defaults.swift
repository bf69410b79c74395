import AppService

@testable import ModuleHostCore

/// The behavior of a lane without an app.
extension LaneDelegate {
    func reportUnresponsive() -> Bool { false }
    func tookOver(_: TakeoverReport, on _: LaneThread) {}
    func rejoined(_: ModuleSlot, missed _: Int, on _: LaneThread) {}
    func rejoinedAtEnd(_: ModuleSlot, missed _: Int) {}
    func returned(on _: LaneThread) {}
    func closed(on _: LaneThread) {}
    func deliverOverdue(
        _: LifecycleEvent, to _: ModuleSlot, _: inout OverdueMembers?
    ) -> Bool { true }
    func readOverdue(at _: EventPosition) -> (entry: InboxEntry?, event: LifecycleEvent?) {
        (nil, nil)
    }
    func noteUndelivered(_: ModuleSlot, _: UndeliveredEvents?) {}
    func hasNoThread(besides _: ModuleSlot?, _: SystemError) {}
    func failed(_: ModuleSlot, _: any Error) {}
    func failedOverdue(_: ModuleSlot, _: any Error) {}
}

/// The delegate of a lane without an app.
struct NoApp: LaneDelegate {}

extension Lane {
    convenience init(
        limits: Watchdog.Limits, time: any TimeSource, input: (any LaneInput)? = nil
    ) {
        self.init(limits: limits, time: time, delegate: NoApp(), input: input)
    }
}
