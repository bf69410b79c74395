import AppService

/// The time in which a module receives no events, since it wants one again later.
///
/// Begun in the module; the alarm enters it.
final class EventPause: Sendable {
    /// The longest time for which a module may want that, and the shortest.
    static let times = Duration.milliseconds(1)...Duration.seconds(3600)

    private enum State {
        case none
        case paused(until: ContinuousClock.Instant, alarm: any Alarm)
        /// It receives its events again, and may want them later once more.
        case trying
    }

    private let state = Guarded(State.none)
    private let services: HostServices
    private let slot: ModuleSlot
    private let log: Log

    init(of context: ModuleContext) {
        (services, slot, log) = (context.host.services, context.slot, context.log)
    }

    /// The end of the pause; nil for none.
    ///
    /// From any thread.
    var end: ContinuousClock.Instant? {
        state.withLock { if case .paused(let end, _) = $0 { end } else { nil } }
    }

    /// Begins the pause, or prolongs it.
    ///
    /// - Parameters:
    ///   - event: The event that the module wants again.
    ///   - time: The time from now, limited to ``times``.
    ///   - goOn: Has the module go on with its events: in the module, on the lane or on its own thread.
    func begin(
        at event: EventKind, for time: Duration, _ goOn: @escaping @Sendable () -> Void
    ) {
        let time = min(max(time, Self.times.lowerBound), Self.times.upperBound)
        let until = services.time.now() + time
        let former = state.withLock { $0 }
        if case .paused(let end, _) = former, end >= until { return }
        // The module may be replaced long before that.
        let alarm = services.time.schedule(at: until) { [weak self, services, slot] in
            services.enter(slot, reachesLeaving: true) { [weak self] in
                // It may have been prolonged since.
                guard let self, let end = self.end, services.time.now() >= end else { return }
                self.finish(goOn)
            } completion: { _ in
            }
        }
        state.withLock { $0 = .paused(until: until, alarm: alarm) }
        switch former {
        case .none:
            log.write(
                .notice,
                "wants this event again in \(time.briefText), and receives none until then",
                event: event.rawValue)
            services.paused(slot)
        case .trying: services.paused(slot)
        case .paused(_, let alarm): alarm.cancel()
        }
    }

    /// Ends the pause before its time.
    ///
    /// In the module.
    func finish(_ goOn: () -> Void) {
        guard case .paused(_, let alarm) = state.withLock({ $0 }) else { return }
        alarm.cancel()
        state.withLock { $0 = .trying }
        services.gate.lane.resume(slot)
        goOn()
    }

    /// Notes that the module has answered an event and does not want it again.
    ///
    /// In the module.
    func noteAnswer() {
        let isOver = state.withLock { state in
            guard case .trying = state else { return false }
            state = .none
            return true
        }
        if isOver { log.notice("receives events again") }
    }
}
