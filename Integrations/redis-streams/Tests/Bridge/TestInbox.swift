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
        var waitingForLine:
            [(isMet: @Sendable (String) -> Bool, CheckedContinuation<Void, Never>)] =
                []
        var waiting:
            [(isMet: @Sendable ([IncomingEvent]) -> Bool, CheckedContinuation<Void, Never>)] = []
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
        let (outcomes, met) = state.withLock { state in
            let outcomes = events.map { event in
                if let outcome = state.isRefused(event) { return outcome }
                if state.ids.insert(event.id).inserted {
                    state.events.append(event)
                } else {
                    state.duplicates += 1
                }
                return .accepted
            }
            let met = state.waiting.filter { $0.isMet(state.events) }
            let all = state.events
            state.waiting.removeAll { $0.isMet(all) }
            return (outcomes, met)
        }
        for waiting in met { waiting.1.resume() }
        return outcomes
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
        switch await send([event]).first {
        case .invalid(let reason)?: return .invalid(reason)
        case .notNow(let reason)?: return .notNow(reason)
        case .accepted?, nil: break
        }
        return await withCheckedContinuation { continuation in
            let outcome = state.withLock { state -> WorkOutcome? in
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
        await withCheckedContinuation { continuation in
            let isMetNow = state.withLock { state in
                if isMet(state.events) { return true }
                state.waiting.append((isMet, continuation))
                return false
            }
            if isMetNow { continuation.resume() }
        }
    }

    func notice(_ message: String) { log("notice: " + message) }
    func warning(_ message: String) { log("warning: " + message) }

    private func log(_ line: String) {
        let met = state.withLock { state in
            state.lines.append(line)
            defer { state.waitingForLine.removeAll { $0.isMet(line) } }
            return state.waitingForLine.filter { $0.isMet(line) }
        }
        for waiting in met { waiting.1.resume() }
    }

    /// Waits until a line is logged, or was.
    func waitForLine(_ isMet: @escaping @Sendable (String) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMetNow = state.withLock { state in
                if state.lines.contains(where: isMet) { return true }
                state.waitingForLine.append((isMet, continuation))
                return false
            }
            if isMetNow { continuation.resume() }
        }
    }

    func wait(_ duration: Duration) async { await Task.yield() }
}
