import AppService

extension AppHost {
    /// The time that the lane may take to say what is missing.
    private static let patience: Duration = .milliseconds(200)

    /// Waits for a condition.
    ///
    /// - Parameters:
    ///   - condition: The condition.
    ///   - limit: The longest wait.
    ///   - completion: Called once, on any thread.
    /// - Returns: A closure that ends the wait.
    func wait(
        for condition: HostCondition, within limit: Duration,
        _ completion: @escaping @Sendable (Result<HostWaitOutcome, RPCError>) -> Void
    ) -> @Sendable () -> Void {
        let pending = HostWaits.Pending(
            orAbandoned: RPCError(ofCall: RouteError.stopped), completion)
        if let refusal = waits.add(condition, pending) {
            pending.finish(.failure(refusal))
            return {}
        }
        pending.set(
            time.schedule(after: limit) { [weak self, weak pending] in
                guard let self, let pending else { return }
                report(missing: condition, to: pending)
            })
        listReview(of: waits)
        return { [weak pending] in
            pending?.finish(.failure(RPCError(ofCall: RouteError.cancelled)))
        }
    }

    /// Reports what is missing for a condition when the time is up; the lane may be busy.
    private func report(missing condition: HostCondition, to pending: HostWaits.Pending) {
        let isReady = metrics.withLock { $0.readyAfter } != nil
        let missing = condition.needsReady && !isReady ? [reasonOfNotReady] : []
        read(within: Self.patience, first: true) { app -> Result<HostWaitOutcome, RPCError> in
            let uncreated = missing.isEmpty ? nil : app.firstUncreated
            let parts =
                missing.map { $0 + (uncreated.map { "; \($0) is not created yet" } ?? "") }
                + app.missing(for: condition.module)
            return app.outcome(of: condition) ?? .success(.missing(parts))
        } _: { outcome in
            switch outcome {
            case .success(let outcome): pending.finish(outcome)
            case .failure(.ended): pending.finish(.failure(RPCError(HostSilence.ended)))
            case .failure(.busy(let module, _, _)):
                let busy = module.map { "\($0) keeps the host busy" } ?? "the host is busy"
                let state = condition.module.map { ["the state of \($0) is not known: \(busy)"] }
                pending.finish(.success(.missing(missing + (state ?? []))))
            }
        }
    }

    /// The reason why the host is not ready, for any thread; nil for one that is or was.
    var reasonOfNotReadyYet: String? {
        metrics.withLock { $0.readyAfter } == nil ? reasonOfNotReady : nil
    }

    private var reasonOfNotReady: String {
        var text = "the app is not ready"
        let held = holds.open.filter { $0.step == .launch }.map { "\($0.module): \($0.reason)" }
        if !held.isEmpty { text += "; held by \(held.shortList())" }
        if let module = moduleAtWork { text += "; \(module) is running" }
        let tasks = startup.report().tasks.filter { $0.started != nil && $0.ended == nil }
        if !tasks.isEmpty {
            text += "; start-up \(tasks.count == 1 ? "task" : "tasks") not done: "
            text += tasks.map(\.name).shortList()
        }
        return text
    }

    /// Reviews the conditions that clients wait for, once the lane has done its current job.
    func listReview(of waits: HostWaits) {
        guard waits.mustList() else { return }
        gate.lane.enqueueFirst(
            LaneWork { [app] thread in
                let app = app.open(on: thread)
                waits.review(app.outcome)
            })
    }
}

extension App {
    /// Goes on to READY once each process has answered `activate`, and no module holds the launch.
    func becomeReadyWhenReleased() {
        let waits = records.contains { gate.lane.answers($0.slot) }
        // Each module has a time of its own, and is unresponsive after that.
        whenAnswered(records, within: .seconds(1 << 30)) { app in
            // A stop that came meanwhile ends the wait, too.
            if !waits || app.host?.isStopping == false { app.becomeReadyUnlessHeld() }
        }
    }

    private func becomeReadyUnlessHeld() {
        let job = LaneWork { [app = host?.app] thread in
            // A stop ends the holds of the launch, too.
            guard let app = app?.open(on: thread), app.host?.isStopping == false else { return }
            app.advance(.activated)
        }
        if !holds.keep(job) { advance(.activated) }
    }

    /// Notes that a condition which clients wait for may hold by now.
    func reviewWaits() { host?.listReview(of: waits) }

    /// Returns the outcome of a condition; nil while it may still hold later.
    fileprivate func outcome(of condition: HostCondition) -> Result<HostWaitOutcome, RPCError>? {
        if let name = condition.module {
            guard let module = status(named: name) else { return .failure(unknown(name)) }
            if let reason = reasonOfFinal(module) {
                return .success(.failed("\(name) failed: \(reason)"))
            }
            guard isUsable(module) else { return nil }
        }
        return condition.needsReady && !phase.isReady ? nil : .success(.met)
    }

    /// The status of the module with a name from outside; nil where there is none, or it is not enabled.
    private func status(named name: String) -> ModuleStatus? {
        (try? ModuleID(name)).flatMap { status(of: $0) }
    }

    private func unknown(_ name: String) -> RPCError {
        RPCError(NoSuchModule(name: name, in: slatefile))
    }

    /// Returns whether a module has done what its entry promises: a program that ends has ended.
    private func isUsable(_ module: ModuleStatus) -> Bool {
        switch module.state {
        case .done, .onDemand: true
        case .running: record(of: module.id)?.entry.ends != true
        case .waiting, .replacing, .overdue, .failed, .released: false
        }
    }

    /// Returns the reason of a failure after which no further attempt is made; nil for any other module.
    private func reasonOfFinal(_ module: ModuleStatus) -> String? {
        var (failed, reason) = (module, "")
        while failed.state == .failed, !attempts.includes(failed.id) {
            guard let need = failed.failedNeed else { return reason + (failed.reason ?? "") }
            // It is tried again with the one that it needs.
            guard let needed = status(of: need) else { return nil }
            reason += "it needs \(need), which failed: "
            failed = needed
        }
        return nil
    }

    /// The first module that the launch has yet to create; programs that end are not awaited.
    fileprivate var firstUncreated: ModuleID? {
        records.first { record in
            guard !record.entry.ends else { return false }
            return switch record.life {
            case .waiting, .making: true
            default: false
            }
        }?.id
    }

    /// Returns what is missing for the condition that a module runs, in words.
    fileprivate func missing(for name: String?) -> [String] {
        guard let name, let module = status(named: name), !isUsable(module) else { return [] }
        var text = "\(name) is \(module.state.rawValue)"
        if module.state == .running { text += ", and has not ended" }
        if let reason = module.reason { text += ": \(reason)" }
        if let time = module.retryAfter { text += "; restarting in \(time.briefText)" }
        return [text]
    }
}
