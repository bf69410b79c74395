import AppService

/// A piece of work of a module off the lane, begun by ``ModuleContext/perform(_:deadline:holding:work:then:failed:)``.
///
/// It belongs to its module, and is cancelled when the module is unloaded. It need not be kept.
///
/// - Thread: Any.
public final class ModuleWork: Sendable {
    /// The greatest number of pieces of work of one module that have not ended: 1024.
    public static let limit = 1024

    /// The name, in the module's words.
    public let name: String

    /// Code that hands a result back; code of the module.
    typealias HandBack = @Sendable () throws -> Void

    /// The work, with the type of its result erased.
    enum Body: Sendable {
        case sync(@Sendable () throws -> HandBack)
        case async(@Sendable () async throws -> HandBack)
    }

    /// The module to which the work belongs, and its limits.
    struct Owner: Sendable {
        let services: HostServices
        let slot: ModuleSlot
        let place: ModulePlace
        let log: Log
        let deadline: Duration
    }

    private struct State {
        var phase = WorkPhase()
        /// The work that has not begun.
        var body: Body?
        var alarm: (any Alarm)?
        var task: Task<Void, Never>?
    }

    private let owner: Owner
    /// The trace of the code that has begun the work.
    private let trace: TraceContext?
    private let handlers: LaneConfined<WorkHandlers>
    private let state: Guarded<State>
    private let hold = Guarded<ModuleHold?>(nil)

    init(_ name: String, of owner: Owner, _ body: Body, handlers: WorkHandlers) {
        self.name = name
        self.owner = owner
        trace = owner.services.gate.lane.currentTrace
        self.handlers = LaneConfined(handlers)
        state = Guarded(State(body: body))
    }

    /// Whether the module has yet to receive the result or the error.
    public var isRunning: Bool {
        state.withLock { $0.phase.step != .ended && $0.phase.step != .over }
    }

    /// Cancels the work: its result and its error are dropped, and neither `then` nor `failed` is called.
    ///
    /// Work that has not begun does not begin. The task of asynchronous work is cancelled. Synchronous work
    /// continues to its end.
    public func cancel() {
        if apply(.drop).contains(.release) { enterModule { $0.release() } }
    }

    // MARK: The work

    /// Begins the work, as soon as a thread is free.
    ///
    /// In the module.
    ///
    /// - Parameter hold: The hold that ends with it, if there is one.
    func begin(holding hold: ModuleHold?) {
        self.hold.withLock { $0 = hold }
        owner.place.add(self)
        owner.services.workers.run(for: owner.slot) { self.work() }
    }

    /// Runs the work; on a thread of the workers.
    private func work() {
        let body = state.withLock { state -> Body? in
            guard let body = state.body else { return nil }
            let keepsThread = if case .sync = body { true } else { false }
            guard state.phase.apply(.begin(keepsThread: keepsThread)).contains(.run) else {
                return nil
            }
            state.body = nil
            return body
        }
        switch body {
        case nil: break
        case .sync(let body):
            startClock()
            owner.services.countWork(of: owner.slot, 1)
            let result = Result { try describing(body) }
            owner.services.countWork(of: owner.slot, -1)
            returned(result)
        case .async(let body): begin(body)
        }
    }

    /// Starts the time of the work.
    private func startClock() {
        let alarm = owner.services.time.schedule(after: owner.deadline) { [weak self] in
            self?.deadlinePassed()
        }
        let isWanted = state.withLock { state in
            // Dropped work that still has its thread keeps the alarm, which gives the thread's place away.
            guard state.phase.step == .running else { return state.phase.thread == .inWork }
            state.alarm = alarm
            return true
        }
        if !isWanted { alarm.cancel() }
    }

    private func begin(_ body: @escaping @Sendable () async throws -> HandBack) {
        let task = TraceContext.with(trace) {
            HandledEvent.$current.withValue(nil) { self.task(body) }
        }
        let isWanted = state.withLock { state in
            guard state.phase.step == .running else { return false }
            state.task = task
            return true
        }
        // It may have returned already.
        if !isWanted { task.cancel() }
    }

