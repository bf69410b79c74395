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

    fileprivate struct State {
        /// The time that a hold may take, and one of the launch.
        var timeLimit: Duration
        let launchLimit: Duration
        var holds: [ID: Hold] = [:]
        /// The ids of the holds by their modules' slots.
        var ofSlots: [ObjectIdentifier: Set<ID>] = [:]
        /// The jobs that continue once no hold is open.
        var waiting: [any LaneJob] = []
        /// The job for each slot that continues once its module has no hold.
        var waitingOfSlots: [ObjectIdentifier: any LaneJob] = [:]
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
    ///   - deadlines: The times that a hold may take: of the launch, and of any other step.
    init(gate: Gate, log: Log, time: any TimeSource, deadlines: Slatefile.Deadlines) {
        self.gate = gate
        self.log = log
        self.time = time
        state = Guarded(State(timeLimit: deadlines.stop, launchLimit: deadlines.launch))
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
            state.add(hold, as: id)
            // A module that receives `background` late may do so when the app is in the foreground again.
            if [.terminate, .launch].contains(hold.step) || !state.isInForeground {
                start(id, in: &state)
            }
            return id
        }
        guard let id else { throw .stopped }
        log.of(module: hold.module.text).debug("holds '\(hold.step.rawValue)': \(hold.reason)")
        return id
    }

    /// Ends a hold, unless it has ended.
    func end(_ id: ID, how: Ending) {
        let (ended, ready) = state.withLock { state -> (Hold?, [any LaneJob]) in
            guard !state.isClosed, let hold = state.remove(id) else { return (nil, []) }
            return (hold, state.takeReady(of: hold.slot))
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
            let ended = state.ids(of: slot).compactMap { state.remove($0) }
            return (ended, state.takeReady(of: slot))
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
                for (id, hold) in state.holds where hold.step != .launch { state.stop(id) }
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
        let ready = state.withLock { state in
            state.stopEnds = end
            // A launch that is not to end any more.
            let ended = state.holds.keys.filter { state.holds[$0]?.step == .launch }
            return ended.compactMap { state.remove($0) }.flatMap { state.takeReady(of: $0.slot) }
        }
        for job in ready { gate.lane.enqueue(job) }
    }

    /// Keeps a job, and puts it at the end of the lane's list once no hold is open.
    ///
    /// The holds that it waits for run out from now on, also in the foreground.
    ///
    /// - Parameters:
    ///   - job: The job. Where one waits for this module already, it does the same, and this one is dropped.
    ///   - slot: The module whose holds count; nil for those of all.
    /// - Returns: False if no hold is open: the caller continues itself.
    func keep(_ job: any LaneJob, untilNoneOf slot: ModuleSlot? = nil) -> Bool {
        state.withLock { state in
            let open = slot.map { state.ids(of: $0) } ?? state.holds.keys.sorted()
            guard !open.isEmpty, !state.isClosed else { return false }
            for id in open { start(id, in: &state) }
            guard let slot else {
                state.waiting.append(job)
                return true
            }
            let key = ObjectIdentifier(slot)
            if state.waitingOfSlots[key] == nil { state.waitingOfSlots[key] = job }
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
        let waiting = state.withLock { state -> [any LaneJob] in
            state.isClosed = true
            for hold in state.holds.values { hold.clock.cancel() }
            defer { (state.waiting, state.waitingOfSlots) = ([], [:]) }
            return state.waiting + state.waitingOfSlots.values
        }
        withExtendedLifetime(waiting) {}
    }

    /// Releases the remaining holds when the modules are unloaded: handlers are code of theirs.
    func clear() {
        let left = state.withLock { $0.removeAll() }
        for hold in left { hold.handler?.openInModule().drop() }
    }

    // MARK: Time

    /// Starts the time of a hold, unless it runs.
    private func start(_ id: ID, in state: inout State) {
        guard case .stopped = state.holds[id]?.clock else { return }
        let turn = state.nextTurn
        state.nextTurn += 1
        let isLaunch = state.holds[id]?.step == .launch
        let timeLimit = isLaunch ? state.launchLimit : state.timeLimit
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
    fileprivate mutating func add(_ hold: HoldList.Hold, as id: HoldList.ID) {
        holds[id] = hold
        ofSlots[ObjectIdentifier(hold.slot), default: []].insert(id)
    }

    /// Removes a hold, and ends its time.
    fileprivate mutating func remove(_ id: HoldList.ID) -> HoldList.Hold? {
        guard let hold = holds.removeValue(forKey: id) else { return nil }
        hold.clock.cancel()
        let key = ObjectIdentifier(hold.slot)
        ofSlots[key]?.remove(id)
        if ofSlots[key]?.isEmpty == true { ofSlots[key] = nil }
        return hold
    }

    fileprivate mutating func removeAll() -> [HoldList.Hold] {
        defer { (holds, ofSlots) = ([:], [:]) }
        return Array(holds.values)
    }

    /// The holds of a module, in the order in which they were taken.
    fileprivate func ids(of slot: ModuleSlot) -> [HoldList.ID] {
        ofSlots[ObjectIdentifier(slot)]?.sorted() ?? []
    }

    /// Removes and returns the jobs that no longer wait, after a hold of a module has ended.
    fileprivate mutating func takeReady(of slot: ModuleSlot) -> [any LaneJob] {
        let key = ObjectIdentifier(slot)
        guard ofSlots[key] == nil else { return [] }
        var ready = waitingOfSlots.removeValue(forKey: key).map { [$0] } ?? []
        if holds.isEmpty {
            ready += waiting
            waiting = []
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
