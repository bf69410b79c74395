import AppService
import Dispatch
import Glibc
import TestSupport

@testable import ModuleHostCore

/// Runs one schedule against a real host, under a clock that only the schedule moves.
///
/// The thread that runs it is what is outside of the host: it delivers, opens doors, and makes the watchdog
/// look. It waits for what must come, as long as that takes; the limit is for what never does.
struct ModelTrial {
    /// Something did not come.
    struct Hang: Error {
        let what: String
    }

    private let schedule: Schedule
    private let stage: ModelStage
    private let slatefile: Slatefile
    private let host: AppHost
    private let lane: Lane
    private let time = ManualTimeSource()
    private let patience: Duration
    private var markers = 0
    private var isStopped = false
    /// Who stood on the lane before the last door was opened there.
    private var stale: ModelStage.Stand?
    /// What the watchdog has looked at last, and how often.
    private var looks: (delivery: UInt32, count: Int) = (0, 0)
    /// A thread was let out of a door beside the lane; what was there before.
    private var released: (jobs: Int, overdue: Int, news: Int)?

    /// What came of a trial.
    struct Outcome {
        /// What was wrong; empty where all was as it must be.
        var diagnostics: [String]
        var tally = DeliveryModel.Tally()
    }

    /// Runs a schedule.
    ///
    /// - Parameters:
    ///   - schedule: The schedule.
    ///   - slatefile: The slatefile of those who are tried one after the other.
    ///   - limit: How long to wait for what never comes.
    /// - Returns: What came of it.
    static func outcome(
        of schedule: Schedule, with slatefile: ModelSlatefile, limit: Duration = .seconds(60)
    ) -> Outcome {
        var trial = ModelTrial(schedule, slatefile, limit)
        do {
            try trial.run()
        } catch let hang as Hang {
            let words = "hangs: \(hang.what); \(trial.stage.whereabouts); \(trial.lane.whereabouts)"
            return Outcome(diagnostics: trial.stage.diagnostics + [words])
        } catch {
            return Outcome(diagnostics: ["\(error)"])
        }
        let diagnostics = trial.stage.diagnostics
        guard diagnostics.isEmpty else { return Outcome(diagnostics: diagnostics) }
        var model = DeliveryModel(schedule)
        for moment in trial.stage.history { model.take(moment) }
        let end = model.end()
        return Outcome(diagnostics: end, tally: model.tally)
    }

    private init(_ schedule: Schedule, _ slatefile: ModelSlatefile, _ limit: Duration) {
        self.schedule = schedule
        patience = limit
        let stage = ModelStage(schedule, worker: slatefile.worker)
        self.stage = stage
        self.slatefile = slatefile.slatefile(of: schedule)
        host = AppHost(
            slatefile: self.slatefile, stateDirectory: "/nonexistent",
            log: Log(to: stage, threshold: .notice), time: time,
            observer: AppHost.Observer(
                onReady: { _, _, _ in stage.reached(marker: 1) }, onEnd: { stage.ended($0) }))
        lane = host.gate.lane
        stage.watch(lane)
    }

    private mutating func run() throws {
        try host.launch()
        markers = 1
        try wait(for: "READY") { stage.marker >= 1 }
        for step in schedule.steps where stage.diagnostics.isEmpty { try take(step) }
        try finish()
    }

    // MARK: Steps

