import AppService

/// What a context uses of its host.
///
/// It does not hold the host: a module that an overdue stop left behind keeps its context, and would
/// keep all the rest.
struct HostServices: ModuleServices {
    let gate: Gate
    let startup: StartupQueue
    let log: Log
    let time: any TimeSource
    let holds: HoldList
    private let reference = WeakHost()

    init(of host: Host) {
        gate = host.gate
        startup = host.startup
        log = host.log
        time = host.time
        holds = host.holds
        reference.set(host)
    }

    func eventInHand(of cell: Cell) -> LifecycleEvent? { gate.lane.eventInHand(of: cell) }

    var figures: HostFigures {
        guard let app = reference.host?.app else { return HostFigures() }
        return gate.lane.asHost { app.value.figures } ?? HostFigures()
    }

    func register(_ task: StartupTask) throws(StartupError) { try startup.register(task) }

    func post(_ event: LifecycleEvent) { reference.host?.deliver(event) }

    func enter(
        _ cell: Cell, _ body: @escaping @Sendable () throws -> Void,
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        gate.lane.enqueue(
            LaneErrand(gate: gate, cell: cell, body: body) { [log] result in
                if case .failure(let error) = result, !(error is ModuleGone) {
                    log.of(module: cell.id?.text ?? "").error("\(error)")
                }
                completion(result)
            })
    }
}
