import AppService

/// The holds that modules have on steps of the app's life, and the jobs that wait for their end.
///
/// Any thread may use it. No code of a module runs under its lock: a hold's handler is run, and released, in
/// its module.
final class HoldList: Sendable {
    typealias ID = Int

    /// The end of a hold.
    enum Ending {
        /// Its module ended it, or its handler has run.
        case ended
        /// It was released without being ended.
        case release
    }

    fileprivate struct Hold {
        let module: ModuleID
        let slot: ModuleSlot
        let step: EventKind
        let reason: String
        let began: ContinuousClock.Instant
        var handler: LaneConfined<HoldHandler>?
        var clock = Clock.stopped
    }

    /// The clock of a hold's time.
    fileprivate enum Clock {
        /// It does not run out: the app is in the foreground.
        case stopped
        /// It runs out at that instant. The turn distinguishes this alarm from one that was cancelled too
        /// late.
        case runs(until: ContinuousClock.Instant, alarm: any Alarm, turn: Int)
        /// It has run out, and the handler is about to run.
        case ranOut
    }

    /// A job that continues once no hold is open.
    fileprivate struct Waiting {
        let job: any LaneJob
        /// The module whose holds it waits for; nil for all.
        let slot: ModuleSlot?
    }

    fileprivate struct State {
        /// The time that a hold may take.
        var timeLimit: Duration
        var holds: [ID: Hold] = [:]
        var waiting: [Waiting] = []
        var nextID = 0
        var nextTurn = 0
        var isInForeground = true
        /// The deadline of the stop; nil before there is one.
        var stopEnds: ContinuousClock.Instant?
        var isClosed = false
    }

    private let gate: Gate
    private let log: Log
    private let time: any TimeSource
    private let state: Guarded<State>

    /// - Parameters:
    ///   - gate: The way to the modules.
    ///   - log: The log for holds that took too long.
    ///   - time: The clock.
    ///   - timeLimit: The time that a hold may take.
    init(gate: Gate, log: Log, time: any TimeSource, timeLimit: Duration) {
        self.gate = gate
        self.log = log
        self.time = time
        state = Guarded(State(timeLimit: timeLimit))
    }

    /// Sets the time for holds that begin from now on.
    func exchange(timeLimit: Duration) { state.withLock { $0.timeLimit = timeLimit } }

    // MARK: Holds

    /// Opens a hold.
    func add(_ request: consuming Request) throws(HoldError) -> ID {
        let hold = Hold(
            module: request.module, slot: request.slot, step: request.step, reason: request.reason,
            began: time.now(), handler: request.handler)
        let id = state.withLock { state -> ID? in
            guard !state.isClosed else { return nil }
            let id = state.nextID
            state.nextID += 1
            state.holds[id] = hold
            // A module that receives `background` late may do so when the app is in the foreground again.
            if hold.step == .terminate || !state.isInForeground { start(id, in: &state) }
            return id
        }
        guard let id else { throw .stopped }
        log.of(module: hold.module.text).debug("holds '\(hold.step.rawValue)': \(hold.reason)")
        return id
    }

    /// Ends a hold, unless it has ended.
    func end(_ id: ID, how: Ending) {
        let (ended, ready) = state.withLock { state -> (Hold?, [any LaneJob]) in
            guard !state.isClosed, let hold = state.holds.removeValue(forKey: id) else {
                return (nil, [])
            }
            hold.clock.cancel()
            return (hold, state.takeReady())
        }
        guard let ended else { return }
        let took = ended.began.duration(to: time.now()).briefText
        log.of(module: ended.module.text).debug(
            how == .release
                ? "released its hold on '\(ended.step.rawValue)' without ending it: \(ended.reason)"
                : "ended its hold on '\(ended.step.rawValue)' after \(took): \(ended.reason)")
        if let handler = ended.handler {
            gate.lane.enqueue(
                ModuleJob(gate: gate, slot: ended.slot) { handler.openInModule().drop() })
        }
        for job in ready { gate.lane.enqueue(job) }
    }

    /// Ends all holds of a module that is about to be released.
    ///
    /// In the module's code.
    func endAll(of slot: ModuleSlot) {
        let (ended, ready) = state.withLock { state -> ([Hold], [any LaneJob]) in
            let ended = state.holds.filter { $0.value.slot === slot }
            for (id, hold) in ended {
                hold.clock.cancel()
                state.holds[id] = nil
            }
            return (Array(ended.values), state.takeReady())
        }
        for hold in ended { hold.handler?.openInModule().drop() }
        for job in ready { gate.lane.enqueue(job) }
    }

    /// Returns the remaining time of a hold; nil if it does not run out.
    func remaining(_ id: ID) -> Duration? {
        let now = time.now()
        return state.withLock { state in
            state.holds[id].map { state.remaining(of: $0, at: now) } ?? .zero
        }
    }

    // MARK: The app's life

    /// Notes that the modules are about to receive an event.
    ///
    /// Holds do not run out in the foreground; in the background their time begins again.
    func follow(_ event: EventKind) {
        switch event {
        case .foreground:
            state.withLock { state in
                state.isInForeground = true
                for id in state.holds.keys { state.stop(id) }
            }
        case .background:
            state.withLock { state in
                state.isInForeground = false
                // In their order, in which they then run out.
                for id in state.holds.keys.sorted() { start(id, in: &state) }
            }
        default: break
        }
    }

