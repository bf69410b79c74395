import AppService
import Synchronization

/// Taking the lane over from a stuck thread, and the modules on its stack.
extension Lane {
    // MARK: Takeover

    /// Takes the lane from its thread, if the word still is `observed`.
    ///
    /// Called by the watchdog, or by the thread itself.
    ///
    /// - Parameters:
    ///   - observed: The word.
    ///   - cause: Why.
    /// - Returns: Whether it was taken: exactly once for each word, or not at all. Where the system has no
    ///   room for another thread it is not, so that all goes on when the module returns; to be tried again.
    func takeOver(at observed: Ownership, because cause: TakeoverCause = .overdue) -> Bool {
        guard observed.depth > 0, observed.cell != 0 else { return false }
        let understudy: Understudy
        do throws(SystemError) {
            understudy = try hooks.makeUnderstudy()
        } catch {
            let isNew = state.withLock { state in
                defer { state.unreplaced = observed.delivery }
                return state.unreplaced != observed.delivery
            }
            if isNew { hooks.onNoThread(cell(observed.cell), error) }
            return false
        }
        // Under the lock, so that the stuck thread, if it returns this very moment, finds its stay.
        let taken = state.withLock { state -> (LaneThread, UInt16, LateReport)? in
            guard word.exchange(observed, for: observed.takenOver) else { return nil }
            let stuck = state.thread
            let numbers = stuck.stack(at: observed)
            let cells = numbers.compactMap { state.cells[$0] }
            state.late.add(
                cells, of: stuck, job: state.current, isYield: cause != .overdue, log: &state.log)
            let thread = state.nextThread(mine: observed.takenOver, box)
            noteTakeover(by: thread, of: state)
            state.thread = thread
            state.isAsleep = false
            return (
                thread, stuck.outermost(at: observed),
                LateReport(cells: cells, cause: cause, job: state.current)
            )
        }
        guard let (thread, outermost, report) = taken else {
            understudy.dismiss()
            return false
        }
        epoch.add(1, ordering: .releasing)
        if cause == .overdue, let blamed = report.cells.last { watchdog.tookOver(from: blamed) }
        // Not held by the thread for as long as it lives: places of modules that are gone stand in it.
        let resumption = Guarded<LateReport?>(report)
        understudy.play { [self] in
            run(on: thread, after: outermost) {
                resumption.withLock { report in
                    defer { report = nil }
                    return report
                }
            }
        }
        return true
    }

    /// Has the black box speak of the thread that goes on, before that enters a module.
    ///
    /// Under the lane's lock, when the word is at depth 0 and names no module.
    private func noteTakeover(by thread: LaneThread, of state: State) {
        guard let box else { return }
        // An event goes on; anything else is over with the module that was stuck in it.
        if state.current?.event == nil { box.setActivity(nil) }
        box.setStack(thread.stack)
    }

    /// Runs on a thread that lost the lane, once it is back from the module that held it up.
    func catchUp(on thread: LaneThread) {
        guard let stay = state.withLock({ $0.late.stay(of: thread) }) else { return }
        for cell in stay.cells {
            thread.place = cell.number
            var members: LateMembers?
            steps: while true {
                let step = state.withLock { $0.late.next(for: cell, on: thread, log: &$0.log) }
                switch step {
                case nil: break steps
                case .event(let event):
                    if !hooks.deliverLate(event, cell, &members) { break steps }
                case .read(let place):
                    let (entry, event) = hooks.readLate(place)
                    let isWanted = state.withLock {
                        $0.late.take(entry, event, for: cell, on: thread, log: $0.log)
                    }
                    if isWanted, let event, !hooks.deliverLate(event, cell, &members) {
                        break steps
                    }
                case .deferred(let work): work.run()
                case .dropped(let work): work.abandon()
                case .inHand:
                    // Behind the event there is an answer. Without a lane there will be none.
                    if serve({ _ in }) == nil { break steps }
                case .rejoined(let missed):
                    epoch.add(1, ordering: .releasing)
                    enqueue(
                        LaneWork { [hooks] thread in
                            hooks.onRejoined(cell, missed, thread)
                        } onAbandon: { [hooks] in
                            hooks.onRejoinedAtEnd(cell, missed)
                        })
                }
            }
        }
        thread.end()
        state.withLock { state in
            state.late.end(stay)
            // What was not brought to its end stays what it was on.
            if !state.isClosed { state.spareThreads.append(thread) }
        }
        enqueue { [hooks] thread in hooks.onReturned(thread) }
    }

