import Synchronization

/// The limits on messages that a module's process posts: a number a second, and a number, and a number of
/// bytes, that are not delivered yet.
///
/// Without a limit one process could fill the lane's list, and all modules would receive only its messages.
final class PostLimit: Sendable {
    private let limit: Int
    private let byteLimit: Int
    private let onTheirWay = Atomic(0)
    private let bytesOnTheirWay = Atomic(0)
    private let pace: Guarded<TokenBucket>
    /// The number of refused messages that wanted no response: the process does not learn of them.
    private let unheeded = Atomic(0)

    init(
        _ limit: Int = 64, bytes: Int = 8 << 20,
        pace: TokenBucket.Limits = TokenBucket.Limits(burst: 1000, perSecond: 1000)
    ) {
        self.limit = limit
        byteLimit = bytes
        self.pace = Guarded(TokenBucket(pace, at: .now))
    }

    /// The number of refusals that a process may ignore.
    static let patience = 1000

    /// Notes that the process was not notified of a refusal.
    ///
    /// - Returns: Whether that has happened too often: true exactly once.
    func noteUnheeded() -> Bool {
        unheeded.add(1, ordering: .relaxed).newValue == Self.patience
    }

    /// Starts over, for another process.
    func reset() { unheeded.store(0, ordering: .relaxed) }

    /// Posts an event.
    ///
    /// - Throws: ``RPCErrorCode/tooMany`` where too many were posted that are not delivered yet.
    func post(_ event: LifecycleEvent, to services: any ModuleServices) throws(RPCError) {
        let isTooFast = pace.withLock { pace in
            if pace.pause(at: .now) > 0 { return true }
            pace.take(1, at: .now)
            return false
        }
        if isTooFast {
            throw RPCError(
                .tooMany, "it posts more than 1000 events a second", detail: "try again later")
        }
        guard onTheirWay.add(1, ordering: .relaxed).newValue <= limit else {
            onTheirWay.subtract(1, ordering: .relaxed)
            throw RPCError(
                .tooMany, "\(limit) of its events are yet to be delivered",
                detail: "try again later")
        }
        let bytes = event.footprint
        let before = bytesOnTheirWay.add(bytes, ordering: .relaxed).oldValue
        // A single message may be larger than that.
        guard before == 0 || before + bytes <= byteLimit else {
            bytesOnTheirWay.subtract(bytes, ordering: .relaxed)
            onTheirWay.subtract(1, ordering: .relaxed)
            throw RPCError(
                .tooMany, "\(byteLimit >> 20) MiB of its events are yet to be delivered",
                detail: "try again later")
        }
        services.post(event) { [self] in
            bytesOnTheirWay.subtract(bytes, ordering: .relaxed)
            onTheirWay.subtract(1, ordering: .relaxed)
        }
    }
}