    /// Notes that a stop has begun, with a limit for its time.
    func stopBegins(within limit: Duration) {
        let end = time.now() + limit
        state.withLock { $0.stopEnds = end }
    }

    /// Keeps a job, and puts it at the end of the lane's list once no hold is open.
    ///
    /// The holds that it waits for run out from now on, also in the foreground.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - slot: The module whose holds count; nil for those of all.
    /// - Returns: False if no hold is open: the caller continues itself.
    func keep(_ job: any LaneJob, untilNoneOf slot: ModuleSlot? = nil) -> Bool {
        state.withLock { state in
            let open = state.holds.filter { slot == nil || $0.value.slot === slot }
            guard !open.isEmpty, !state.isClosed else { return false }
            for id in open.keys.sorted() { start(id, in: &state) }
            state.waiting.append(Waiting(job: job, slot: slot))
            return true
        }
    }

    // MARK: Open holds

    /// The open holds, in the order in which they were taken.
    var open: [OpenHold] {
        let now = time.now()
        return state.withLock { state in
            state.holds.sortedByNumber(\.key).map { _, hold in
                OpenHold(
                    module: hold.module, step: hold.step, reason: hold.reason,
                    remaining: state.remaining(of: hold, at: now))
            }
        }
    }

    // MARK: The end

    /// Ends all holds: the host has ended, and no job waits any more.
    func close() {
        // A waiting job may have the last reference to an app, which is released outside the lock.
        let waiting = state.withLock { state -> [Waiting] in
            state.isClosed = true
            for hold in state.holds.values { hold.clock.cancel() }
            defer { state.waiting = [] }
            return state.waiting
        }
        withExtendedLifetime(waiting) {}
    }

    /// Releases the remaining holds when the modules are unloaded: handlers are code of theirs.
    func clear() {
        let left = state.withLock { state -> [ID: Hold] in
            defer { state.holds = [:] }
            return state.holds
        }
        for hold in left.values { hold.handler?.openInModule().drop() }
    }

    // MARK: Time

    /// Starts the time of a hold, unless it runs.
    private func start(_ id: ID, in state: inout State) {
        guard case .stopped = state.holds[id]?.clock else { return }
        let turn = state.nextTurn
        state.nextTurn += 1
        let timeLimit = state.timeLimit
        let alarm = time.schedule(after: timeLimit) { [self] in runOut(id, turn, of: timeLimit) }
        state.holds[id]?.clock = .runs(until: time.now() + timeLimit, alarm: alarm, turn: turn)
    }

    /// Handles the expiry of a hold: its module is notified, and then it ends.
    private func runOut(_ id: ID, _ turn: Int, of timeLimit: Duration) {
        let hold = state.withLock { state -> Hold? in
            guard !state.isClosed, let hold = state.holds[id],
                case .runs(_, _, turn) = hold.clock
            else { return nil }
            state.holds[id]?.clock = .ranOut
            state.holds[id]?.handler = nil
            return hold
        }
        guard let hold else { return }
        log.of(module: hold.module.text).warning(
            "held '\(hold.step.rawValue)' longer than \(timeLimit.briefText): \(hold.reason)")
        guard let handler = hold.handler else { return end(id, how: .ended) }
        gate.lane.enqueue(
            HoldExpiry(gate: gate, slot: hold.slot, handler) { [self] in end(id, how: .ended) })
    }
}

extension HoldList {
    /// A module's request for a hold.
    struct Request {
        let module: ModuleID
        let slot: ModuleSlot
        let step: EventKind
        let reason: String
        fileprivate let handler: LaneConfined<HoldHandler>?

        init(
            module: ModuleID, slot: ModuleSlot, step: EventKind, reason: String,
            expiry: (() -> Void)?
        ) {
            self.module = module
            self.slot = slot
            self.step = step
            self.reason = reason
            handler = expiry.map { LaneConfined(HoldHandler($0)) }
        }
    }
}

extension HoldList.State {
    /// Removes and returns the jobs that no longer wait for a hold.
    fileprivate mutating func takeReady() -> [any LaneJob] {
        guard !waiting.isEmpty else { return [] }
        var ready: [any LaneJob] = []
        waiting.removeAll { waits in
            let isReady = !holds.values.contains { waits.slot == nil || $0.slot === waits.slot }
            if isReady { ready.append(waits.job) }
            return isReady
        }
        return ready
    }

    /// Stops the time of a hold.
    fileprivate mutating func stop(_ id: HoldList.ID) {
        guard case .runs(_, let alarm, _) = holds[id]?.clock else { return }
        alarm.cancel()
        holds[id]?.clock = .stopped
    }

    fileprivate func remaining(
        of hold: HoldList.Hold, at now: ContinuousClock.Instant
    ) -> Duration? {
        let end: ContinuousClock.Instant?
        switch hold.clock {
        case .ranOut: return .zero
        case .runs(let until, _, _): end = min(until, stopEnds ?? until)
        case .stopped: end = stopEnds
        }
        return end.map { max(.zero, now.duration(to: $0)) }
    }
}

extension HoldList.Clock {
    fileprivate func cancel() {
        if case .runs(_, let alarm, _) = self { alarm.cancel() }
    }
}
