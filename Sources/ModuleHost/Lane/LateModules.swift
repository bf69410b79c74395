import Synchronization

/// The modules that are late, and how far behind each of them is.
///
/// Guarded by the lane's lock.
struct LateModules {
    /// A thread that lost the lane, with the modules that stand on its stack.
    struct Stay {
        let thread: LaneThread
        /// Outermost first.
        let cells: [Cell]
        /// The job in hand, which went on elsewhere.
        let job: (any LaneJob)?
    }

    /// The next step of a late module's own thread.
    enum Step {
        case event(LifecycleEvent)
        /// To read on in the inbox, from this place, since the events are no longer in memory.
        case read(EventPosition)
        case deferred(Work)
        /// The module is gone, and with it what was to be done with it.
        case dropped(Work)
        /// The search for who claims the next event still goes on.
        case inHand
        /// The module is level with the log; so many events were dropped on the way.
        case rejoined(missed: Int)
    }

    /// Something to do with a late module when it returns.
    struct Work: Sendable {
        let run: @Sendable () -> Void
        /// Called instead where the module is gone by then.
        var abandon: @Sendable () -> Void = {}
    }

    struct Module {
        let cell: Cell
        /// The thread that it catches up on.
        let thread: LaneThread
        /// The number of modules that became late before it.
        let turn: Int
        var position: UInt64
        /// Before this position of the log there is no durable event that it has not heard.
        var unheardFrom: UInt64 = 0
        var event: LifecycleEvent?
        var deferred = Deque<Work>()
        var missed = 0
        /// The durable event that it was told and has not returned from.
        var begun: InboxEntry?
        var spilled = Spill()
        /// Whether there is no durable event that it has not heard.
        var isLevel = true

        mutating func spill(_ entry: InboxEntry, isHeard: Bool) {
            spilled.append(entry, isHeard: isHeard, isFollowing: begun != nil)
        }
    }

    /// Told which durable event is the first that a module has not heard, whether it has begun, and nil
    /// where there is none any more.
    ///
    /// Under the lane's lock, before any other thread goes on.
    var note: @Sendable (Cell, EventPosition?, _ isBegun: Bool) -> Void = { _, _, _ in }

    private let box: BlackBox?
    /// Those that are late, by the numbers of their cells.
    var modules: [UInt16: Module] = [:]
    /// Those that have failed and that durable events wait for, by the numbers of their cells.
    var failed: [UInt16: Failed] = [:]
    private var turns = 0
    /// The ranges that modules gave up, since they were too far behind, until these are put aside.
    var forfeits: [Forfeit] = []
    private var stays: [Stay] = []
    /// The first position that a rejoined module has not heard.
    private var heard: [UInt16: UInt64] = [:]
    /// The number of times that trimming the log was skipped.
    private var trimsSkipped = 0

    /// - Parameter box: Where it is noted who is late; nil for nowhere.
    init(box: BlackBox? = nil) { self.box = box }

    var isEmpty: Bool { modules.isEmpty }
    var count: Int { modules.count }
    /// Those that are late, in the order in which they became so.
    var cells: [Cell] { modules.values.sorted { $0.turn < $1.turn }.map(\.cell) }
    /// Returns whether a thread has yet to report what became of the modules on its stack.
    func hasStays(besides cells: [Cell] = []) -> Bool {
        stays.contains { stay in
            stay.cells.contains { cell in !cells.contains { $0 === cell } }
        }
    }

    /// Marks the modules on a stuck thread as late.
    ///
    /// The outermost one was told the event in hand, and so were those before it in order. One after
    /// it was merely called; it is behind from the event itself.
    ///
    /// - Parameters:
    ///   - cells: The modules, outermost first.
    ///   - thread: The thread.
    ///   - job: The job in hand.
    ///   - isYield: Whether the innermost gave the lane up by itself: then it waits for its process, and no death
    ///     of the host is its doing.
    ///   - log: The log.
    mutating func add(
        _ cells: [Cell], of thread: LaneThread, job: (any LaneJob)?, isYield: Bool = false,
        log: inout EventLog
    ) {
        let event = job?.event
        if let event { log.keep(event) }
        let told = job?.durableEvent
        for cell in cells where !holds(cell) {
            var position = log.head
            if let event, let outermost = cells.first {
                position = event.sequence + (cell.rank <= outermost.rank ? 1 : 0)
            }
            // It may have heard the event in hand already, when it was late before.
            position = max(position, heard.removeValue(forKey: cell.number) ?? 0)
            var module = Module(
                cell: cell, thread: thread, turn: turns, position: position,
                event: job?.eventInHand)
            turns += 1
            if cell === cells.first { module.begun = told }
            if let waiting = takeWaiting(for: cell) { module.spilled = waiting }
            modules[cell.number] = module
            noteUnheard(cell, log)
            if !isYield || cell !== cells.last { box?.setLate(cell.number, true) }
            if cell.isListed {
                cell.status.store(.late, ordering: .releasing)
            }
        }
        stays.append(Stay(thread: thread, cells: cells, job: job))
    }

    func holds(_ cell: Cell) -> Bool { self[cell] != nil }

    /// The record of a late module; nil for one that is not late.
    subscript(cell: Cell) -> Module? {
        modules[cell.number].flatMap { $0.cell === cell ? $0 : nil }
    }

