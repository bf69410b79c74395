import AppService

/// Events that the lane has passed and that modules have yet to answer.
extension App {
    /// Returns the modules for whose answers to an event the app does not wait before it goes on.
    func laterAnswers(to kind: EventKind) -> LifecycleEvent.LaterAnswers {
        if kind.isClaimed || kind == .launch { return .none }
        // The process of a module receives one event at a time, also before its host is ready.
        let isRunning = phase.isReady || phase == .activating
        if isRunning || role.upstream != nil && !phase.isEnding { return .all }
        let isStep = phase.isEnding && role.upstream == nil && kind.stateChange != nil
        return isStep ? .processes : .none
    }

    /// Notes that all modules were notified of an event, and that some have yet to answer.
    func opened(
        _ event: LifecycleEvent, _ tally: EventTally, of request: EventRequest,
        waitingFor slots: [ModuleSlot]
    ) {
        var tally = tally
        // It may be so far behind that the event waits in the inbox alone, or want its events later: the outcome does not wait.
        let open = slots.filter { slot in
            if gate.lane.isPaused(slot), !gate.lane.isOut(event, at: slot) {
                tally.takeLater(from: slot, of: event.kind)
                return false
            }
            guard gate.lane.isFarBehind(slot) else { return true }
            tally.overdue += 1
            _ = tally.takeOverdue(from: slot, of: event.kind)
            return false
        }
        guard !open.isEmpty else { return ended(event, tally, of: request) }
        gate.lane.box?.setActivity(nil)
        if let entry = event.entry { inbox?.passed(entry) }
        let now = time.now()
        openEvents.add(event, tally, since: eventBegan ?? now, passed: now, waitingFor: open)
    }

    /// Takes the answer of a module; the last one gives the event its outcome.
    func answered(_ slot: ModuleSlot, _ event: LifecycleEvent, _ answer: EventAnswer) {
        let (counts, now) = (gate.lane.counts.address, time.now())
        let taken = openEvents.passed(event)?.duration(to: now).wholeNanoseconds ?? 0
        if case .reply(let reply) = answer {
            counts.count(reply, of: slot.number, after: taken)
        }
        if case .failed(let error) = answer {
            counts.noteLength(taken, of: slot.number)
            if openEvents.isAwaited(event, by: slot) {
                _ = failed(slot, in: event, error)
            } else {
                failedOverdue(slot, in: event, error)
            }
        }
        openEvents.answer(answer, to: event, by: slot, at: now).map(finish)
        noteAnswered()
    }

    /// Gives the events their outcomes that modules have yet to answer, without these.
    ///
    /// - Parameter job: The job that is being run: it may be an event that they have yet to answer, too.
    func leaveOpenEvents(of slots: [ModuleSlot], in job: (any LaneJob)? = nil) {
        if let job = job as? EventJob, let event = job.event { job.leave(slots, of: event.kind) }
        guard !openEvents.isEmpty || !answerWaiters.isEmpty else { return }
        for entry in slots.flatMap({ openEvents.leave($0, at: time.now()) }) { finish(entry) }
        // In a job of its own: the lane may be in the middle of an event, or of a change of a module.
        if !answerWaiters.isEmpty { host?.onLane { app, _ in app.noteAnswered() } }
    }

    /// Gives the events their outcomes that a module has yet to answer, since it wants them later.
    func leavePausedEvents(of slot: ModuleSlot) {
        // It answers what it has.
        let left = openEvents.leave(slot, as: .later, at: time.now()) {
            !gate.lane.isOut($0, at: slot)
        }
        for entry in left { finish(entry) }
        noteAnswered()
    }

    private func finish(_ entry: OpenEvents.Entry) {
        metrics.withLock { $0.count(entry.event.kind) }
        var tally = entry.tally
        tally.began = entry.began
        let now = time.now()
        timeInEvent = entry.began.duration(to: now)
        note(entry.event, tally, after: timeInEvent)
        // Of a request only the URL is answered, for which the lane waits.
        role.ended(entry.event, tally, of: .own(entry.event), in: self)
    }

