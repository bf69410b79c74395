import AppService
import Dispatch
public import Synchronization

/// The one line that all module code is entered from: a thread that works off a list of jobs.
///
/// Jobs lie on the heap and not in a Dispatch queue, since blocks behind a hung one could not be
/// moved. The ``OwnershipWord`` says which responder is in hand. When it does not move for a
/// deadline, the ``Watchdog`` takes the lane from its thread, and a new thread goes on with the next
/// responder; the old one is *late* until it returns and has caught up with the log.
///
/// "Am I on the lane" means that the word is mine: a thread that lost the lane still runs code of the
/// lane's, and finds out at its next exchange.
@usableFromInline
final class Lane: Sendable {
    /// What the lane asks of its host.
    struct Hooks: Sendable {
        /// Modules became late.
        ///
        /// On the lane.
        var onLate: @Sendable (LateReport) -> Void = { _ in }
        /// A module that was late has caught up.
        ///
        /// On the lane.
        var onRejoined: @Sendable (Cell, _ missed: Int) -> Void = { _, _ in }
        /// A thread that was stuck has returned, and its modules have caught up or are gone.
        ///
        /// On the lane.
        var onReturned: @Sendable () -> Void = {}
        /// Delivers an event of the log to a late module.
        ///
        /// On the thread that was stuck.
        var deliverLate: @Sendable (LifecycleEvent, Cell) -> Void = { _, _ in }
        /// A module threw.
        ///
        /// On the lane.
        var onFailure: @Sendable (Cell, any Error) -> Void = { _, _ in }
        /// A late module threw after the lane had been taken from it.
        ///
        /// On the thread that was stuck.
        var onLateFailure: @Sendable (Cell, any Error) -> Void = { _, _ in }
    }

    /// All that changes under the lane's one lock.
    struct State {
        var jobs = JobQueue()
        var idleJobs: [any LaneJob] = []
        var current: (any LaneJob)?
        var thread: LaneThread
        var isAsleep = false
        var isClosed = false
        var log = EventLog()
        var cells: [UInt16: Cell] = [:]
        var late = LateModules()
    }

    @usableFromInline let word = OwnershipWord()
    /// Changes whenever some cell's status does, so that a list which was in order at one epoch
    /// need not look at its cells while the epoch stays.
    @usableFromInline let epoch: Atomic<UInt64> = Atomic(0)
    /// The owner as unmanaged bits; `threads` keeps every one of them alive.
    private let owner = Atomic<UInt>(0)
    private let threads: Guarded<[LaneThread]>
    let state: Guarded<State>
    let hooks: Hooks
    let watchdog: Watchdog

    /// Makes a lane.
    ///
    /// It does nothing before ``start()``.
    init(limits: Watchdog.Limits, time: any TimeSource, hooks: Hooks = Hooks()) {
        let first = LaneThread(mine: Ownership(bits: 0))
        threads = Guarded([first])
        state = Guarded(State(thread: first))
        self.hooks = hooks
        watchdog = Watchdog(limits: limits, time: time)
    }

    /// Starts the lane's thread.
    ///
    /// - Throws: ``SystemError`` where the system has no room for a thread.
    func start() throws {
        try start(state.withLock { $0.thread }, after: 0, late: nil)
    }

    /// Lets the lane know a module's place, so that the word can be read back.
    func register(_ cell: Cell) {
        state.withLock { $0.cells[cell.number] = cell }
    }

    /// The cell of a number; nil for the host itself.
    func cell(_ number: UInt16) -> Cell? { state.withLock { $0.cells[number] } }

    // MARK: Jobs

    /// Puts a job at the end of the list.
    ///
    /// From any thread.
    func enqueue(_ job: any LaneJob) {
        let verdict = state.withLock { state -> (accepted: Bool, wake: LaneThread?) in
            guard !state.isClosed else { return (false, nil) }
            state.jobs.append(job)
            return (true, state.wakeUp())
        }
        verdict.wake?.wake.signal()
        if !verdict.accepted { job.abandon() }
    }

    /// Puts host code at the end of the list.
    ///
    /// From any thread.
    func enqueue(
        limit: DeliveryLimit = .event, _ body: @escaping @Sendable (LaneThread) -> Void
    ) {
        enqueue(LaneWork(limit: limit, body: body))
    }

