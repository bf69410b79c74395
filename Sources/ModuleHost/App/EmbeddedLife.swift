import AppService
import Synchronization

/// The life of a host that is embedded in a program: it is run once, and ends once.
final class EmbeddedLife: Sendable {
    private enum Stage {
        /// Not run yet. Moves to `running` or `ended`.
        case made
        /// Run; these closures wait for the end. Moves to `ended`.
        case running([@Sendable (AppHost.End) -> Void])
        case ended(AppHost.End)
    }

    /// Begins what the host has beside its app, before the launch.
    let prepare: @Sendable (AppHost) throws -> Void
    private let stage = Guarded(Stage.made)
    private let wasRun = Atomic(false)

    init(prepare: @escaping @Sendable (AppHost) throws -> Void) { self.prepare = prepare }

    /// Begins the life; one that has ended before it was run stays so.
    ///
    /// - Returns: False where it was run before.
    func begin() -> Bool {
        guard !wasRun.exchange(true, ordering: .acquiringAndReleasing) else { return false }
        stage.withLock { stage in
            if case .made = stage { stage = .running([]) }
        }
        return true
    }

    /// Ends the life of a host that was never run.
    ///
    /// - Returns: False where it has begun.
    func endUnlessBegun() -> Bool {
        stage.withLock { stage in
            guard case .made = stage else { return false }
            stage = .ended(.stopped)
            return true
        }
    }

    /// Notes the end, the first time that it is called.
    func end(_ end: AppHost.End) {
        let waiting = stage.withLock { stage -> [@Sendable (AppHost.End) -> Void] in
            defer { if case .ended = stage {} else { stage = .ended(end) } }
            if case .running(let waiting) = stage { return waiting }
            return []
        }
        for notify in waiting { notify(end) }
    }

    /// Whether the host runs.
    var isRunning: Bool { stage.withLock { if case .running = $0 { true } else { false } } }

    /// The end of the life; nil before.
    var ended: AppHost.End? { stage.withLock { if case .ended(let end) = $0 { end } else { nil } } }

    /// Waits for the end of a life that has begun.
    nonisolated(nonsending) func wait() async -> AppHost.End {
        await withCheckedContinuation { continuation in
            let ended = stage.withLock { stage -> AppHost.End? in
                switch stage {
                case .ended(let end): return end
                case .made: return .stopped
                case .running(let waiting):
                    stage = .running(waiting + [{ continuation.resume(returning: $0) }])
                    return nil
                }
            }
            if let ended { continuation.resume(returning: ended) }
        }
    }
}