    private mutating func take(_ step: Schedule.Step) throws {
        switch step {
        case .deliver(let event): try deliver(event)
        case .settle: try settle()
        case .tick(let count):
            try settle()
            for _ in 0..<count { _ = look() }
        case .overrun:
            try settle()
            // Thrice the longest deadline: who stands there still is not overdue for this host.
            var count = 0
            while count < 6 * Schedule.patience, look() { count += 1 }
        case .race(let turns): try race(turns)
        case .strike:
            try settle()
            // With no thread there, the one of before may still be on the way.
            guard let stale, let word = stale.word, let stand, stand.entered != stale.entered
            else { return }
            if lane.takeOver(at: word) {
                stage.error("the lane was taken over from a delivery that was over")
            }
        case .open(let door): open(door)
        case .wake(let number): stage.wake(number)
        case .hold(let door):
            let stage = stage
            host.onLane { _, _ in stage.pass(door, entered: 0, turns: nil) }
        case .squeeze(let first, let second, let turns):
            stage.note(.opens(door: first))
            stage.note(.opens(door: second))
            lane.state.withLock { _ in
                release(first, turns)
                release(second, turns)
            }
        case .stop:
            stage.note(.stops)
            host.stop(because: "of the schedule")
            isStopped = true
        }
    }

    private func deliver(_ event: Schedule.Event) throws {
        let number = event.number
        let deliver: () -> Void
        switch event.kind {
        case .message:
            let event = try LifecycleEvent.message(topic: "\(number)", payload: nil, origin: .host)
            deliver = { host.deliver(event) }
        case .shortcut:
            let payload = try JSONValue(parsing: #"{"type": "\#(number)"}"#)
            let event = try LifecycleEvent(.shortcut, payload: payload, origin: .host)
            deliver = { host.deliver(event) }
        case .configuration:
            let new = try reloaded(number)
            deliver = { host.reload(new, tokens: .empty, origin: .host) { _ in } }
        }
        stage.note(.offers(number))
        deliver()
        stage.note(.offered(number))
    }

    /// The slatefile as it is read again: the settings of those who take them are the number of the event.
    private func reloaded(_ number: Int) throws -> Slatefile {
        var new = slatefile
        for index in new.modules.indices where schedule.modules[index].isKeen {
            new.modules[index].config = try JSONValue(parsing: "\(number)")
        }
        return new
    }

    private mutating func open(_ door: Int) {
        if let waiting = stage.waiting(at: door) {
            if waiting.word == lane.ownership {
                stale = waiting
            } else {
                released = lane.state.withLock { state in
                    (state.jobs.count, state.mailboxes.overdueSlots.count, newsOfLate)
                }
            }
        }
        stage.note(.opens(door: door))
        stage.open(door)
    }

    // MARK: The watchdog

    /// Who stands before a closed door on the lane.
    private var stand: ModelStage.Stand? { stage.stand(at: lane.ownership) }

    /// Has the watchdog look at who stands before a door on the lane.
    ///
    /// Time stands still for all other threads: a deadline is longer than any other code takes.
    ///
    /// - Returns: Whether they stand there still.
    private mutating func look() -> Bool {
        guard let stand, let word = stand.word else { return false }
        looks = (word.delivery, looks.delivery == word.delivery ? looks.count + 1 : 1)
        stage.note(.looks(door: stand.door))
        // In a stop the watchdog may look more often. What is left of the time once the lane is taken would count
        // for the next module, or not, as its thread is quick or slow.
        let step = isStopped ? StopBudget.minimum / 10 : ModelSlatefile.tick
        var left = ModelSlatefile.tick
        repeat {
            time.advance(by: step)
            left -= step
        } while left > .zero && lane.ownership == word
        stage.note(.looked)
        return lane.ownership == word
    }

    /// Has it look up to the last time but one, and for the last time while the door is being opened.
    private mutating func race(_ turns: Int) throws {
        try settle()
        guard let word = stand?.word else { return }
        let own = lane.watched(at: word).slot?.deadline.map { $0 / ModelSlatefile.tick }
        let patience = Int(own ?? Double(Schedule.patience))
        while let stand, stand.word == word,
            looks.delivery != word.delivery || looks.count < patience
        {
            _ = look()
        }
        guard let stand else { return }
        stage.note(.races)
        open(stand.door)
        stage.linger(turns)
        time.advance(by: ModelSlatefile.tick)
    }

    /// Opens a door, and gives who stood there the time to come to the lane's lock.
    ///
    /// Where the time does not suffice, it was an ordinary race.
    private func release(_ door: Int, _ turns: Int) {
        stage.open(door)
        while !stage.isLeft(door) { sched_yield() }
        stage.linger(turns)
    }

    // MARK: Waiting

    private func wait(for what: String, until isThere: () -> Bool) throws(Hang) {
        while !isThere() {
            let deadline = DispatchTime.now() + .nanoseconds(patience.wholeNanoseconds)
            if stage.news.wait(timeout: deadline) == .timedOut, !isThere() {
                throw Hang(what: what)
            }
        }
    }

    /// Waits until the lane stands before a door, or has nothing left to do, and until who was let out beside
    /// it has come to the next door, has caught up, or waits for the lane.
    private mutating func settle() throws(Hang) {
        markers += 1
        let (stage, marker) = (stage, markers)
        host.onLane { _, _ in stage.reached(marker: marker) }
        try wait(for: "the lane, which waits for a module") {
            stage.marker >= marker || stand != nil || stage.end != nil
        }
        guard let released else { return }
        self.released = nil
        let clock = ContinuousClock()
        let deadline = clock.now + patience
        // That it waits for the lane is seen in the lane's list alone, where the marker stands, too.
        while newsOfLate == released.news, stage.diagnostics.isEmpty, stage.end == nil,
            stand == nil || lane.state.withLock({ $0.jobs.count }) <= released.jobs + 1
        {
            // A module that a stop releases meanwhile catches up with nothing, and the log does not name it.
            if isStopped, lane.overdueSlots.count < released.overdue { return }
            sched_yield()
            if clock.now > deadline { throw Hang(what: "who was let out of a door") }
        }
    }

    /// Grows when a thread comes to a door, or a module has caught up.
    private var newsOfLate: Int { stage.arrivals + stage.rejoinings }

    /// Waits until everything that was accepted is done.
    private mutating func drain() throws(Hang) {
        markers += 1
        let (stage, marker) = (stage, markers)
        host.onLaneWhenIdle { _ in stage.reached(marker: marker) }
        try wait(for: "the lane, to have done it all") { stage.marker >= marker }
    }

    /// Opens all doors, requires that no module is overdue any more, and ends the app.
    private mutating func finish() throws {
        stage.note(.opensAll)
        stage.openAll()
        if !isStopped {
            // No further module becomes overdue, and the log has said which ones are.
            try drain()
            try wait(for: "the late, to rejoin") { stage.overdue.isEmpty }
            try drain()
            try deliver(DeliveryModel.last)
            try drain()
            stage.note(.stops)
            host.stop(because: "the trial is over")
        }
        try wait(for: "the end") { stage.end != nil }
        if stage.end != .stopped { stage.error("ended as \(stage.end.map { "\($0)" } ?? "")") }
        let count = schedule.modules.count
        try wait(for: "modules, to be let go") { stage.gone == count }
        let lane = host.gate.lane
        try wait(for: "the lane's thread, to end") { lane.needsNoThread }
        time.dropAlarms()
    }
}

extension Lane {
    /// Whether the lane is closed, and its own thread ends or has ended.
    fileprivate var needsNoThread: Bool {
        state.withLock { $0.isClosed && !$0.isAsleep }
    }

    /// The state of the lane, for a trial that does not come to its end.
    fileprivate var whereabouts: String {
        let word = ownership
        return state.withLock { state in
            let overdue = state.mailboxes.overdueSlots.map { "\($0.number)" }.joined(separator: ",")
            return "lane: slot \(word.slot), depth \(word.depth), \(state.jobs.count) jobs, "
                + "\(state.isAsleep ? "asleep" : "awake"), owned: \(state.thread.ownership == word), "
                + "current: \(state.current.map { "\(type(of: $0))" } ?? "none"), "
                + "resumption: \(state.resumption != nil), overdue: \(overdue)"
        }
    }
}
