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

    /// What a late module's own thread does next.
    enum Step {
        case event(LifecycleEvent)
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

    private struct Module {
        let cell: Cell
        /// The thread that it catches up on.
        let thread: LaneThread
        var position: UInt64
        var event: LifecycleEvent?
        var deferred: [Work] = []
        var missed = 0
    }

    private var modules: [Module] = []
    private var stays: [Stay] = []
    /// The first position that a rejoined module has not heard.
    private var heard: [UInt16: UInt64] = [:]

    var isEmpty: Bool { modules.isEmpty }
    var count: Int { modules.count }
    var cells: [Cell] { modules.map(\.cell) }

    /// Marks the modules on a stuck thread as late.
    ///
    /// The outermost one was told the event in hand, and so were those before it in order. One after
    /// it was merely called; it is behind from the event itself.
    mutating func add(
        _ cells: [Cell], of thread: LaneThread, job: (any LaneJob)?, log: inout EventLog
    ) {
        let event = job?.event
        if let event { log.keep(event) }
        for cell in cells where !holds(cell) {
            var position = log.head
            if let event, let outermost = cells.first {
                position = event.position + (cell.number <= outermost.number ? 1 : 0)
            }
            // It may have heard the event in hand already, when it was late before.
            position = max(position, heard.removeValue(forKey: cell.number) ?? 0)
            modules.append(Module(cell: cell, thread: thread, position: position, event: event))
            if cell.status.load(ordering: .relaxed) != .unlisted {
                cell.status.store(.late, ordering: .releasing)
            }
        }
        stays.append(Stay(thread: thread, cells: cells, job: job))
    }

    func holds(_ cell: Cell) -> Bool { modules.contains { $0.cell === cell } }

    /// How many events wait for a late module; nil for one that is not late.
    ///
    /// Those that it will miss are not among them.
    func behind(_ cell: Cell, log: EventLog) -> Int? {
        modules.first { $0.cell === cell }.map { Int(log.head - $0.position) }
    }

    func eventInHand(of cell: Cell) -> LifecycleEvent? {
        modules.first { $0.cell === cell }?.event
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
        guard let index = modules.firstIndex(where: { $0.cell === cell }) else { return false }
        modules[index].deferred.append(work)
        return true
    }

    /// The next step of a late module; nil once it is not late any more, on this thread.
    ///
    /// "Caught up" and "no longer late" change here, together, under the lock under which the lane
    /// looks again.
    mutating func next(for cell: Cell, on thread: LaneThread, log: inout EventLog) -> Step? {
        // Once it is not late any more it may soon be late again, on another thread.
        guard let index = modules.firstIndex(where: { $0.cell === cell && $0.thread === thread })
        else { return nil }
        guard cell.status.load(ordering: .relaxed) == .late else {
            if !modules[index].deferred.isEmpty {
                return .dropped(modules[index].deferred.removeFirst())
            }
            modules.remove(at: index)
            trim(&log)
            return nil
        }
        if !modules[index].deferred.isEmpty {
            modules[index].event = nil
            return .deferred(modules[index].deferred.removeFirst())
        }
        while modules[index].position < log.head {
            let kept = log[modules[index].position]
            if let kept, kept.reach == nil { return .inHand }
            modules[index].position += 1
            modules[index].event = kept?.event
            trim(&log)
            guard let kept else {
                modules[index].missed += 1
                continue
            }
            if let reach = kept.reach, cell.number <= reach { return .event(kept.event) }
        }
        heard[cell.number] = log.head
        cell.status.store(.rejoined, ordering: .releasing)
        let missed = modules.remove(at: index).missed
        trim(&log)
        return .rejoined(missed: missed)
    }

    /// Lets the oldest events go of modules that are further behind than they may be.
    mutating func enforceBacklogs(log: inout EventLog) {
        guard !modules.isEmpty else { return }
        for index in modules.indices {
            let backlog = UInt64(modules[index].cell.backlog)
            let behind = log.head - modules[index].position
            guard behind > backlog else { continue }
            modules[index].missed += Int(behind - backlog)
            modules[index].position = log.head - backlog
        }
        trim(&log)
    }

    private func trim(_ log: inout EventLog) {
        log.trim(before: modules.map(\.position).min() ?? log.head)
    }
}

/// Who became late, and in what.
struct LateReport: Sendable {
    /// The modules on the stuck stack, outermost first.
    ///
    /// All are late; the last one is to blame.
    let cells: [Cell]
    /// What was going on.
    let job: (any LaneJob)?
    /// How many modules are late now.
    let lateInAll: Int
    /// How many modules there are.
    let modules: Int

    /// Eight late, or half of all: the host can no longer be called healthy.
    var isUnhealthy: Bool { lateInAll >= 8 || lateInAll * 2 >= modules }
}
