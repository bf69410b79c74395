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

    /// The step of the work on its way to the module.
    private enum Step {
        case waiting(Body)
        case running
        /// Its result, or its error, is on the way to the module.
        case returning
        /// The module receives its result, or does not want it any more.
        case ended
    }

    /// The thread of synchronous work, which it keeps until it returns.
    private enum WorkThread {
        case none
        case inWork
        /// Its place was given to another thread.
        case replaced
    }

    private struct State {
        var step: Step
        var thread = WorkThread.none
        var alarm: (any Alarm)?
        var task: Task<Void, Never>?
        /// Whether it counts for ``limit``: until it has ended, and has given its thread back.
        var isCounted = true
        var isOver = false
    }

    private let owner: Owner
    private let handlers: LaneConfined<WorkHandlers>
    private let state: Guarded<State>
    private let hold = Guarded<ModuleHold?>(nil)

    init(_ name: String, of owner: Owner, _ body: Body, handlers: WorkHandlers) {
        self.name = name
        self.owner = owner
        self.handlers = LaneConfined(handlers)
        state = Guarded(State(step: .waiting(body)))
    }

    /// Whether the module has yet to receive the result or the error.
    public var isRunning: Bool {
        state.withLock { if case .ended = $0.step { false } else { true } }
    }

    /// Cancels the work: its result and its error are dropped, and neither `then` nor `failed` is called.
    ///
    /// Work that has not begun does not begin. The task of asynchronous work is cancelled. Synchronous work
    /// continues to its end.
    public func cancel() {
        guard drop() else { return }
        enterModule { $0.release() }
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
            guard case .waiting(let body) = state.step else { return nil }
            state.step = .running
            if case .sync = body { state.thread = .inWork }
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
        let isRunning = state.withLock { state in
            guard case .running = state.step else { return false }
            state.alarm = alarm
            return true
        }
        // Dropped work that still has its thread keeps the alarm, which gives the thread's place away.
        if !isRunning, !hasThread { alarm.cancel() }
    }

    private var hasThread: Bool {
        state.withLock { if case .inWork = $0.thread { true } else { false } }
    }

    private func begin(_ body: @escaping @Sendable () async throws -> HandBack) {
        let task = Task(executorPreference: owner.services.workers) { [self] in
            startClock()
            let result: Result<HandBack, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(DescribedError(error))
            }
            returned(result)
        }
        let isWanted = state.withLock { state in
            if case .running = state.step {
                state.task = task
                return true
            }
            return false
        }
        // It may have returned already.
        if !isWanted { task.cancel() }
    }

    /// Handles the end of the work; on the thread that it ran on.
    private func returned(_ result: Result<HandBack, any Error>) {
        let (isWanted, thread, alarm) = state.withLock { state in
            defer { (state.thread, state.alarm, state.task) = (.none, nil, nil) }
            guard case .running = state.step else { return (false, state.thread, state.alarm) }
            state.step = .returning
            return (true, state.thread, state.alarm)
        }
        alarm?.cancel()
        if case .replaced = thread {
            owner.services.workers.stuckThreadReturned()
            owner.log.debug("work \(quoted(name)) returned late; its result is discarded")
        }
        uncount()
        guard isWanted else { return }
        switch result {
        case .success(let handBack): handOver { _ in try handBack() }
        case .failure(let error): fail(error)
        }
    }

    private func deadlinePassed() {
        let (isOverdue, isStuck, task) = state.withLock { state in
            let isStuck = if case .inWork = state.thread { true } else { false }
            if isStuck { state.thread = .replaced }
            guard case .running = state.step else {
                return (false, isStuck, Task<Void, Never>?.none)
            }
            state.step = .returning
            return (true, isStuck, state.task)
        }
        if isStuck { owner.services.workers.replaceStuckThread() }
        task?.cancel()
        if isOverdue { fail(WorkError.overdue(name, after: owner.deadline)) }
    }

    /// Ends the work since the time of its hold is over.
    ///
    /// In the module.
    func holdRanOut() {
        let (isLeft, task, former) = state.withLock { state in
            let former = state.step
            switch former {
            case .waiting, .running: state.step = .returning
            case .returning, .ended: return (false, Task<Void, Never>?.none, former)
            }
            return (true, state.task, former)
        }
        // What the work captured may end with it, and call this: not under the lock.
        withExtendedLifetime(former) {}
        guard isLeft else { return }
        task?.cancel()
        fail(WorkError.holdRanOut(name))
    }

    /// Ends the work without its result.
    ///
    /// - Returns: False where it has ended.
    private func drop() -> Bool {
        let (isDropped, task, alarm, former) = state.withLock { state in
            let former = state.step
            if case .ended = former {
                return (false, Task<Void, Never>?.none, (any Alarm)?.none, former)
            }
            state.step = .ended
            // The alarm gives the place of a thread that does not return to another.
            if case .inWork = state.thread { return (true, nil, nil, former) }
            return (true, state.task, state.alarm, former)
        }
        // What the work captured may end with it, and call this: not under the lock.
        withExtendedLifetime(former) {}
        task?.cancel()
        alarm?.cancel()
        return isDropped
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
            guard take(), !owner.services.hasFailed(owner.slot) else { return }
            do { try body(handlers) } catch { throw WorkFailure(name: name, error: error) }
        }
    }

    /// Runs code with the handlers in the module, and then ends the work.
    ///
    /// Also in a module that is being unloaded and waits for the hold of the work.
    private func enterModule(_ body: @escaping @Sendable (WorkHandlers) throws -> Void) {
        owner.services.enter(owner.slot, reachesLeaving: true) { [handlers] in
            try body(handlers.openInModule())
        } completion: { [self] result in
            if case .failure(let error) = result, error is ModuleGone {
                end(isReleased: false)
            } else {
                end(isReleased: true)
            }
        }
    }

    /// Returns whether the result is still wanted, which no cancellation changes any more.
    private func take() -> Bool {
        state.withLock { state in
            guard case .returning = state.step else { return false }
            state.step = .ended
            return true
        }
    }

    /// Ends what lasts as long as the work.
    ///
    /// - Parameter isReleased: Whether the closures of the module are released; else that is left to the end of
    ///   the module.
    private func end(isReleased: Bool) {
        let former = state.withLock { state in
            defer { (state.step, state.isOver) = (.ended, true) }
            return state.step
        }
        withExtendedLifetime(former) {}
        endHold()
        if isReleased { owner.place.remove(self) }
        uncount()
    }

    private func endHold() {
        let hold = hold.withLock { hold -> ModuleHold? in
            defer { hold = nil }
            return hold
        }
        hold?.end()
    }

    /// Counts the work no longer once it is over and has given its thread back.
    private func uncount() {
        let isDue = state.withLock { state in
            guard state.isCounted, state.isOver, case .none = state.thread else { return false }
            state.isCounted = false
            return true
        }
        if isDue { owner.place.uncountWork() }
    }
}

extension ModuleWork: PendingWork {
    func moduleUnloaded() {
        _ = drop()
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
