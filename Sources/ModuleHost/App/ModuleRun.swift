import AppService

/// The long-running task of a module, from its beginning to its end.
///
/// Any thread may use it.
final class ModuleRun: PendingWork {
    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
        var hasEnded = false
        /// Keeps the module from being released before the task has ended, once for a limited time.
        var hold: ModuleHold?
        var hasHeld = false
    }

    private let state = Guarded(State())

    /// Begins the task.
    ///
    /// In the module.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - place: The isolation of its asynchronous code.
    ///   - onEnd: Called once, at the end: with the error that it threw, in words, and whether it had been
    ///     cancelled.
    func begin(
        _ module: any RunningModule, at place: ModulePlace,
        onEnd: @escaping @Sendable ((any Error)?, _ isCancelled: Bool) -> Void
    ) {
        place.add(self)
        let confined = LaneConfined(module)
        place.begin { [self] isolation in
            var failure: (any Error)?
            do {
                try await confined.openInModule().run(isolation: isolation)
            } catch {
                failure = DescribedError(error)
            }
            place.remove(self)
            onEnd(failure, ended())
        } onCreate: { task in
            let isCancelled = state.withLock { state in
                state.task = task
                return state.isCancelled
            }
            if isCancelled { task.cancel() }
        }
    }

    /// Notes the end; returns whether the task had been cancelled.
    private func ended() -> Bool {
        let (isCancelled, hold) = state.withLock { state in
            state.hasEnded = true
            defer { (state.task, state.hold) = (nil, nil) }
            return (state.isCancelled, state.hold)
        }
        hold?.end()
        return isCancelled
    }

    /// Cancels the task.
    ///
    /// - Parameter hold: Returns a hold that lasts until the task has ended; called at most once, for a task that
    ///   runs.
    func cancel(holding hold: (() -> ModuleHold?)? = nil) {
        let (task, isHeld) = state.withLock { state in
            let isHeld = hold != nil && !state.hasHeld && !state.hasEnded && state.task != nil
            if isHeld { state.hasHeld = true }
            defer { state.isCancelled = true }
            return (state.isCancelled ? nil : state.task, isHeld)
        }
        if isHeld, let hold = hold?() {
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.hold = hold }
                return state.hasEnded
            }
            if hasEnded { hold.end() }
        }
        task?.cancel()
    }

    func moduleUnloaded() { cancel() }
}

extension App {
    /// Begins the long-running task of a module that has been launched, if it has one.
    ///
    /// A module that is unresponsive begins when it returns.
    func beginRun(of record: ModuleRecord) {
        guard record.run == nil, let module = record.module as? any RunningModule,
            let context = record.context, let host
        else { return }
        let run = ModuleRun()
        record.run = run
        let confined = LaneConfined((record, module, context))
        let reference = WeakHost()
        reference.set(host)
        gate.lane.enqueue(
            ModuleJob(gate: gate, slot: record.slot) {
                let (record, module, context) = confined.openInModule()
                let ended = LaneConfined(record)
                run.begin(module, at: context.place) { failure, isCancelled in
                    reference.host?.onLane { app, thread in
                        app.runEnded(ended.open(on: thread), failure, isCancelled)
                    }
                }
            })
    }

    /// Handles the end of the long-running task of a module.
    private func runEnded(_ record: ModuleRecord, _ failure: (any Error)?, _ isCancelled: Bool) {
        let log = log.of(module: record.id.text)
        let isExpected = isCancelled || phase.isEnding || self.record(of: record.slot) !== record
        switch failure {
        case nil where isExpected || record.isFailed: log.debug("run ended")
        case nil where record.entry.isRequired: markFailed(record, "run", RunEnded())
        case nil: log.notice("run ended")
        case let failure? where isExpected || record.isFailed:
            if !isCancelled { log.error("run failed: \(failure)") }
        case let failure?: markFailed(record, "run", failure)
        }
    }

    /// Cancels the long-running task of a module, whose release then waits for its end; of an overdue one it does
    /// not, and what the task runs elsewhere can end meanwhile.
    func cancelRun(of record: ModuleRecord) {
        guard let run = record.run else { return }
        guard !isOverdue(record) else {
            // Not on the lane: what handles the cancellation may wait for the code that hangs.
            _ = try? NativeThread.start(name: "cancellation") { run.cancel() }
            return
        }
        let (holds, reason) = (holds, "its run() was cancelled")
        run.cancel {
            let request = HoldList.Request(
                module: record.id, slot: record.slot, step: .terminate, reason: reason, expiry: nil)
            return (try? holds.add(request)).map { ModuleHold($0, reason, in: holds) }
        }
    }
}
