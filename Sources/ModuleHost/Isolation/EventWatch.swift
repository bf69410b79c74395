import AppService
import Dispatch
import Synchronization

/// The watch over the time that a module's process takes for an event, and the way of its answer into the module.
final class EventWatch: Sendable {
    private struct State {
        /// The events that were sent, from the first that is not answered on, with the ends of their times.
        var sent = Deque<(open: OpenEvent, due: ContinuousClock.Instant)>()
        var isWatched = false

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

    /// Watches the time of an event; one alarm is enough for all that are answered in time.
    func watch(_ open: OpenEvent, within deadline: Duration) {
        let due = open.began + deadline
        let isWatched = state.withLock { state in
            state.trim()
            state.sent.append((open, due))
            defer { state.isWatched = true }
            return state.isWatched
        }
        guard !isWatched else { return }
        schedule(due)
        // A test may have moved its clock since then; the alarm would wait for the next move.
        if services.time.now() >= due { look() }
    }

    private func schedule(_ due: ContinuousClock.Instant) {
        services.time.schedule(at: due) { [weak self] in self?.look() }
    }

    private func look() {
        let now = services.time.now()
        let (late, due) = state.withLock { state -> (OpenEvent?, ContinuousClock.Instant?) in
            state.trim()
            guard let (open, due) = state.sent.first else {
                state.isWatched = false
                return (nil, nil)
            }
            guard due <= now else { return (nil, due) }
            // Its own thread waits for it, and the next one is watched from then on.
            _ = state.sent.popFirst()
            state.isWatched = !state.sent.isEmpty
            return (open, state.sent.first.map { max($0.due, now) })
        }
        if let late { enter { $0.awaitLate(late) } }
        if let due { schedule(due) }
    }

    private func enter(_ body: @escaping @Sendable (IsolatedModule) -> Void) {
        services.enter(slot, reachesLeaving: true) { [module] in
            module.openInModule().module.map(body)
        } completion: { _ in
        }
    }
}