    // MARK: Late modules

    /// Decides what the lane may do with a module whose cell is not simply listed.
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

    /// The search for who claims an event of the log has ended at a cell: no module that is behind and
    /// stands after it hears of the event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - cell: The last that was asked; nil where all were.
    func endSearch(for event: LifecycleEvent, with cell: Cell?) {
        state.withLock { state in
            let unreached = state.late.cells.filter { $0.rank > cell?.rank ?? .max }
            state.log.endSearch(at: event.sequence, before: unreached)
            // One that is late may have acted, too.
            if cell != nil, let entry = event.entry { state.late.noteClaimed(entry) }
        }
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

    /// Takes a module out for good: it receives nothing more, and nothing waits for what it has not received.
    func unlist(_ cell: Cell) {
        state.withLock { state in
            cell.status.store(.unlisted, ordering: .releasing)
            state.late.noteGone(cell, log: &state.log)
        }
        epoch.add(1, ordering: .releasing)
    }

    /// The places of all modules, in no order.
    var allCells: [Cell] { state.withLock { Array($0.cells.values) } }

    /// Returns whether a thread that lost the lane has not returned, or has not reported yet that its modules are no
    /// longer late.
    ///
    /// - Parameter cells: Modules whose threads do not count.
    /// - Returns: Whether there is such a thread.
    func hasLateThreads(besides cells: [Cell] = []) -> Bool {
        state.withLock { $0.late.hasStays(besides: cells) }
    }

    /// Whether the lane has come to its end, or is about to.
    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Returns whether a module is late, also one that is no longer part of the app.
    func isLate(_ cell: Cell) -> Bool { state.withLock { $0.late.holds(cell) } }

    /// The modules that are late now, in the order in which they became so.
    var lateCells: [Cell] { state.withLock { $0.late.cells } }

    /// The modules that did not return in time: the late ones, and one from which the lane could not be taken,
    /// since the system had no room for another thread.
    var overdueCells: [Cell] {
        let word = word.load()
        return state.withLock { state in
            let stuck = state.unreplaced == word.delivery ? state.cells[word.cell] : nil
            return state.late.cells + [stuck].compactMap(\.self)
        }
    }

    /// Returns the number of events that wait for a late module; nil for one that is not late.
    func behind(_ cell: Cell) -> Int? {
        state.withLock { $0.late.behind(cell, log: $0.log) }
    }

    /// The first durable event that each module which is behind has not heard.
    var unheard: [(cell: Cell, position: EventPosition)] {
        state.withLock { $0.late.unheard(log: $0.log) }
    }

    /// Takes from a late or failed module what it is too far behind with.
    func forfeit(before place: EventPosition, by cell: Cell) -> Forfeit? {
        state.withLock { $0.late.forfeit(before: place, by: cell) }
    }

    /// Takes from a late module the durable event that it is at work on.
    ///
    /// - Returns: False where it is at work on none.
    func forfeitEventInHand(of cell: Cell, because reason: String) -> Bool {
        state.withLock { $0.late.forfeitEventInHand(of: cell, because: reason) }
    }

    /// The ranges that modules gave up and that are not put aside yet.
    var forfeits: [Forfeit] { state.withLock { $0.late.forfeits } }

    /// Notes that a range which a module gave up is put aside, with so many events for the module.
    func settle(_ forfeit: Forfeit, dropped: Int) {
        state.withLock { $0.late.settle(forfeit, dropped: dropped, log: $0.log) }
    }

    /// The facts that the watchdog needs of a delivery.
    struct Watched {
        let isBusy: Bool
        let limit: DeliveryLimit
        /// The module that the lane itself has entered.
        let cell: Cell?
        /// The number of modules that are notified of the same event after it.
        let modulesToCome: Int
    }

    /// Returns what the watchdog needs to know of the delivery that `word` stands for.
    func watched(at word: Ownership) -> Watched {
        state.withLock { state in
            let cell = state.cells[state.thread.outermost(at: word)]
            let rank = state.current?.event == nil ? nil : cell?.rank
            return Watched(
                isBusy: state.current != nil, limit: state.current?.limit ?? .event, cell: cell,
                modulesToCome: rank.map { max(0, state.cells.count - Int($0)) } ?? 0)
        }
    }
}
