import AppService

/// The asynchronous handlers of a module: it receives the next event when the one that it has begun has returned, or before
/// that, with a window (``WindowedModule``).
///
/// Between two slices of a handler no thread is in the module, and the lane goes on: the module is behind, as one whose process
/// has an event to answer.
///
/// Belongs to the module.
final class OpenHandlers: EventTaker {
    private let services: HostServices
    private let slot: ModuleSlot
    private let place: ModulePlace
    private let log: Log
    private weak var context: ModuleContext?
    /// The handlers that have not returned, in the order of their events.
    private var open: [Handling] = []
    private let pause: EventPause

    /// Creates the handlers of a module; nil for one that has none.
    init?(of module: any Module, _ context: ModuleContext) {
        let hasHandler = EventKind.allCases.contains {
            $0.definition.asyncHandler(of: module) != nil
        }
        guard hasHandler else { return nil }
        (services, slot) = (context.host.services, context.slot)
        (place, log, self.context) = (context.place, context.log, context)
        pause = EventPause(of: context)
    }

    var pauseEnd: ContinuousClock.Instant? { pause.end }

    /// A handler that has begun.
    private final class Handling {
        enum Phase {
            /// Its first slice has not returned.
            case first
            /// It has returned in its first slice.
            case returned(EventAnswer)
            /// Events wait for it.
            case open(alarm: (any Alarm)?)
            /// No event waits for it; a stop does while it has a hold. Its time ends with that, or with the alarm where the app goes
            /// back to the foreground.
            case alone(alarm: (any Alarm)?)
        }

        let event: LifecycleEvent
        /// The reading of the coarse clock when it began.
        let began: Int
        let task = HandlerTask()
        var phase = Phase.first
        /// The hold on a step of the app's life, until it has returned; nil for other events.
        var hold: ModuleHold?
        /// The answers of other parts of the module to the event.
        var others = EventAnswer.none

        init(of event: LifecycleEvent, at now: Int) { (self.event, began) = (event, now) }

        func endHold() { hold.take()?.end() }
    }

    /// Begins the handler of an event.
    ///
    /// - Returns: Its reply, where it has returned at once; else ``EventReply/open``. Where events are not to wait for it, since
    ///   the app does not run, it goes on by itself.
    /// - Throws: What it threw before it was suspended.
    func hear(_ event: LifecycleEvent, _ handler: AsyncHandler) throws -> EventReply {
        let handling = Handling(of: event, at: services.time.coarseNanoseconds())
        let confined = LaneConfined((self, handling))
        let (run, handled) = (handler.run, HandledEvent(event, of: slot))
        place.begin { isolation in
            var answer: EventAnswer
            do {
                // Not in a closure: it would lose the isolation.
                answer = .reply(try await Self.handle(handled, run, isolation: isolation))
            } catch {
                answer = .failed(DescribedError(error))
            }
            let (handlers, handling) = confined.openInModule()
            handlers.ended(handling, answer)
        } onCreate: {
            handling.task.set($0)
        }
        switch handling.phase {
        case .returned(.reply(let reply)):
            pause.noteAnswer()
            return reply
        case .returned(.failed(let error)):
            // Only then: what is left open is to be answered.
            if let time = error.retry, event.laterAnswers == .all, canComeAgain(event),
                services.leaveOpen(slot, event), wantsAgain(event, after: time)
            {
                return .open
            }
            throw error
        default: break
        }
        place.add(handling.task)
        hold(handling)
        guard event.laterAnswers == .all, services.leaveOpen(slot, event) else {
            handling.phase = .alone(alarm: handling.hold.map { _ in alarm(confined) })
            return .received
        }
        // A process has the time that its host gives it.
        handling.phase = .open(alarm: services.isChildProcess ? nil : alarm(confined))
        open.append(handling)
        return .open
    }

    /// Ends the time of a handler after `deadlines.call`.
    private func alarm(_ handling: LaneConfined<(OpenHandlers, Handling)>) -> any Alarm {
        let limit = services.deadlines.call
        return services.time.schedule(after: limit) { [services, slot] in
            services.enter(slot, reachesLeaving: true) {
                let (handlers, handling) = handling.openInModule()
                handlers.expire(handling, after: limit)
            } completion: { _ in
            }
        }
    }

    private static func handle(
        _ event: HandledEvent, _ run: AsyncHandler.Run, isolation: isolated any Actor
    ) async throws -> EventReply {
        try await HandledEvent.$current.withValue(event) { try await run(event.event, isolation) }
    }

    /// Keeps the step open that a handler has begun in and not returned from: a stop, and the unloading of the module, wait.
    ///
    /// In a process, the host does.
    private func hold(_ handling: Handling) {
        let step = handling.event.kind
        guard step.canBeHeld else { return }
        let limit = services.deadlines.stop
        handling.hold = try? context?.hold(step, "its handler has not returned") {
            [weak self, weak handling] in
            if let handling { self?.expire(handling, after: limit) }
        }
    }

