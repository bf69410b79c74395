import AppService
import Dispatch
import Synchronization

/// The watch over the time that a module's process takes for an event, and the way of its answer into the module.
final class EventWatch: Sendable {
    private struct State {
        /// The events that were sent, from the first that is not answered on, with the ends of their times.
        var sent = Deque<(open: OpenEvent, due: ContinuousClock.Instant)>()
        /// The time of the next alarm; nil for none.
        var alarm: ContinuousClock.Instant?

        mutating func trim() {
            while let first = sent.first, first.open.result != nil { _ = sent.popFirst() }
        }
    }

    private let state = Guarded(State())
    private let services: HostServices
    private let slot: ModuleSlot
    private let module: LaneConfined<IsolatedReference>

    init(_ services: HostServices, _ slot: ModuleSlot, _ module: LaneConfined<IsolatedReference>) {
        self.services = services
        self.slot = slot
        self.module = module
    }

    /// Brings an answer into the module, from any thread.
    func take(_ open: OpenEvent) {
        enter { $0.take(open) }
    }

    /// Has the module go on with what waits for it, from any thread.
    func goOn() { enter { $0.goOn() } }

    /// Watches the time of an event; one alarm is enough for all that are answered in time.
    func watch(_ open: OpenEvent, within deadline: Duration) {
        let due = open.began + deadline
        let isWatched = state.withLock { state in
            state.trim()
            state.sent.append((open, due))
            // Of two kinds of events one may have less time.
            if let alarm = state.alarm, alarm <= due { return true }
            state.alarm = due
            return false
        }
        guard !isWatched else { return }
        schedule(due)
        // A test may have moved its clock since then; the alarm would wait for the next move.
        if services.time.now() >= due { look(at: due) }
    }

    private func schedule(_ due: ContinuousClock.Instant) {
        services.time.schedule(at: due) { [weak self] in self?.look(at: due) }
    }

    /// - Parameter alarm: The time of the alarm; one before which another one was set is not the next one any more.
    private func look(at alarm: ContinuousClock.Instant) {
        let now = services.time.now()
        let (late, next) = state.withLock { state -> (OpenEvent?, ContinuousClock.Instant?) in
            guard state.alarm == alarm else { return (nil, nil) }
            state.trim()
            var late: OpenEvent?
            if let first = state.sent.first, first.due <= now {
                // Its own thread waits for it, and the next one is watched from then on.
                _ = state.sent.popFirst()
                late = first.open
            }
            state.alarm = state.sent.first.map { max($0.due, now) }
            return (late, state.alarm)
        }
        if let late { enter { $0.awaitLate(late) } }
        if let next { schedule(next) }
    }

    private func enter(_ body: @escaping @Sendable (IsolatedModule) -> Void) {
        services.enter(slot, reachesLeaving: true) { [module] in
            module.openInModule().module.map(body)
        } completion: { _ in
        }
    }
}
