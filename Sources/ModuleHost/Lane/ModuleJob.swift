/// A job that enters one module for work that is not an event: a start-up result, a timer's tick, its
/// release.
///
/// Waits where the module is overdue; is dropped where the module is unloaded, or is being unloaded. Dropping
/// runs code of the module, too: objects of the module may end with the body.
///
/// `@unchecked Sendable`: `body` is accessed only by the thread that runs the job: the lane's owner or,
/// deferred by it, the overdue module's own thread; the lane's lock orders the two. `LaneTakeoverTests` under
/// the thread sanitizer would break it.
final class ModuleJob: LaneJob, @unchecked Sendable {
    let limit: DeliveryLimit
    let trace: TraceContext?
    private let gate: Gate
    private let slot: ModuleSlot
    private let reachesLeaving: Bool
    private var body: (@Sendable () throws -> Void)?
    private let completion: @Sendable (Result<Void, any Error>) -> Void

    /// - Parameters:
    ///   - gate: The way into the module.
    ///   - slot: The module's slot.
    ///   - limit: The deadline that applies.
    ///   - reachesLeaving: Whether it is also for a module that is being unloaded, which then waits for it.
    ///   - trace: The trace that the code is a part of.
    ///   - body: Code of the module.
    ///   - completion: Called with the result, an error in words, on any thread.
    init(
        gate: Gate, slot: ModuleSlot, limit: DeliveryLimit = .event, reachesLeaving: Bool = false,
        trace: TraceContext? = nil,
        body: @escaping @Sendable () throws -> Void,
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void = { _ in }
    ) {
        self.gate = gate
        self.slot = slot
        self.limit = limit
        self.reachesLeaving = reachesLeaving
        self.trace = trace
        self.body = body
        self.completion = completion
    }

    func run(on thread: LaneThread, after stuck: UInt16) {
        guard stuck == 0 else { return }
        let admission = gate.lane.admit(slot, at: nil)
        if admission == .skip, !reachesLeaving {
            // The body may contain the last reference to an object of the module: it is dropped on the thread
            // where the module is busy, if it still is.
            let work = DeferredWork { [self] in
                body = nil
            } abandon: { [self] in
                body = nil
            }
            let isDeferred = gate.lane.defer(for: slot, work)
            if !isDeferred { _ = gate.call(slot, on: thread) { body = nil } }
            return abandon()
        }
        if admission != .go {
            let work = DeferredWork { [self] in
                completion(perform())
            } abandon: { [self] in
                if reachesLeaving { completion(perform()) } else { drop() }
            }
            // The overdue module may have returned at this very moment.
            if gate.lane.defer(for: slot, work) { return }
        }
        var result = Result<Void, any Error>.failure(ModuleGone(id: slot.id))
        _ = gate.call(slot, on: thread) { result = perform() }
        completion(result)
    }

    func abandon() { completion(.failure(ModuleGone(id: slot.id))) }

    private func drop() {
        body = nil
        abandon()
    }

    private func perform() -> Result<Void, any Error> {
        guard let body else { return .failure(ModuleGone(id: slot.id)) }
        self.body = nil
        return Result { try describing(body) }
    }
}

/// The error of work for a module that failed, or was released.
struct ModuleGone: Error, CustomStringConvertible {
    let id: ModuleID?

    var description: String {
        "module \(id.map { "'\($0)'" } ?? "") was unloaded, so the result is discarded"
    }
}
