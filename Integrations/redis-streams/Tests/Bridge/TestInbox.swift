import RedisBridge
import Synchronization

/// An inbox as that of a host: it accepts each id once, and keeps the order.
final class TestInbox: BridgeHost {
    private struct State {
        var events: [IncomingEvent] = []
        var ids: Set<String> = []
        var duplicates = 0
        var lines: [String] = []
        var isRefused: @Sendable (IncomingEvent) -> IncomingOutcome? = { _ in nil }
        /// Works that wait until ``finish(_:)``.
        var works: [String: CheckedContinuation<WorkOutcome, Never>] = [:]
        var isWorkHeld = false
        var isClosed = false
        var waiting: [(isMet: @Sendable (State) -> Bool, CheckedContinuation<Void, Never>)] = []

        mutating func accept(_ event: IncomingEvent) -> IncomingOutcome {
            if let outcome = isRefused(event) { return outcome }
            if ids.insert(event.id).inserted { events.append(event) } else { duplicates += 1 }
            return .accepted
        }
    }

    private let state = Mutex(State())

    var events: [IncomingEvent] { state.withLock { $0.events } }
    var duplicates: Int { state.withLock { $0.duplicates } }
    var lines: [String] { state.withLock { $0.lines } }

    /// The bodies of the events of one stream, or of all.
    func bodies(from source: String? = nil) -> [String] {
        events.filter { source == nil || $0.source == source }.map(\.body)
    }

    /// Sets what the inbox does instead of accepting an event.
    func refuse(_ isRefused: @escaping @Sendable (IncomingEvent) -> IncomingOutcome?) {
        state.withLock { $0.isRefused = isRefused }
    }

    func send(_ events: [IncomingEvent]) async -> [IncomingOutcome] {
        change { state in events.map { state.accept($0) } }
    }

    /// Changes the state, and lets those go on who wait for it.
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, met) = state.withLock { state in
            let result = body(&state)
            let met = state.waiting.filter { $0.isMet(state) }.map(\.1)
            if !met.isEmpty {
                let now = state
                state.waiting.removeAll { $0.isMet(now) }
            }
            return (result, met)
        }
        for waiting in met { waiting.resume() }
        return result
    }

    /// Makes all works wait until ``finish(_:)``.
    func holdWork() { state.withLock { $0.isWorkHeld = true } }

    /// Finishes what is in work.
    func finish(_ outcome: WorkOutcome = .delivered) {
        let works = state.withLock { state in
            defer { state.works = [:] }
            return state.works
        }
        for work in works.values { work.resume(returning: outcome) }
    }

    /// Ends waiting, as a bridge does that ends.
    func close() {
        state.withLock { $0.isClosed = true }
        finish(.left)
    }

    func deliver(_ event: IncomingEvent) async -> WorkOutcome {
        await withCheckedContinuation { continuation in
            // In one step: a test that sees the event may finish it.
            let outcome = change { state -> WorkOutcome? in
                switch state.accept(event) {
                case .invalid(let reason): return .invalid(reason)
                case .notNow(let reason): return .notNow(reason)
                case .accepted: break
                }
                if state.isClosed { return .left }
                guard state.isWorkHeld else { return .delivered }
                state.works[event.id] = continuation
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// Waits until the accepted events are as expected.
    func waitUntil(_ isMet: @escaping @Sendable ([IncomingEvent]) -> Bool) async {
        await wait { isMet($0.events) }
    }

    /// Waits until a line is logged, or was.
    func waitForLine(_ isMet: @escaping @Sendable (String) -> Bool) async {
        await wait { $0.lines.contains(where: isMet) }
    }

    /// Waits until as many events came again.
    func waitForDuplicates(_ count: Int) async {
        await wait { $0.duplicates >= count }
    }

    /// Returns at the end of the test's time, too, so that it fails instead of waiting for ever.
    private func wait(_ isMet: @escaping @Sendable (State) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isMetNow = state.withLock { state in
                    if Task.isCancelled || isMet(state) { return true }
                    state.waiting.append((isMet, continuation))
                    return false
                }
                if isMetNow { continuation.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting.map(\.1)
            }
            for waiting in waiting { waiting.resume() }
        }
    }

    func notice(_ message: String) { change { $0.lines.append("notice: " + message) } }
    func warning(_ message: String) { change { $0.lines.append("warning: " + message) } }

    func wait(_ duration: Duration) async { await Task.yield() }
}
