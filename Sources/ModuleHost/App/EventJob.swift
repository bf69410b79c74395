import Synchronization

/// A job that delivers events one after the other, and continues with the next responder on another thread
/// where one is stuck.
///
/// `@unchecked Sendable`: all mutable state is accessed only by the thread that owns the lane; the ownership
/// word orders one owner's writes before the next one's reads. `LaneTakeoverTests` under the
/// thread sanitizer would break it.
final class EventJob: EventProgress, LaneJob, @unchecked Sendable {
    let limit: DeliveryLimit
    private let app: LaneConfined<App>
    private let request: EventRequest
    private let load: InFlight?
    private var plan: EventPlan?
    private var index = 0
    private(set) var event: LifecycleEvent? {
        didSet { delivers.store(event != nil, ordering: .relaxed) }
    }
    /// Whether ``event`` is set, for the watchdog, which does not own the lane.
    private let delivers = Atomic(false)

    /// - Parameters:
    ///   - request: The request.
    ///   - app: The app.
    ///   - limit: The deadline of each module.
    ///   - load: The request as an item in flight, released with the job.
    init(
        _ request: EventRequest, in app: LaneConfined<App>, limit: DeliveryLimit = .event,
        load: consuming InFlight? = nil
    ) {
        self.request = request
        self.load = load
        self.limit = limit
        self.app = app
    }

    func run(on thread: LaneThread, after slot: UInt16) {
        let app = app.open(on: thread)
        var after: UInt16 = 0
        if slot != 0, let event {
            noteOverdue(slot, in: app.gate.lane)
            let stuck = app.gate.lane.slot(slot)
            after = stuck?.rank ?? .max
            let step = tally.notifiedOverdue(stuck, of: event.kind)
            if step == .end || !app.goesOn(with: event) {
                end(event, in: app)
                after = 0
            }
        }
        guard let plan = plan ?? app.plan(request, of: self) else { return }
        self.plan = plan
        while let planned = plan[index] {
            if event == nil {
                if planned.kind == .terminate, app.shutdown.keepsBeforeEnd(self) { return }
                if planned.kind.makesModules, app.onDemand.listens {
                    switch app.onDemand.makeModules(for: planned, of: self, on: thread) {
                    case .ready: break
                    case .lost: return
                    case .kept:
                        // A stop may come first.
                        self.plan = nil
                        return
                    }
                }
            }
            if event == nil {
                guard app.makeRoom(on: thread) else { return }
                if planned.kind.isClaimed {
                    guard app.settleListeners(of: planned.kind, on: thread) else { return }
                }
            }
            let event = event ?? begin(planned, in: app)
            guard deliver(event, in: app, on: thread, after: after) else { return }
            after = 0
        }
        app.role.completed(request, in: app)
    }

    private func begin(_ planned: LifecycleEvent, in app: App) -> LifecycleEvent {
        var event = planned
        app.begin(&event)
        reset()
        takesTimes = app.eventBegan != nil
        self.event = event
        return event
    }

    var isDroppable: Bool { request.isFromOutside }

    var isDelivering: Bool { delivers.load(ordering: .relaxed) }

    /// The entry of the inbox that the request comes from.
    var entry: InboxEntry? { request.entry }

    func abandon() { abandonInHand() }

    func abandonInHand() {
        if case .event(_, let completion?) = request {
            completion.finish(.failure(RouteError.stopped))
        }
    }

    /// - Returns: False where the lane was lost: its state must not be accessed any more.
    private func deliver(
        _ event: LifecycleEvent, in app: App, on thread: LaneThread, after rank: UInt16
    ) -> Bool {
        let isKept = event.kind.definition.send(
            event, from: app.center, through: app.gate, on: thread, after: rank, counting: self)
        if isKept { end(event, in: app) }
        return isKept
    }

    override func failed(
        _ slot: ModuleSlot, in event: LifecycleEvent, _ error: any Error, on thread: LaneThread
    ) -> FanStep {
        app.open(on: thread).failed(slot, in: event, error)
    }

    private func end(_ event: LifecycleEvent, in app: App) {
        app.gate.lane.endDelivery(of: event, with: tally.lastAsked)
        takeSlow(in: app.gate.lane)
        tally.delivered = max(0, notifiedCount - tally.failed - tally.overdueInIt)
        if open.isEmpty {
            app.ended(event, tally, of: request)
        } else {
            app.opened(event, tally, of: request, waitingFor: open)
        }
        // The inbox may keep the job for longer than the slots that this names.
        reset()
        self.event = nil
        index += 1
    }
}

/// A request for an event or a change of state.
enum EventRequest: Sendable {
    /// An event that changes no state, from outside; with the receiver of the result of a URL, if there is
    /// one.
    case event(LifecycleEvent, CallCompletion<AppHost.CallReply>? = nil)
    /// A change of state, from outside; with a closure that is called if it has no meaning in the current
    /// state.
    case change(
        LifecycleState.Change, origin: Origin,
        onIgnored: (@Sendable (LifecycleState) -> Void)? = nil)
    /// An event of the host itself, immediately.
    case own(LifecycleEvent)
    /// A change of state of the host itself, immediately.
    case ownChange(LifecycleState.Change, origin: Origin)
}

extension EventRequest {
    /// Whether it was accepted from outside, or posted by a module; otherwise it is the host's own.
    fileprivate var isFromOutside: Bool {
        switch self {
        case .event, .change: true
        case .own, .ownChange: false
        }
    }

    /// The entry of the inbox that the event comes from.
    fileprivate var entry: InboxEntry? {
        switch self {
        case .event(let event, _), .own(let event): event.entry
        case .change, .ownChange: nil
        }
    }
}
