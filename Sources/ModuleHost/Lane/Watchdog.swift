import AppService
import Synchronization

/// The watchdog that takes the lane from a module that exceeds its deadline.
///
/// Armed when the lane begins to work, asleep when the lane is idle: an idle host has no timer. It counts its
/// own ticks, at least ten to a deadline, and not the elapsed time, so that a process that was stopped or
/// suspended has not exceeded a deadline. From the first tick that sees a delivery it counts as many as make
/// up the deadline; so a deadline is exact to one tick, a tenth.
///
/// In a stop a module gets less than its deadline where the ``StopBudget`` limits it.
final class Watchdog: Sendable {
    /// The deadlines of module code.
    struct Limits: Sendable {
        var event: Duration = .seconds(5)
        var launch: Duration = .seconds(20)
        var stop: Duration = .seconds(10)
        /// The shortest of the modules' own deadlines, if there are any.
        var shortestOfModules: Duration?

        fileprivate var tick: Duration {
            let shortest = min(event, launch, stop, shortestOfModules ?? event)
            return max(shortest / 10, .microseconds(100))
        }
    }

    /// The delivery that the last tick saw.
    private struct Sight {
        var delivery: UInt32?
        /// The sum of the ticks that saw it; a reload may change their length.
        var counted = Duration.zero
        /// Whether the delivery has exceeded its deadline, and the ``LaneDelegate`` handles that itself.
        var isReported = false
        /// The time that the delivery may take in a stop; fixed when the first tick of the stop sees it.
        var timeLimitInStop: Duration?
    }

    private let currentLimits: Guarded<Limits>
    let time: any TimeSource
    private let isArmed = Atomic(false)
    private let sight = Guarded(Sight())
    private let stopBudget = Guarded<StopBudget?>(nil)
    private let pending = Guarded<(any Alarm)?>(nil)
    private let overrun = Guarded<Duration?>(nil)

    /// The time that the last overdue delivery had taken when the lane was taken from it, to one tick; nil before.
    var lastOverrun: Duration? { overrun.withLock { $0 } }

    init(limits: Limits, time: any TimeSource) {
        currentLimits = Guarded(limits)
        self.time = time
    }

    /// The deadlines from the next tick on; the lane never reads them.
    var limits: Limits {
        get { currentLimits.withLock { $0 } }
        set { currentLimits.withLock { $0 = newValue } }
    }

    /// Begins a stop, whose time is over at an instant.
    func stopBegins(until end: ContinuousClock.Instant, within limit: Duration) {
        stopBudget.withLock { $0 = StopBudget(end: end, limit: limit) }
    }

    /// Begins the step of an event of the stop, before the modules receive it.
    func stopReaches(_ event: EventKind) { stopBudget.withLock { $0?.reach(event) } }

    /// Returns the time that the process of a module has for a step of the stop; nil without a stop.
    func share(of slot: ModuleSlot) -> Duration? {
        stopBudget.withLock { $0?.share(of: slot, at: time.now()) }
    }

    /// The time that processes have for a step of the stop; nil without a stop.
    var restOfStep: Duration? { stopBudget.withLock { $0?.restOfStep(at: time.now()) } }

    /// Notes that the lane was taken from a module that did not return in time.
    func tookOver(from slot: ModuleSlot) {
        stopBudget.withLock { budget in
            guard budget != nil else { return }
            budget?.hasOverdueModules = true
            slot.wasOverdueInStop.store(true, ordering: .relaxed)
        }
    }

    /// Arms the watchdog; called by the lane each time it takes a job.
    func arm(for lane: Lane) {
        guard !isArmed.load(ordering: .relaxed) else { return }
        let wasArmed = isArmed.exchange(true, ordering: .sequentiallyConsistent)
        if !wasArmed { schedule(for: lane) }
    }

    /// Stops the watchdog: the lane has ended.
    func stop() { pending.withLock { $0 }?.cancel() }

    private func schedule(for lane: Lane) {
        // Not weak: an object that ever had a weak reference counts its references elsewhere from then on,
        // and the lane's are counted with each message. An alarm keeps it for one tick.
        let tick = tick
        let alarm = time.schedule(after: tick) { [self] in look(at: lane, after: tick) }
        pending.withLock { $0 = alarm }
    }

    private func look(at lane: Lane, after tick: Duration) {
        let word = lane.ownership
        let watched = lane.watched(at: word)
        guard watched.isBusy else { return disarm(lane) }
        let isOverdue = sight.withLock { sight in
            guard word.depth > 0 else {
                sight = Sight()
                return false
            }
            // The host's own code runs in the middle of a module's call, for a moment.
            guard word.slot != 0 else { return false }
            guard sight.delivery == word.delivery else {
                sight = Sight(delivery: word.delivery)
                return false
            }
            let timeLimit = timeLimit(watched, &sight)
            sight.counted += tick
            let isOverdue = sight.counted >= timeLimit && !sight.isReported
            if isOverdue { overrun.withLock { $0 = sight.counted } }
            return isOverdue
        }
        if isOverdue {
            if lane.delegate.reportUnresponsive() {
                sight.withLock { $0.isReported = true }
            } else if lane.takeOver(at: word) {
                sight.withLock { $0 = Sight() }
            }
        }
        schedule(for: lane)
    }

    private func disarm(_ lane: Lane) {
        sight.withLock { $0 = Sight() }
        isArmed.store(false, ordering: .sequentiallyConsistent)
        // The lane may have taken a job after the check, and found the watchdog still armed.
        if lane.watched(at: lane.ownership).isBusy { arm(for: lane) }
    }

    private var tick: Duration {
        let limits = limits
        let budget = stopBudget.withLock { $0 }
        return budget.map { $0.tick(at: time.now(), atMost: limits.tick) } ?? limits.tick
    }

    /// Returns the time that the watched delivery may take.
    private func timeLimit(_ watched: Lane.Watched, _ sight: inout Sight) -> Duration {
        let usual = limit(watched.limit, of: watched.slot)
        if let fixed = sight.timeLimitInStop { return min(usual, fixed) }
        guard let budget = stopBudget.withLock({ $0 }) else { return usual }
        // A delivery that was seen before the stop began gets the rest of its time, or half of the remaining
        // time.
        let timeLimit = budget.timeLimit(
            of: watched.slot, before: watched.modulesToCome, at: time.now())
        sight.timeLimitInStop = sight.counted + timeLimit
        return min(usual, sight.counted + timeLimit)
    }

    private func limit(_ limit: DeliveryLimit, of slot: ModuleSlot?) -> Duration {
        switch limit {
        case .event: slot?.deadline ?? limits.event
        case .launch: limits.launch
        case .stop: limits.stop
        }
    }
}