    private func task(
        _ body: @escaping @Sendable () async throws -> HandBack
    ) -> Task<Void, Never> {
        Task(executorPreference: owner.services.workers) { [self] in
            startClock()
            let result: Result<HandBack, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(DescribedError(error))
            }
            returned(result)
        }
    }

    /// Handles the end of the work; on the thread that it ran on.
    private func returned(_ result: Result<HandBack, any Error>) {
        let effects = apply(.returned)
        if effects.contains(.giveThreadBack) {
            owner.services.workers.stuckThreadReturned()
            owner.log.debug("work \(quoted(name)) returned late; its result is discarded")
        }
        if effects.contains(.uncount) { owner.place.uncountWork() }
        guard effects.contains(.handOver) else { return }
        switch result {
        case .success(let handBack): handOver { _ in try handBack() }
        case .failure(let error): fail(error)
        }
    }

    private func deadlinePassed() {
        if apply(.deadline).contains(.fail) {
            fail(WorkError.overdue(name, after: owner.deadline))
        }
    }

    /// Ends the work since the time of its hold is over.
    ///
    /// In the module.
    func holdRanOut() {
        if apply(.holdRanOut).contains(.fail) { fail(WorkError.holdRanOut(name)) }
    }

    /// Changes the phase, and carries out the effects that concern its thread, its task and its alarm.
    ///
    /// - Returns: All effects.
    private func apply(_ change: WorkPhase.Change) -> WorkPhase.Effects {
        let (effects, before) = state.withLock { state in
            let before = state
            let effects = state.phase.apply(change)
            if state.phase.step != .waiting { state.body = nil }
            if change == .returned { (state.alarm, state.task) = (nil, nil) }
            return (effects, before)
        }
        if effects.contains(.replaceThread) { owner.services.workers.replaceStuckThread() }
        if effects.contains(.cancelTask) { before.task?.cancel() }
        if effects.contains(.cancelAlarm) { before.alarm?.cancel() }
        // What the work captured may end with it, and call this: not under the lock.
        withExtendedLifetime(before) {}
        return effects
    }

    // MARK: The result

    private func fail(_ error: any Error) {
        handOver { [name, log = owner.log] handlers in
            if let failed = handlers.failed { return try failed(error) }
            log.error(error is WorkError ? "\(error)" : "work \(quoted(name)) failed: \(error)")
        }
    }

    /// Gives the end of the work to the module, unless the work is cancelled before.
    private func handOver(_ body: @escaping @Sendable (WorkHandlers) throws -> Void) {
        enterModule { [self] handlers in
            defer { handlers.release() }
            guard apply(.take).contains(.receive), !owner.services.hasFailed(owner.slot) else {
                return
            }
            do { try body(handlers) } catch { throw WorkFailure(name: name, error: error) }
        }
    }

    /// Runs code with the handlers in the module, and then ends the work.
    ///
    /// Also in a module that is being unloaded and waits for the hold of the work.
    private func enterModule(_ body: @escaping @Sendable (WorkHandlers) throws -> Void) {
        owner.services.enter(owner.slot, reachesLeaving: true, trace: trace) { [handlers] in
            try body(handlers.openInModule())
        } completion: { [self] result in
            if case .failure(let error) = result, error is ModuleGone {
                end(isReleased: false)
            } else {
                end(isReleased: true)
            }
        }
    }

    /// Ends what lasts as long as the work.
    ///
    /// - Parameter isReleased: Whether the closures of the module are released; else that is left to the end of
    ///   the module.
    private func end(isReleased: Bool) {
        let effects = apply(.finish)
        endHold()
        if isReleased { owner.place.remove(self) }
        if effects.contains(.uncount) { owner.place.uncountWork() }
    }

    private func endHold() {
        let hold = hold.withLock { hold -> ModuleHold? in
            defer { hold = nil }
            return hold
        }
        hold?.end()
    }
}

extension ModuleWork: PendingWork {
    func moduleUnloaded() {
        _ = apply(.drop)
        handlers.openInModule().release()
        end(isReleased: true)
    }
}

/// An error of a closure that took the end of work.
private struct WorkFailure: Error, CustomStringConvertible {
    let name: String
    let error: any Error

    var description: String {
        "the end of work \(quoted(name)) was not handled: \(error)"
    }
}