    // MARK: Modules that are replaced or unloaded

    /// Runs a closure, once, on the lane, when modules have answered all that waits for them, or are unresponsive.
    ///
    /// After the time for a step of the stop they have to answer what they have received only, and the lane waits for that.
    ///
    /// - Parameters:
    ///   - limit: That time, where it is another one.
    ///   - endsWithTime: Whether the closure is run then, even if they have not answered what they have received.
    /// - Returns: The wait, to end it with ``endWait(_:)``; nil where there is none.
    @discardableResult
    func whenAnswered(
        _ records: [ModuleRecord], within limit: Duration? = nil, endsWithTime: Bool = false,
        _ body: @escaping (App) -> Void
    ) -> AnswerWaiter<App>? {
        guard records.contains(where: { gate.lane.answers($0.slot) }) else {
            body(self)
            return nil
        }
        let waiter = AnswerWaiter(records.map(\.slot), body)
        answerWaiters.append(waiter)
        let confined = LaneConfined(waiter)
        waiter.alarm = time.schedule(after: limit ?? slatefile.deadlines.stop) { [weak host] in
            host?.onLane { app, thread in
                let waiter = confined.open(on: thread)
                // A stop that waits, too, ends all of them.
                guard app.answerWaiters.contains(where: { $0 === waiter }),
                    endsWithTime || !app.shutdown.isWaiting
                else { return }
                app.answerWaiters.removeAll { $0 === waiter }
                if endsWithTime { waiter.end(app) } else { app.settle(waiter.slots, waiter.end) }
            }
        }
        return waiter
    }

    /// Ends a wait without its closure.
    func endWait(_ waiter: AnswerWaiter<App>?) {
        waiter?.alarm?.cancel()
        answerWaiters.removeAll { $0 === waiter }
    }

    /// Waits on the lane for the answers to what modules have received, and runs a closure behind that, before anything else.
    ///
    /// - Parameter limit: The deadline of each of them.
    func settle(
        _ slots: [ModuleSlot], limit: DeliveryLimit = .event, _ body: @escaping (App) -> Void
    ) {
        guard let host else { return }
        // In a stop those, too, that have yet to receive what they missed of it.
        let waits = phase.isEnding ? gate.lane.isCatchingUp : gate.lane.isOpen
        var jobs: [any LaneJob] = slots.filter(waits).map { slot in
            LaneWork(limit: limit) { [app = host.app] thread in
                let app = app.open(on: thread)
                // Another one of them may have called it, and lost the lane in it.
                guard app.gate.lane.isCatchingUp(slot), let taker = app.record(of: slot)?.taker
                else {
                    return
                }
                _ = app.gate.call(slot, on: thread) { taker.settleEvent() }
                if app.phase.isEnding, app.gate.lane.owns(thread) { app.goOnInStop(taker, slot) }
            }
        }
        guard !jobs.isEmpty else { return body(self) }
        let confined = LaneConfined(AnswerWaiter(slots, body))
        jobs.append(
            LaneWork(limit: limit) { [app = host.app] thread in
                confined.open(on: thread).end(app.open(on: thread))
            })
        gate.lane.prepend(jobs)
    }

    /// Has a module receive what it has missed of the stop, one event a job, before anything else.
    private func goOnInStop(_ taker: any EventTaker, _ slot: ModuleSlot) {
        guard let host, gate.lane.isCatchingUp(slot) else { return }
        let confined = LaneConfined(taker)
        gate.lane.prepend([
            LaneWork(limit: .stop) { [app = host.app] thread in
                let (app, taker) = (app.open(on: thread), confined.open(on: thread))
                var hasGoneOn = false
                // Its answer is awaited here: what comes next is behind it, or the release.
                _ = app.gate.call(slot, on: thread) {
                    hasGoneOn = taker.goOn()
                    if hasGoneOn { taker.settleEvent() }
                }
                if hasGoneOn, app.gate.lane.owns(thread) { app.goOnInStop(taker, slot) }
            }
        ])
    }

