import AppService

/// Modules that own what only one instance can have: the old one is stopped before the new one is made.
extension ReloadTransaction {
    /// Stops the old instances of modules that are replaced stop-first, and calls a closure when all of them are released.
    ///
    /// They receive the shutdown events in order and are released in reverse order, as in a stop. What is for them waits
    /// meanwhile, as for a lazy module whose process starts.
    func stopFirst(then next: @escaping (ReloadTransaction) -> Void) {
        // Those that were stopped before, for this reload, which is repeated.
        stopped = leaving.compactMap { record in
            app.onDemand.starts[record.id].flatMap { $0.replaced == nil ? nil : $0 }
        }
        let old = leaving.filter { record in
            guard record.module != nil, let next = stagedByID[record.id], !isLater(next) else {
                return false
            }
            return request.stopsFirst || record.entry.replacement == .stopFirst
                || next.entry.replacement == .stopFirst
        }
        guard !old.isEmpty else { return next(self) }
        guard app.gate.lane.vacantNumbers(old.count).count == old.count else {
            return rollBack(because: "\(NoPlace(modules: old.count))")
        }
        answers = app.whenAnswered(old) { [self] _ in
            if !isOver, !host.isStopping { stop(old, then: next) }
        }
    }

    private func stop(_ old: [ModuleRecord], then next: @escaping (ReloadTransaction) -> Void) {
        var places: [ModuleID: ModuleRecord] = [:]
        for record in old {
            let received = ReceivedEvents(by: app.center.members(of: record.slot))
            guard let start = app.vacate(record, in: host) else { continue }
            app.log.of(module: record.id.text).notice("stopped, to be replaced")
            start.replaced = received
            places[record.id] = start.record
            stopped.append(start)
        }
        leaving = leaving.map { places[$0.id] ?? $0 }
        limitStop(of: old)
        app.reportHealth()
        app.unloadingModules.sendShutdownEvents(to: old, in: host)
        app.unloadingModules.whenReleased(old) { [self] _ in
            stopAlarm?.cancel()
            // A stop that is about to begin rolls it back.
            if !isOver, !host.isStopping { next(self) }
        }
    }

    private func limitStop(of old: [ModuleRecord]) {
        let limit = (app.slatefile.deadlines.stop + host.processes.limits.terminating) * 2
        let confined = LaneConfined((self, old))
        stopAlarm = app.time.schedule(after: limit) { [host] in
            host.onLane { app, thread in
                let (reload, old) = confined.open(on: thread)
                let late = old.filter(app.isOverdue)
                let left = late.isEmpty ? old.filter { app.unloadingModules.holds($0.slot) } : late
                reload.rollBack(
                    because:
                        "the old instance of \(left.map(\.id.text).shortList()) has not ended within "
                        + limit.briefText)
            }
        }
    }

    /// Starts the modules again that were stopped first, in order, with their former entries.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the reload.
    ///   - last: Called with the outcome when all of them run or have failed: then it has those reasons, too.
    func startStopped(_ outcome: ReloadOutcome, then last: @escaping (ReloadOutcome) -> Void) {
        guard !stopped.isEmpty, !app.phase.isEnding else { return last(outcome) }
        for start in stopped { start.replaced = nil }
        startNext(of: stopped[...], outcome, then: last)
    }

    private func startNext(
        of starts: ArraySlice<LazyStarts.Start>, _ outcome: ReloadOutcome,
        then last: @escaping (ReloadOutcome) -> Void
    ) {
        guard let start = starts.first, !app.phase.isEnding else { return last(outcome) }
        let confined = LaneConfined((self, starts, last))
        let next = LaneWork { thread in
            let (reload, starts, last) = confined.open(on: thread)
            let outcome = starts.first.map { outcome.adding(failureOf: $0.record) } ?? outcome
            reload.startNext(of: starts.dropFirst(), outcome, then: last)
        }
        let id = start.record.id
        app.gate.lane.enqueue(
            LaneWork(limit: .launch) { thread in
                let (reload, starts, _) = confined.open(on: thread)
                let onDemand = reload.app.onDemand
                // Kept first, since the lane may be lost in its `launch`.
                onDemand.wait(next, for: id)
                if let start = starts.first { onDemand.goOn(with: start, on: thread) }
            })
    }
}

extension ReloadOutcome {
    /// Returns the outcome with the reason why a module does not run which was stopped for the reload.
    fileprivate func adding(failureOf record: ModuleRecord) -> ReloadOutcome {
        guard record.isFailed, case .rolledBack(let reason) = self else { return self }
        return .rolledBack(
            "\(reason); and its former instance cannot be started again: module '\(record.id)': "
                + record.unavailability)
    }
}
