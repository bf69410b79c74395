/// Enters one module for something that is not an event: a start-up result, a timer's tick, letting
/// it go.
///
/// Waits where the module is late; is dropped where the module is gone.
struct LaneErrand: LaneJob {
    let gate: Gate
    let cell: Cell
    var limit: DeliveryLimit = .event
    let body: @Sendable () throws -> Void
    /// Told what came of it, on whatever thread.
    let completion: @Sendable (Result<Void, any Error>) -> Void

    func run(on thread: LaneThread, after stuck: UInt16) {
        guard stuck == 0 else { return }
        switch gate.lane.admit(cell, at: nil) {
        case .skip: abandon()
        case .late:
            let work = LateModules.Work { [self] in
                completion(Result { try body() })
            } abandon: { [self] in
                abandon()
            }
            let isDeferred = gate.lane.defer(for: cell, work)
            // It came back in this very moment.
            if !isDeferred { enter(on: thread) }
        case .go: enter(on: thread)
        }
    }

    func abandon() { completion(.failure(ModuleGone(id: cell.id))) }

    private func enter(on thread: LaneThread) {
        var result = Result<Void, any Error>.failure(ModuleGone(id: cell.id))
        _ = gate.call(cell, on: thread) { result = Result { try body() } }
        completion(result)
    }
}

/// The module that something was meant for is failed, or was let go.
struct ModuleGone: Error, CustomStringConvertible {
    let id: ModuleID?

    var description: String {
        "module \(id.map { "'\($0)'" } ?? "") is gone, so nobody takes the result"
    }
}
