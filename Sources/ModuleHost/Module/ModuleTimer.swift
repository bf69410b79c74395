import AppService

/// A timer of a module, created by ``ModuleContext/timer(after:_:)`` or ``ModuleContext/timer(every:_:)``.
///
/// It belongs to its module, and ends with it.
public final class ModuleTimer {
    private let interval: Duration
    private let repeats: Bool
    private var tick: (() throws -> Void)?
    private var alarm: (any Alarm)?
    var onEnd: ((ModuleTimer) -> Void)?

    init(interval: Duration, repeats: Bool, _ tick: @escaping () throws -> Void) {
        self.interval = interval
        self.repeats = repeats
        self.tick = tick
    }

    /// Whether the timer will tick, or tick again.
    public var isRunning: Bool { tick != nil }

    /// Cancels the timer.
    ///
    /// It does not tick any more, even where its time had run out already.
    public func cancel() {
        tick = nil
        alarm?.cancel()
        alarm = nil
        onEnd?(self)
        onEnd = nil
    }

    func schedule(services: HostServices, slot: ModuleSlot) {
        let confined = LaneConfined(self)
        alarm = services.time.schedule(after: interval) {
            services.enter(slot) {
                try confined.openInModule().fire(services: services, slot: slot)
            } completion: { _ in
            }
        }
    }

    private func fire(services: HostServices, slot: ModuleSlot) throws {
        guard let tick else { return }
        if !repeats { cancel() }
        defer { if isRunning { schedule(services: services, slot: slot) } }
        try tick()
    }
}