    /// Runs what waits for answers, since the app stops.
    func endAnswerWaiters() {
        let all = answerWaiters
        answerWaiters = []
        for waiter in all { waiter.end(self) }
    }

    /// Forgets what waits for answers, since the app has ended without it.
    func dropAnswerWaiters() {
        for waiter in answerWaiters { waiter.alarm?.cancel() }
        answerWaiters = []
    }

    /// Runs what waits for answers that are there now.
    func noteAnswered() {
        guard !answerWaiters.isEmpty else { return }
        func isReady(_ waiter: AnswerWaiter<App>) -> Bool {
            !waiter.slots.contains(where: gate.lane.answers)
        }
        let ready = answerWaiters.filter(isReady)
        answerWaiters.removeAll(where: isReady)
        for waiter in ready { waiter.end(self) }
    }

    // MARK: What the lane waits for

    /// Waits until the modules that a search may ask have answered what waits for them, at most for the time of one event: then
    /// it ends at the first of them, as at one that is unresponsive.
    ///
    /// - Returns: False where the lane was lost in one of them.
    func settleListeners(of kind: EventKind, on thread: LaneThread) -> Bool {
        let end = time.now() + slatefile.deadlines.event
        for slot in gate.lane.openSlots where record(of: slot)?.isolated?.receives(kind) == true {
            while gate.lane.isCatchingUp(slot), time.now() < end {
                let outcome = settleNext(slot, on: thread)
                if outcome == .lost { return false }
                if outcome == .stuck { break }
            }
        }
        return true
    }

    /// Waits until a module has answered for which as many events wait as may; drops the first one for a module whose handler
    /// needs the lane to go on.
    ///
    /// - Returns: False where the lane was lost in it.
    func makeRoom(on thread: LaneThread) -> Bool {
        while let slot = gate.lane.full {
            if let record = record(of: slot), record.isolated == nil {
                guard let first = gate.lane.removeFirst(of: slot) else { break }
                openEvents.answer(.none, to: first, by: slot, at: time.now()).map(finish)
                continue
            }
            let outcome = settleNext(slot, on: thread)
            if outcome == .lost { return false }
            if outcome == .stuck { break }
        }
        return true
    }

    private enum Settled {
        case told
        /// There is nothing to wait for, or a stop is not to wait.
        case stuck
        /// The lane was lost in it.
        case lost
    }

    /// Waits until a module has answered its event, and has received the next one.
    ///
    /// One event an entry, so that each has the time of one.
    private func settleNext(_ slot: ModuleSlot, on thread: LaneThread) -> Settled {
        guard host?.isStopping == false, let module = record(of: slot)?.isolated else {
            return .stuck
        }
        var isTold = false
        let outcome = gate.call(slot, on: thread) { isTold = module.settleNext() }
        if case .lost = outcome { return .lost }
        return isTold ? .told : .stuck
    }
}

extension AppHost {
    /// Delivers an event that has waited to all parts of a module, in the module.
    func deliver(_ event: LifecycleEvent, to slot: ModuleSlot) -> EventAnswer {
        let lane = gate.lane
        // The lane may be lost at any moment.
        let members =
            lane.hold.flatMap { thread in
                lane.asHost(on: thread) { app.open(on: thread).center.members(of: slot) }
            }
            ?? lane.serve { [app] thread in
                LaneConfined(app.open(on: thread).center.members(of: slot))
            }?.openInModule() ?? []
        var joined = EventAnswer.reply(.notConcerned)
        // For those behind one whose handler is suspended, too.
        HandledEvent.$current.withValue(HandledEvent(event, of: slot)) {
            event.kind.definition.send(event, to: members) { member, notify in
                guard !member.isRemoved else { return }
                do {
                    joined = joined.joined(with: .reply(try notify()))
                } catch {
                    joined = joined.joined(with: .failed(DescribedError(error)))
                }
            }
        }
        return joined
    }
}
