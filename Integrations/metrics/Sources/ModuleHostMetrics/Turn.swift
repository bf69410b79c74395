import ModuleHostCore

/// A turn that one task has at a time; the others wait, in their order.
final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())

    /// Runs code when it has its turn.
    func take<Result: Sendable>(_ body: () async throws -> Result) async rethrows -> Result {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                defer { state.isTaken = true }
                if state.isTaken { state.waiting.append(continuation) }
                return !state.isTaken
            }
            if isFree { continuation.resume() }
        }
        defer { end() }
        return try await body()
    }

    private func end() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.isTaken = false
            return nil
        }
        next?.resume()
    }
}