    /// Takes the end of a handler.
    private func ended(_ handling: Handling, _ answer: EventAnswer) {
        switch handling.phase {
        case .first: handling.phase = .returned(answer)
        case .open:
            if case .failed(let error) = answer, let time = error.retry,
                wantsAgain(handling.event, after: time)
            {
                close(handling)
                addTime(since: handling.began)
            } else {
                finish(handling, handling.others.joined(with: answer))
            }
        case .alone, .returned:
            if case .alone(let alarm) = handling.phase { alarm?.cancel() }
            place.remove(handling.task)
            // No event waits for its answer; an error is counted and logged all the same.
            if case .failed(let error) = answer, !handling.task.isCancelled {
                fail(handling, error)
            }
            handling.endHold()
        }
    }

    private func fail(_ handling: Handling, _ error: any Error) {
        services.gate.lane.counts.address.countFailure(of: slot.number)
        log.write(.error, "failed: \(error)", event: handling.event.kind.rawValue)
    }

    private func canComeAgain(_ event: LifecycleEvent) -> Bool {
        !services.isChildProcess && event.entry != nil
    }

    /// Has the module receive an event again later.
    ///
    /// - Returns: False for one that is not durable, and in a process, whose host does it.
    private func wantsAgain(_ event: LifecycleEvent, after time: Duration) -> Bool {
        guard canComeAgain(event), services.retry(slot, event) else { return false }
        let handlers = LaneConfined(WeakHandlers(handlers: self))
        pause.begin(at: event.kind, for: time) { handlers.openInModule().handlers?.goOn() }
        return true
    }

    private func expire(_ handling: Handling, after limit: Duration) {
        let error = HandlerTooLate(limit: limit)
        guard case .open = handling.phase else {
            // It may have returned since the time of its hold was over.
            guard handling.hold != nil else { return }
            handling.task.cancel()
            fail(handling, error)
            return handling.endHold()
        }
        handling.task.cancel()
        services.putAside(handling.event, of: slot, because: "\(error)")
        finish(handling, .failed(DescribedError(error)))
    }

    private func finish(_ handling: Handling, _ answer: EventAnswer) {
        close(handling)
        addTime(since: handling.began)
        pause.noteAnswer()
        services.answered(slot, handling.event)
        // Before the answer is noted: who waits for all answers looks then.
        goOnLater()
        services.answered(slot, handling.event, answer)
    }

    private func addTime(since began: Int) {
        let time = services.time.coarseNanoseconds() - began
        services.gate.lane.counts.address.add(time, of: slot.number)
    }

    private func close(_ handling: Handling) {
        if case .open(let alarm) = handling.phase { alarm?.cancel() }
        handling.phase = .alone(alarm: nil)
        handling.endHold()
        open.removeAll { $0 === handling }
        if !handling.task.isCancelled { place.remove(handling.task) }
    }

    /// Cancels the handlers.
    ///
    /// Durable events are left to the module's next instance, or to the next host.
    func settleEvent() {
        guard !open.isEmpty else { return }
        let all = open
        for handling in all {
            handling.task.cancel()
            close(handling)
        }
        services.giveBack(slot)
        // It may stay, if what was to replace it has failed.
        goOnLater()
        for handling in all { services.answered(slot, handling.event, .none) }
    }

    // MARK: What waits for the module

    /// Has the module receive what waits for it, one event a job, so that each has the deadline of one.
    private func goOnLater() {
        let handlers = LaneConfined(self)
        services.enter(slot, reachesLeaving: true) {
            handlers.openInModule().goOn()
        } completion: { _ in
        }
    }

    @discardableResult
    func goOn() -> Bool {
        guard services.isOnLane,
            let step = services.gate.lane.nextStep(of: slot)
        else { return false }
        switch step {
        case .event(let event):
            let began = services.time.coarseNanoseconds()
            let answer = services.deliver(event, to: slot)
            if let handling = open.last(where: { $0.event.isSame(as: event) }) {
                handling.others = answer
                // With a window it may receive the next one.
                if slot.window > 1 { goOnLater() }
            } else if services.gate.lane.isPaused(slot) {
                addTime(since: began)
            } else {
                addTime(since: began)
                services.answered(slot, event)
                goOnLater()
                services.answered(slot, event, answer)
            }
            return true
        case .deferred(let work): work.run()
        case .dropped(let work): work.abandon()
        case .read:
            services.yieldToRead(slot)
            return false
        case .open: return false
        case .rejoined(let missed):
            services.rejoined(slot, missed: missed)
            return false
        }
        goOnLater()
        return true
    }
}

/// The handlers of a module, for an alarm that may outlast it.
private struct WeakHandlers {
    weak var handlers: OpenHandlers?
}

/// The task of a handler, which is cancelled with its module.
private final class HandlerTask: PendingWork {
    private let state = Guarded<(task: Task<Void, Never>?, isCancelled: Bool)>((nil, false))

    func set(_ task: Task<Void, Never>) { state.withLock { $0.task = task } }

    var isCancelled: Bool { state.withLock(\.isCancelled) }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    func moduleUnloaded() { cancel() }
}

/// The error of a handler that has not returned in time.
private struct HandlerTooLate: Error, CustomStringConvertible {
    let limit: Duration

    var description: String {
        "its handler did not return within \(limit.briefText), and was cancelled"
    }
}