    /// Puts jobs before all others, in their order.
    ///
    /// On the lane.
    func prepend(_ jobs: [any LaneJob]) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.jobs.prepend(jobs) }
            return state.isClosed
        }
        if isClosed { for job in jobs { job.abandon() } }
    }

    /// Runs `body` on the lane once its list is empty.
    ///
    /// From any thread.
    func whenIdle(_ body: @escaping @Sendable (LaneThread) -> Void) {
        let wake = state.withLock { state -> LaneThread? in
            guard !state.isClosed else { return nil }
            state.idleJobs.append(LaneWork(body: body))
            return state.wakeUp()
        }
        wake?.wake.signal()
    }

    /// Gives an event its position in the log.
    ///
    /// On the lane, before any module hears of it.
    func accept(_ event: inout LifecycleEvent) {
        state.withLock { state in
            state.log.append(&event, keeping: !state.late.isEmpty)
            state.late.enforceBacklogs(log: &state.log)
        }
    }

    /// Ends the lane once the job in hand is done.
    ///
    /// What is still listed is abandoned.
    func close() {
        let (left, wake) = state.withLock { state -> ([any LaneJob], LaneThread?) in
            state.isClosed = true
            let left = state.jobs.removeAll() + state.idleJobs
            state.idleJobs = []
            return (left, state.wakeUp())
        }
        wake?.wake.signal()
        for job in left { job.abandon() }
        watchdog.stop()
    }

    /// Runs `body` on the lane while the calling thread, which is not the lane's, waits for it.
    ///
    /// The lane never waits for the thread that waits here, so no circle can form.
    ///
    /// - Returns: nil where the lane was closed first.
    func serve<Result>(_ body: (LaneThread) -> Result) -> Result? {
        withoutActuallyEscaping(body) { body in
            let request = ServedRequest(body)
            enqueue(request)
            return request.wait()
        }
    }

    /// The calling thread as the lane's owner, or nil where the lane is another thread's.
    ///
    /// Not yet the last word: a thread that loses the lane at this very moment is still told it is the
    /// owner. Its next exchange of the word fails.
    @usableFromInline
    var hold: LaneThread? {
        guard
            let pointer = UnsafeRawPointer(bitPattern: owner.load(ordering: .acquiring))
        else { return nil }
        let thread = Unmanaged<LaneThread>.fromOpaque(pointer).takeUnretainedValue()
        guard thread.identity.load(ordering: .relaxed) == NativeThread.current else { return nil }
        return owns(thread) ? thread : nil
    }

    /// Whether `thread` still owns the lane.
    func owns(_ thread: LaneThread) -> Bool { word.load() == thread.mine }

    /// The event that the lane, or a late module's own thread, is delivering to `cell`.
    func eventInHand(of cell: Cell) -> LifecycleEvent? {
        state.withLock { state in
            state.late.holds(cell) ? state.late.eventInHand(of: cell) : state.current?.event
        }
    }

    // MARK: Threads

    private func start(_ thread: LaneThread, after cell: UInt16, late: LateReport?) throws {
        try NativeThread.start(name: "lane") { [self] in
            thread.identity.store(NativeThread.current, ordering: .relaxed)
            owner.store(
                UInt(bitPattern: Unmanaged.passUnretained(thread).toOpaque()),
                ordering: .releasing)
            if let late { resume(on: thread, after: cell, late) }
            work(on: thread)
        }
    }

    private func work(on thread: LaneThread) {
        while owns(thread), let job = next(thread) {
            job.run(on: thread, after: 0)
        }
        if owns(thread) {
            // The system may give the identity of this thread to another one.
            owner.store(0, ordering: .releasing)
        } else {
            catchUp(on: thread)
        }
    }

    /// Goes on where another thread got stuck.
    private func resume(on thread: LaneThread, after cell: UInt16, _ late: LateReport) {
        hooks.onLate(late)
        late.job?.run(on: thread, after: cell)
    }

    /// The next job, waiting for one where there is none; nil once the lane is closed.
    private func next(_ thread: LaneThread) -> (any LaneJob)? {
        while true {
            // What a job holds may be the last of a module: it is let go of outside of the lock.
            let (step, _) = state.withLock { state -> (Step, (any LaneJob)?) in
                let done = state.current
                state.current = nil
                return (state.nextStep(), done)
            }
            switch step {
            case .run(let job):
                watchdog.arm(for: self)
                return job
            case .end: return nil
            case .sleep: thread.wake.wait()
            }
        }
    }

    fileprivate enum Step {
        case run(any LaneJob)
        case sleep, end
    }

    // MARK: Takeover

    /// Takes the lane from its thread, if the word still is `observed`.
    ///
    /// Called by the watchdog.
    ///
    /// - Returns: Whether it was taken: exactly once for each word, or not at all.
    func takeOver(at observed: Ownership) -> Bool {
        guard observed.depth > 0 else { return false }
        // Under the lock, so that the stuck thread, if it returns this very moment, finds its stay.
        let taken = state.withLock { state -> (LaneThread, UInt16, LateReport)? in
            guard word.exchange(observed, for: observed.takenOver) else { return nil }
            let stuck = state.thread
            let numbers = stuck.stack(at: observed)
            let cells = numbers.compactMap { state.cells[$0] }
            state.late.add(cells, of: stuck, job: state.current, log: &state.log)
            let thread = LaneThread(mine: observed.takenOver)
            state.thread = thread
            state.isAsleep = false
            let total = state.cells.count
            return (
                thread, stuck.outermost(at: observed),
                LateReport(
                    cells: cells, job: state.current, lateInAll: state.late.count,
                    modules: total)
            )
        }
        guard let (thread, outermost, report) = taken else { return false }
        epoch.add(1, ordering: .releasing)
        threads.withLock { $0.append(thread) }
        do {
            try start(thread, after: outermost, late: report)
        } catch {
            // No room for a thread: the lane stands still, and a stop's own deadline ends the host.
            hooks.onLate(report)
        }
        return true
    }

    /// What a thread does that lost the lane, once it is back from the module that held it up.
    private func catchUp(on thread: LaneThread) {
        guard let stay = state.withLock({ $0.late.stay(of: thread) }) else { return }
        for cell in stay.cells {
            thread.place = cell.number
            steps: while let step = state.withLock({ $0.late.next(for: cell, log: &$0.log) }) {
                switch step {
                case .event(let event): hooks.deliverLate(event, cell)
                case .deferred(let work): work.run()
                case .dropped(let work): work.abandon()
                case .inHand:
                    // Behind the event there is an answer. Without a lane there will be none.
                    if serve({ _ in }) == nil { break steps }
                case .rejoined(let missed):
                    epoch.add(1, ordering: .releasing)
                    enqueue { [hooks] _ in hooks.onRejoined(cell, missed) }
                }
            }
        }
        state.withLock { $0.late.end(stay) }
        enqueue { [hooks] _ in hooks.onReturned() }
    }

    // MARK: Late modules

    /// What the lane may do with a module whose cell is not simply listed.
    ///
    /// - Parameters:
    ///   - cell: The module's place.
    ///   - position: The position of the event to deliver, or nil for a call or a typed message, which
    ///     never waits.
    /// - Returns: Whether to tell it, to leave it, or to count it as late.
    func admit(_ cell: Cell, at position: UInt64?) -> Admission {
        switch cell.status.load(ordering: .acquiring) {
        case .listed: return .go
        case .unlisted: return .skip
        case .late, .rejoined: break
        }
        return state.withLock { state in
            switch cell.status.load(ordering: .relaxed) {
            case .listed: return .go
            case .unlisted: return .skip
            case .late: return .late
            case .rejoined:
                guard let position else { return .go }
                // It caught up on a thread of its own while this event was on its way round.
                if position < state.late.heard(by: cell) { return .skip }
                state.late.forget(cell)
                cell.status.store(.listed, ordering: .relaxed)
                epoch.add(1, ordering: .releasing)
                return .go
            }
        }
    }

    @usableFromInline
    enum Admission {
        case go, late, skip
    }

    /// Runs `work` on the thread of a late module once it is back, before it rejoins.
    ///
    /// - Returns: False where the module is not late: then the caller does it on the lane.
    func `defer`(for cell: Cell, _ work: LateModules.Work) -> Bool {
        state.withLock { $0.late.defer(for: cell, work) }
    }

    /// The search for who claims an event of the log has ended at the cell of a number: no module that
    /// is behind and stands after it hears of the event.
    func endSearch(at position: UInt64, with cell: UInt16) {
        state.withLock { $0.log.endSearch(at: position, with: cell) }
    }

    /// The late module whose code the calling thread runs, if it is one that has lost the lane.
    var lateCell: Cell? {
        let identity = NativeThread.current
        return state.withLock { state in
            guard let thread = state.late.thread(identity) else { return nil }
            return state.cells[thread.place ?? thread.mine.cell]
        }
    }

    @usableFromInline
    func reportFailure(of cell: Cell, _ error: any Error) { hooks.onFailure(cell, error) }

    /// Takes a module out for good: it gets nothing more.
    func unlist(_ cell: Cell) {
        state.withLock { _ in cell.status.store(.unlisted, ordering: .releasing) }
        epoch.add(1, ordering: .releasing)
    }

    /// The modules that are late now, in the order in which they became so.
    var lateCells: [Cell] { state.withLock { $0.late.cells } }

    /// What the watchdog needs to know of the delivery that `word` stands for.
    func watched(at word: Ownership) -> (isBusy: Bool, limit: DeliveryLimit, cell: Cell?) {
        state.withLock { state in
            (
                state.current != nil, state.current?.limit ?? .event,
                state.cells[state.thread.outermost(at: word)]
            )
        }
    }
}

extension Lane.State {
    /// Takes up the next job.
    fileprivate mutating func nextStep() -> Lane.Step {
        if let job = jobs.popFirst() {
            current = job
            return .run(job)
        }
        if isClosed { return .end }
        if !idleJobs.isEmpty {
            let job = idleJobs.removeFirst()
            current = job
            return .run(job)
        }
        isAsleep = true
        return .sleep
    }

    /// The thread to wake, if the lane's thread sleeps.
    fileprivate mutating func wakeUp() -> LaneThread? {
        guard isAsleep else { return nil }
        isAsleep = false
        return thread
    }
}