    /// Returns the number of events that wait for a late module; nil for one that is not late.
    ///
    /// Those that it will miss are not among them.
    func behind(_ cell: Cell, log: EventLog) -> Int? {
        self[cell].map { Int(log.head - $0.position) + $0.spilled.count }
    }

    func eventInHand(of cell: Cell) -> LifecycleEvent? {
        self[cell]?.event
    }

    func stay(of thread: LaneThread) -> Stay? { stays.first { $0.thread === thread } }

    /// The thread of an identity, if it is one that lost the lane.
    func thread(_ identity: UInt) -> LaneThread? {
        stays.first { $0.thread.identity.load(ordering: .relaxed) == identity }?.thread
    }

    mutating func end(_ stay: Stay) { stays.removeAll { $0.thread === stay.thread } }

    func heard(by cell: Cell) -> UInt64 { heard[cell.number] ?? 0 }

    mutating func forget(_ cell: Cell) { heard[cell.number] = nil }

    mutating func `defer`(for cell: Cell, _ work: Work) -> Bool {
        guard holds(cell) else { return false }
        modules[cell.number]?.deferred.append(work)
        return true
    }

    /// The next step of a late module; nil once it is not late any more, on this thread.
    ///
    /// "Caught up" and "no longer late" change here, together, under the lock under which the lane
    /// looks again.
    mutating func next(for cell: Cell, on thread: LaneThread, log: inout EventLog) -> Step? {
        let number = cell.number
        // Once it is not late any more it may soon be late again, on another thread.
        guard self[cell]?.thread === thread else { return nil }
        guard cell.status.load(ordering: .relaxed) == .late else {
            if let work = modules[number]?.deferred.popFirst() { return .dropped(work) }
            box?.setLate(number, false)
            modules[number] = nil
            noteLevel(cell)
            trim(&log)
            return nil
        }
        modules[number]?.begun = nil
        if let work = modules[number]?.deferred.popFirst() {
            modules[number]?.event = nil
            noteUnheard(cell, log)
            return .deferred(work)
        }
        if let place = modules[number]?.spilled.first {
            noteUnheard(cell, log)
            return .read(place)
        }
        while let position = modules[number]?.position, position < log.head {
            let kept = log[position]
            if let kept, kept.unreached == nil {
                noteUnheard(cell, log)
                return .inHand
            }
            modules[number]?.position += 1
            modules[number]?.event = kept?.event
            trim(&log)
            guard let kept else {
                modules[number]?.missed += 1
                continue
            }
            if kept.isFor(cell) == true {
                modules[number]?.begun = kept.event.entry
                noteUnheard(cell, log)
                return .event(kept.event)
            }
        }
        noteLevel(cell)
        heard[number] = log.head
        cell.status.store(.rejoined, ordering: .releasing)
        box?.setLate(number, false)
        let missed = modules.removeValue(forKey: number)?.missed ?? 0
        trim(&log)
        return .rejoined(missed: missed)
    }

    /// Lets the oldest events go of modules that are further behind than they may be: in events, or in what
    /// these take in memory.
    mutating func enforceBacklogs(log: inout EventLog) {
        guard !modules.isEmpty else { return }
        for number in modules.keys { enforceBacklog(of: number, &log) }
        trim(&log)
    }

    private mutating func enforceBacklog(of number: UInt16, _ log: inout EventLog) {
        guard let cell = modules[number]?.cell, cell.isListed else { return }
        let backlog = UInt64(cell.backlog)
        while let position = modules[number]?.position,
            log.head - position > backlog || log.bytes(from: position) > EventLog.byteLimit
        {
            // One that is still on its way round has not been spilled: it is not over.
            let kept = log[position]
            if let entry = kept?.event.entry {
                guard let isFor = kept?.isFor(cell) else { return }
                modules[number]?.spill(entry, isHeard: !isFor)
            } else {
                modules[number]?.missed += 1
            }
            modules[number]?.position += 1
        }
    }

    /// A module is gone, though it may be busy still: nothing is kept for it any more.
    mutating func noteGone(_ cell: Cell, log: inout EventLog) {
        forfeits.removeAll { $0.cell === cell && !$0.outlastsModule }
        guard holds(cell) else { return }
        modules[cell.number]?.begun = nil
        modules[cell.number]?.spilled = Spill()
        noteLevel(cell)
        trimNow(&log)
    }

    /// Lets go of what no module is behind on any more.
    ///
    /// Looks only once in as many times as there are modules that are late, so that what it costs does not
    /// grow with their number.
    private mutating func trim(_ log: inout EventLog) {
        trimsSkipped += 1
        if trimsSkipped >= modules.count { trimNow(&log) }
    }

    private mutating func trimNow(_ log: inout EventLog) {
        trimsSkipped = 0
        log.trim(
            before: modules.values.lazy.filter(\.cell.isListed).map(\.position).min() ?? log.head)
    }
}

/// The reason why the lane is taken from its thread.
enum TakeoverCause: Sendable {
    /// A module is past its deadline.
    case overdue
    /// The module gives the lane up by itself, and has said why.
    case yield
    /// It does so again and again for the same reason, which has been said.
    case repeatedYield
}

/// The modules that became late in one takeover, and the circumstances.
struct LateReport: Sendable {
    /// The modules on the stuck stack, outermost first.
    ///
    /// All are late; the last one is to blame.
    let cells: [Cell]
    let cause: TakeoverCause
    /// The job of the thread that lost the lane.
    let job: (any LaneJob)?
}
