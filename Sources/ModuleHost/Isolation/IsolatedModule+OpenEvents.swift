import AppService
import Dispatch
import Synchronization

/// An event that a process has received and not answered, while no thread waits for the answer.
final class OpenEvent: Sendable {
    /// The answer, or the end of the process before it.
    typealias Result = Swift.Result<Swift.Result<JSONValue, RPCError>, ProcessExit>

    let event: LifecycleEvent
    let process: ModuleProcess
    /// The number of the request.
    let number: Int
    /// The time after which a process that has not answered is killed, and its end.
    let limit: Duration
    let end: ContinuousClock.Instant
    /// The time of its sending.
    let began: ContinuousClock.Instant
    private let kept = Guarded<Result?>(nil)
    private let arrival = DispatchSemaphore(value: 0)

    init(
        _ event: LifecycleEvent, at process: ModuleProcess, within limit: Duration,
        from now: ContinuousClock.Instant
    ) {
        (self.event, self.process, self.limit) = (event, process, limit)
        number = process.nextNumber()
        (began, end) = (now, now + limit)
    }

    /// Keeps the answer, once.
    func keep(_ result: Result) {
        kept.withLock { $0 = result }
        arrival.signal()
    }

    var result: Result? { kept.withLock { $0 } }

    /// Waits for the answer.
    func wait() -> Result {
        while true {
            if let result { return result }
            arrival.wait()
        }
    }
}

/// Events for whose answers no thread waits: all but `launch` and those that one module claims.
///
/// An answer makes the module go on with the next event; with a window it may have several to answer. Where the oldest does not
/// come within the deadline, the module is unresponsive, and from then on its own thread waits for it, and kills the process at
/// the limit. A process that ends before it answers is started again, and receives its events once more, one after the other.
extension IsolatedModule: EventTaker {
    /// Sends an event to the process, and does not wait for the answer.
    ///
    /// - Returns: False where the caller is to wait for the answer: nothing was sent.
    func begin(_ event: LifecycleEvent) -> Bool {
        let services = context.host.services
        guard event.laterAnswers != .none, !isGone, !isOver(before: event), leavesOpen(event)
        else { return false }
        let deadline = deadline(of: event.kind)
        let open = OpenEvent(
            event, at: process, within: patience(beyond: deadline), from: services.time.now())
        // Before it is sent: the answer may come at any time.
        openEvents.append(open)
        // A call stands behind the one event of a process; one with a window is to answer it beside them.
        if context.slot.window == 1 { process.hasEvent.store(true, ordering: .relaxed) }
        note(event)
        _ = process.request(
            "event", as: open.number, within: open.limit, isLimited: false, followed: isGoingOn
        ) {
            [watch = eventWatch] result in
            open.keep(result)
            watch.take(open)
        } _: {
            $0.parameters(
                of: event, for: context.id, deadline: deadline, isRepeated: event.isRepeated)
        }
        eventWatch.watch(open, within: min(deadline, share(of: event) ?? deadline))
        // No thread waits for the answer: the one that reads all processes reads it.
        process.output.rest()
        return true
    }

    /// Returns whether the process has ended before it is sent a step of a stop, so that its end does not answer it.
    private func isOver(before event: LifecycleEvent) -> Bool {
        event.laterAnswers == .processes && process.queue.hasEnded
    }

    /// The time for a step of a stop: the next one is to have its own.
    private func share(of event: LifecycleEvent) -> Duration? {
        event.laterAnswers == .processes
            ? context.host.services.gate.lane.watchdog.share(of: context.slot) : nil
    }

    private func leavesOpen(_ event: LifecycleEvent) -> Bool {
        let services = context.host.services
        // Its own thread waits for one that has no other beside it.
        return context.slot.window > 1
            ? services.leaveOpen(context.slot, event)
            : openEvents.isEmpty && services.open(context.slot, event)
    }

    /// Goes on behind an event that the process has answered, or in which it has ended.
    func take(_ open: OpenEvent) {
        let isTaken = !openEvents.contains { $0 === open }
        if !isTaken { takeAnswers() }
        goOn()
        // Who has taken it did not go on: what waits for the module may have looked before this.
        if isTaken { context.host.services.answered(context.slot, open.event, .none) }
    }

    /// Takes the answers to its events that are there: those of a process that has ended last, and in order.
    func takeAnswers() {
        for open in openEvents {
            if let result = open.result, case .success = result { finish(open, result) }
        }
        while let open = openEvents.first, let result = open.result { finish(open, result) }
    }

    /// Waits for the answer to an event since it is late: the lane goes on without the module.
    func awaitLate(_ open: OpenEvent) {
        guard openEvents.contains(where: { $0 === open }), open.result == nil else { return }
        context.host.services.loseLane()
        finish(open, wait(for: open))
        // Those that a process had beside it come again before anything new.
        takeAnswers()
    }

    func settleEvent() {
        let services = context.host.services
        // The lane does not wait for as many as a window has: what replaces the process receives them again.
        if context.slot.window > 1, !services.isStopping, services.isOnLane { return giveBack() }
        awaitAnswers()
    }

