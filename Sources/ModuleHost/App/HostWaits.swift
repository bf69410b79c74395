import AppService

/// The condition that a client of a host waits for.
struct HostCondition: Hashable, Sendable {
    /// Whether the app is to be ready.
    var needsReady = false
    /// The id of the module that is to run; nil for none.
    var module: String?
}

/// The result of a wait for a condition.
enum HostWaitOutcome: Hashable, Sendable {
    /// The condition holds.
    case met
    /// The condition will not hold any more; the reason.
    case failed(String)
    /// The time is up; what is missing.
    case missing([String])
}

/// The clients that wait for conditions.
final class HostWaits: Sendable {
    typealias Pending = Completion<HostWaitOutcome, RPCError>

    private struct State {
        var waiting: [(condition: HostCondition, pending: Pending)] = []
        /// Whether a review of the conditions is listed.
        var isListed = false
        var end: RPCError?
    }

    /// The number of clients that may wait at a time.
    private static let limit = 1024

    private let state = Guarded(State())

    /// Adds a client.
    ///
    /// - Returns: The reason why it cannot wait; nil where it does.
    func add(_ condition: HostCondition, _ pending: Pending) -> RPCError? {
        state.withLock { state in
            if let end = state.end { return end }
            state.waiting.removeAll { $0.pending.isFinished }
            guard state.waiting.count < Self.limit else {
                return RPCError(.tooMany, "\(Self.limit) clients wait already")
            }
            state.waiting.append((condition, pending))
            return nil
        }
    }

    /// Returns whether the conditions are to be reviewed, and notes that they will be.
    func mustList() -> Bool {
        state.withLock { state in
            guard !state.waiting.isEmpty, !state.isListed else { return false }
            state.isListed = true
            return true
        }
    }

    /// Answers the clients whose condition is decided.
    ///
    /// - Parameter decide: Returns the outcome; nil while a condition may still hold later.
    func review(_ decide: (HostCondition) -> Result<HostWaitOutcome, RPCError>?) {
        let waiting = state.withLock { state in
            state.isListed = false
            state.waiting.removeAll { $0.pending.isFinished }
            return state.waiting
        }
        for client in waiting {
            if let outcome = decide(client.condition) { client.pending.finish(outcome) }
        }
    }

    /// Answers all clients, and each that comes later: the app stops.
    ///
    /// - Parameter failure: The reason for which it has failed for good; nil for any other stop.
    func end(failure: String?) {
        let error = RPCError(ofCall: RouteError.stopped)
        let waiting = state.withLock { state in
            state.end = error
            defer { state.waiting = [] }
            return state.waiting
        }
        for client in waiting {
            client.pending.finish(failure.map { .success(.failed($0)) } ?? .failure(error))
        }
    }
}
