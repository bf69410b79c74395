/// Enters one module for something that is not an event: a start-up result, a timer's tick, its
/// release.
///
/// Waits where the module is overdue; is dropped where the module is gone, or goes. Dropping is code of the
/// module's, too: what the body holds may end with it.
///
/// `@unchecked Sendable`: `body` is touched only by the thread that runs the job: the lane's owner or, deferred by
/// it, the overdue module's own thread; the lane's lock orders the two. `LaneTakeoverTests` under the thread
/// sanitizer would break it.
final class ModuleJob: LaneJob, @unchecked Sendable {
    let limit: DeliveryLimit
    private let gate: Gate
    private let slot: ModuleSlot
    private let reachesLeaving: Bool
    private var body: (@Sendable () throws -> Void)?
    private let completion: @Sendable (Result<Void, any Error>) -> Void

    /// - Parameters:
    ///   - gate: The way into the module.
    ///   - slot: The module's place.
    ///   - limit: What it is allowed.
    ///   - reachesLeaving: Whether it is also for a module that is on its way out, and waits for it.
    ///   - body: Code of the module.
    ///   - completion: Told what came of it, an error in words, on whatever thread.
    init(
        gate: Gate, slot: ModuleSlot, limit: DeliveryLimit = .event, reachesLeaving: Bool = false,
        body: @escaping @Sendable () throws -> Void,
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void = { _ in }
    ) {
        self.gate = gate
        self.slot = slot
        self.limit = limit
        self.reachesLeaving = reachesLeaving
        self.body = body
        self.completion = completion
    }

    func run(on thread: LaneThread, after stuck: UInt16) {
        guard stuck == 0 else { return }
        let admission = gate.lane.admit(slot, at: nil)
        if admission == .skip, !reachesLeaving {
            // The body may hold the last of the module: it is dropped where the module is busy, if it still is.
            let work = OverdueModules.Work { [self] in
                body = nil
            } abandon: { [self] in
                body = nil
            }
            let isDeferred = gate.lane.defer(for: slot, work)
            if !isDeferred { _ = gate.call(slot, on: thread) { body = nil } }
            return abandon()
        }
        if admission != .go {
            let work = OverdueModules.Work { [self] in
                completion(perform())
            } abandon: { [self] in
                if reachesLeaving { completion(perform()) } else { drop() }
            }
            // An overdue module may be back at this very moment.
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

/// The module that something was meant for is failed, or was released.
struct ModuleGone: Error, CustomStringConvertible {
    let id: ModuleID?

    var description: String {
        "module \(id.map { "'\($0)'" } ?? "") is gone, so nobody takes the result"
    }
}
