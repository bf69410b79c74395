import AppService
import Synchronization

/// The limits on messages that a module's process posts: a number a second, and a number, and a number of
/// bytes, that are not delivered yet.
///
/// Beyond a limit a request waits for its response, and with it the process; a notification is refused.
final class PostLimit: Sendable {
    /// A request that waits for room.
    private struct Waiting: Sendable {
        let event: LifecycleEvent
        let services: any PostingServices
        let onAcceptance: @Sendable () -> Void
    }

    private struct State {
        var pace: TokenBucket
        var waiting = Deque<Waiting>()
        /// Whether a thread posts events that have waited: others follow them.
        var isReleasing = false
        /// Whether an alarm will release what waits.
        var isAlarmSet = false
    }

    private let posted: PostedEvents
    private let state: Guarded<State>
    /// The number of refused messages that wanted no response: the process does not learn of them.
    private let unheeded = Atomic(0)

    init(
        _ limit: Int = 64, bytes: Int = PostedEvents.byteLimit,
        pace: TokenBucket.Limits = TokenBucket.Limits(burst: 1000, perSecond: 1000)
    ) {
        posted = PostedEvents(limit, bytes: bytes)
        state = Guarded(State(pace: TokenBucket(pace, at: .now)))
    }

    /// The number of requests that may wait for room.
    static let waiting = 64

    /// The number of refusals that a process may ignore.
    static let patience = 1000

    /// Notes that the process was not notified of a refusal.
    ///
    /// - Returns: Whether that has happened too often: true exactly once.
    func noteUnheeded() -> Bool {
        unheeded.add(1, ordering: .relaxed).newValue == Self.patience
    }

    /// Whether the process waits for room.
    var hasWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Starts over, for another process.
    func reset() {
        unheeded.store(0, ordering: .relaxed)
        let left = state.withLock { state in
            defer { state.waiting = Deque() }
            return state.waiting
        }
        withExtendedLifetime(left) {}
    }

    /// Posts an event, now or when there is room.
    ///
    /// - Parameters:
    ///   - onAcceptance: Called once the event is posted, on any thread, if it has waited; nil where it cannot wait.
    /// - Returns: Whether it waits.
    /// - Throws: ``RPCErrorCode/tooMany`` where it cannot wait, or too many do.
    func post(
        _ event: LifecycleEvent, to services: any PostingServices,
        orWait onAcceptance: (@Sendable () -> Void)? = nil
    ) throws(RPCError) -> Bool {
        let obstacle = state.withLock { state -> String? in
            if state.isReleasing || !state.waiting.isEmpty { return "earlier ones wait" }
            return takeRoom(for: event, &state)
        }
        guard let obstacle else {
            send(event, to: services)
            return false
        }
        let isKept = state.withLock { state in
            guard let onAcceptance, state.waiting.count < Self.waiting else { return false }
            state.waiting.append(
                Waiting(event: event, services: services, onAcceptance: onAcceptance))
            return true
        }
        guard isKept else { throw RPCError(.tooMany, obstacle, detail: "try again later") }
        // There may be room by now.
        release()
        return true
    }

    /// Notes that an event is posted, unless a limit is reached.
    ///
    /// - Returns: The limit in words; nil if it may be posted.
    private func takeRoom(for event: LifecycleEvent, _ state: inout State) -> String? {
        if state.pace.pause(at: .now) > 0 { return "it posts more than 1000 events a second" }
        if let limit = posted.enter(event.footprint) { return limit }
        state.pace.take(1, at: .now)
        return nil
    }

    private func send(_ event: LifecycleEvent, to services: any PostingServices) {
        let footprint = event.footprint
        services.post(event) { [self] in
            posted.leave(footprint)
            release()
        }
    }

    /// Posts what has waited, as far as there is room.
    private func release() {
        let isMine = state.withLock { state in
            defer { state.isReleasing = true }
            return !state.isReleasing
        }
        guard isMine else { return }
        while let next = nextWithRoom() {
            send(next.event, to: next.services)
            next.onAcceptance()
        }
    }

    /// Takes the next event for which there is room; nil where the thread that releases them is to end.
    private func nextWithRoom() -> Waiting? {
        let (next, pause) = state.withLock { state -> (Waiting?, (Int32, any PostingServices)?) in
            guard let first = state.waiting.first else {
                state.isReleasing = false
                return (nil, nil)
            }
            guard takeRoom(for: first.event, &state) != nil else {
                return (state.waiting.popFirst(), nil)
            }
            state.isReleasing = false
            let pause = state.pace.pause(at: .now)
            guard pause > 0, !state.isAlarmSet else { return (nil, nil) }
            state.isAlarmSet = true
            return (nil, (pause, first.services))
        }
        if let (milliseconds, services) = pause {
            services.time.schedule(after: .milliseconds(Int(milliseconds))) { [weak self] in
                self?.state.withLock { $0.isAlarmSet = false }
                self?.release()
            }
        }
        return next
    }
}