    /// Waits for the answers to the events that the process has, each for the rest of its time.
    func awaitAnswers() {
        while let open = openEvents.first, !context.host.services.gate.lane.isClosed {
            finish(open, wait(for: open))
        }
    }

    /// Leaves the durable events that the process has to the one in its place, or to be sent to it once more where it stays.
    private func giveBack() {
        let (services, all) = (context.host.services, openEvents)
        openEvents = []
        services.giveBack(context.slot)
        for open in all {
            traces.end(open.event.trace)
            services.answered(context.slot, open.event, .none)
        }
        eventWatch.goOn()
    }

    /// Waits for the answers to the events that the process has, and goes on with the next one.
    ///
    /// - Returns: False where that made no progress.
    func settleNext() -> Bool {
        let former = openEvents.first
        // It waits in the event for room that only the lane can make.
        if posts.hasWaiting { context.host.services.yieldLane(again: true) }
        awaitAnswers()
        goOn()
        return openEvents.first !== former
            || former == nil
                && !context.host.services.gate.lane.isCatchingUp(context.slot)
    }

    private func wait(for open: OpenEvent) -> OpenEvent.Result {
        if let result = open.result { return result }
        // It may be among what others were to follow.
        open.process.input.endGathering()
        let left = context.host.services.time.now().duration(to: open.end)
        do throws(ProcessExit) {
            let time = max(left, .milliseconds(100))
            if try !open.process.awaitAnswer(to: open.number, until: .after(time), serving: serve) {
                open.process.kill(
                    because: open.process.input.isWaiting
                        ? .notReading(open.limit) : .silence("answer 'event'", open.limit))
                _ = try open.process.awaitAnswer(
                    to: open.number, until: .distantFuture, serving: serve)
            }
        } catch {
            // It is the answer, too.
        }
        return open.wait()
    }

    private func finish(_ open: OpenEvent, _ result: OpenEvent.Result) {
        if let index = openEvents.firstIndex(where: { $0 === open }) {
            openEvents.remove(at: index)
        }
        traces.end(open.event.trace)
        defer { noteExchange() }
        let services = context.host.services
        if open.process.hasEvent.exchange(false, ordering: .relaxed) {
            open.process.calls.withLock { $0.restart(at: services.time.now()) }
        }
        let answer = Result { () throws -> EventReply in
            switch result {
            case .success(let answer):
                note(open.event.kind)
                if open.event.kind == .terminate { hasTerminated = true }
                let answer = try answer.mapError {
                    IsolationError.answered($0.code, $0.description)
                }
                .get()
                return try reply(to: open.event, answer)
            case .failure(let end):
                // Another event may have started it again.
                return try reply(
                    to: open.event,
                    notify(
                        open.event, after: open.process === process ? end : nil, wasSent: true,
                        isSuspect: openEvents.contains { $0.process === open.process }))
            }
        }
        if case .success(.open) = answer { return }
        pause.noteAnswer()
        // With that of the next process, if this one died.
        let time = open.began.duration(to: services.time.now()).wholeNanoseconds
        services.gate.lane.counts.address.add(time, of: context.slot.number)
        // Ended with the host, it has not answered: the next host delivers the event again.
        if case .failure = result, services.gate.lane.isClosed { return }
        answered(open.event, answer)
    }

    private func answered(_ event: LifecycleEvent, _ answer: Result<EventReply, any Error>) {
        let services = context.host.services
        services.answered(context.slot, event)
        switch answer {
        case .success(let reply): services.answered(context.slot, event, .reply(reply))
        case .failure(let error):
            services.answered(context.slot, event, .failed(DescribedError(error)))
        }
    }

    @discardableResult
    func goOn() -> Bool {
        let services = context.host.services
        guard services.isOnLane else { return false }
        var hasSent = false
        defer {
            isGoingOn = false
            process.input.endGathering()
        }
        while let step = services.gate.lane.nextStep(of: context.slot) {
            // Nothing else is done before the process has its events.
            isGoingOn = if case .event = step { true } else { false }
            if !isGoingOn { process.input.endGathering() }
            switch step {
            case .event(let event):
                guard hears(event) else { continue }
                let answer = Result { try hear(event) }
                guard case .success(.open) = answer else {
                    answered(event, answer)
                    continue
                }
                // With a window it may have the next one, too.
                guard context.slot.window > 1 else { return true }
                hasSent = true
            case .read:
                services.yieldToRead(context.slot)
                return false
            case .deferred(let work): work.run()
            case .dropped(let work): work.abandon()
            case .open: return hasSent
            case .rejoined(let missed):
                services.rejoined(context.slot, missed: missed)
                return false
            }
        }
        return hasSent
    }

    private func hears(_ event: LifecycleEvent) -> Bool {
        guard receives(event.kind) else { return false }
        switch event.content {
        case .message(let message):
            return topics.contains { isTopic(message.topic, wantedBy: $0) }
        case .configuration(let reload): return reload.change(for: context.id) != nil
        default: return true
        }
    }
}
