/// Work off the lane, and back.
extension ModuleContext {
    /// Runs work off the lane, and takes its result on the lane.
    ///
    /// ```swift
    /// try context.perform("thumbnail") { [path] in
    ///     try Thumbnail(of: path)         // off the lane, without the module
    /// } then: { thumbnail in
    ///     self.thumbnail = thumbnail      // in the module
    /// }
    /// ```
    ///
    /// May be called in any code of the module, any number of times; at most ``ModuleWork/limit`` pieces of work
    /// of one module have not ended.
    ///
    /// - Order: Work begins in the order of the module's calls, as threads are free; modules with work that waits
    ///   take turns, and asynchronous work takes its turn among other asynchronous code. Results arrive in any order.
    /// - Thread: The work runs on one of the host's worker threads: `startup.width` of the slatefile, as many as
    ///   there are cores otherwise. `then` and `failed` run on the lane or, where the module is unresponsive, on
    ///   its own thread when it returns.
    /// - End: The work is cancelled when its module is unloaded, in a reload or a stop: its result and its error
    ///   are dropped then.
    /// - Parameters:
    ///   - name: A name for the log. It must not contain secrets.
    ///   - deadline: How long the work may take, from its beginning; nil means `deadlines.call` of the
    ///     slatefile, 30 s where it has none. After it the result is dropped, and another thread takes over the
    ///     place of one that does not return.
    ///   - holding: Whether a stop waits for the work, and for `then`, before its next step: see ``ModuleHold``.
    ///     When the time of the hold is over, the work is cancelled and has failed.
    ///   - work: The work.
    ///   - then: Receives the result, in the module. An error that it throws is logged under the module's name.
    ///   - failed: Receives the error of the work or ``WorkError``, in the module; nil means that it is logged
    ///     under the module's name.
    /// - Returns: The work, to cancel it.
    /// - Throws: ``WorkError`` where the work cannot begin; ``HoldError`` where `holding` is not possible.
    @discardableResult
    public func perform<Value: Sendable>(
        _ name: String, deadline: Duration? = nil, holding: Bool = false,
        work: @escaping @Sendable () throws -> Value,
        then: @escaping (Value) throws -> Void = { _ in },
        failed: ((any Error) throws -> Void)? = nil
    ) throws -> ModuleWork {
        try begin(name, deadline, holding, then, failed) { result in
            .sync {
                let value = try work()
                return { try result.openInModule().take(value) }
            }
        }
    }

    /// Runs asynchronous work off the lane, and takes its result on the lane.
    ///
    /// The work holds no thread while it waits, and must not block the one that it runs on. Its task is cancelled
    /// where its result is not wanted any more.
    ///
    /// - Parameters:
    ///   - name: A name for the log. It must not contain secrets.
    ///   - deadline: How long the work may take.
    ///   - holding: Whether a stop waits for the work, and for `then`, before its next step.
    ///   - work: The work.
    ///   - then: Receives the result, in the module.
    ///   - failed: Receives the error, in the module.
    /// - Returns: The work, to cancel it.
    /// - Throws: As for synchronous work.
    @discardableResult
    public func perform<Value: Sendable>(
        _ name: String, deadline: Duration? = nil, holding: Bool = false,
        work: @escaping @Sendable () async throws -> Value,
        then: @escaping (Value) throws -> Void = { _ in },
        failed: ((any Error) throws -> Void)? = nil
    ) throws -> ModuleWork {
        try begin(name, deadline, holding, then, failed) { result in
            .async {
                let value = try await work()
                return { try result.openInModule().take(value) }
            }
        }
    }

    private func begin<Value>(
        _ name: String, _ deadline: Duration?, _ holding: Bool,
        _ then: @escaping (Value) throws -> Void, _ failed: ((any Error) throws -> Void)?,
        _ body: (LaneConfined<WorkResult<Value>>) -> ModuleWork.Body
    ) throws -> ModuleWork {
        let deadline = callDeadline(deadline)
        guard deadline > .zero else { throw WorkError.deadline(name, deadline) }
        guard place.countWork(limit: ModuleWork.limit) else { throw WorkError.tooMany(name) }
        let result = WorkResult(then)
        let work = ModuleWork(
            name,
            of: ModuleWork.Owner(
                services: host.services, slot: slot, place: place, log: log, deadline: deadline),
            body(LaneConfined(result)),
            handlers: WorkHandlers(failed: failed, releaseThen: result.release))
        do {
            work.begin(holding: holding ? try hold(for: work) : nil)
        } catch {
            place.uncountWork()
            throw error
        }
        return work
    }

    private func hold(for work: ModuleWork) throws(HoldError) -> ModuleHold {
        try hold(event?.kind == .terminate ? .terminate : .background, work.name) { [weak work] in
            work?.holdRanOut()
        }
    }
}
