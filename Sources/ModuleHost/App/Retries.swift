import AppService

/// The attempts to restart modules that have failed in `init` or `launch`, where their entries request that, and
/// those whose needs had failed and run again.
///
/// One reload restarts all those whose attempts are due, and leaves out what fails again: a reload visits all modules of
/// the app, so a thousand attempts of a thousand modules would take a million visits. Belongs to the lane.
final class Retries {
    /// The next attempt for one module.
    private struct Retry {
        var policy: RestartPolicy
        /// The instant at which it is due; nil once it has begun.
        var start: ContinuousClock.Instant?
        /// The time by which it may begin earlier, together with others.
        var slack = Duration.zero
        /// The instant at which the module ran after the last attempt; nil where it did not.
        var running: ContinuousClock.Instant?

        func isDue(at now: ContinuousClock.Instant) -> Bool {
            start.map { $0 - slack <= now } ?? false
        }
    }

    private unowned let app: App
    private var retries: [ModuleID: Retry] = [:]
    /// The alarm for the attempt that is due first, with its instant.
    private var alarm: (start: ContinuousClock.Instant, alarm: any Alarm)?
    /// The modules that are being restarted.
    private var restarting: Set<ModuleID> = []
    /// The modules that were to be restarted with one for which their reload was rolled back: they are next, before any
    /// others, so that each has its turn however often others hang.
    private var rest: Set<ModuleID> = []
    /// The largest number of modules that the next reload restarts.
    private var most = Int.max

    init(of app: App) { self.app = app }

    /// Returns the instant of the next attempt for a module; nil if none is scheduled.
    func start(of id: ModuleID) -> ContinuousClock.Instant? { retries[id]?.start }

    /// Schedules another attempt for a module that has failed, where its entry requests that, or where a lazy module
    /// that it needs cannot be made.
    ///
    /// The delays are those between the processes of a module. The requirements of a module may be missing
    /// for any time, so the attempts never end.
    func schedule(_ record: ModuleRecord) {
        // One whose need has failed is restarted with it; a lazy need that is not made is made by an attempt.
        let isTried =
            record.failedNeed.map { app.record(of: $0) == nil }
            ?? ((record.entry.isRetried || record.entry.isLazy) && !record.entry.isRequired)
        guard let host = app.host, !app.phase.isEnding, record.isFailed, isTried else {
            retries[record.id] = nil
            return
        }
        var limits = host.processes.restarts
        limits.intensity = .max
        var retry = retries[record.id] ?? Retry(policy: RestartPolicy(limits))
        let now = app.time.now()
        let verdict = retry.policy.died(
            startedAt: retry.running ?? now, at: now, chance: .random(in: 0...1))
        guard case .restart(let delay) = verdict else { return }
        let start = now + delay
        (retry.start, retry.slack, retry.running) = (start, delay / 10, nil)
        app.log.of(module: record.id.text).notice("restarting in \(delay.briefText)")
        retries[record.id] = retry
        setAlarm(for: start)
    }

    private func setAlarm(for start: ContinuousClock.Instant) {
        guard let host = app.host else { return }
        if let alarm {
            guard start < alarm.start else { return }
            alarm.alarm.cancel()
        }
        let delay = app.time.now().duration(to: start)
        let next = app.time.schedule(after: delay) { [weak host] in
            host?.onLane { app, _ in
                app.retries.alarm = nil
                app.retries.restart()
            }
        }
        alarm = (start, next)
    }

    /// Restarts the modules whose attempts are due, and those that were not launched because a module that they need had
    /// failed, as soon as all that they need run again: whatever their entries say about retries, since they have not
    /// failed themselves.
    ///
    /// Called when the app is ready, at the end of each reload, when an attempt is due, when an overdue module has
    /// returned, and when a lazy module that others need was made or unloaded.
    func restart() {
        // Reloads that callers asked for have their turn first.
        guard let host = app.host, app.phase == .running, restarting.isEmpty,
            !app.reloads.hasWaiting
        else { return }
        var next = chooseModules()
        if restarting.isEmpty, !rest.isEmpty {
            rest = []
            next = chooseModules()
        }
        guard !restarting.isEmpty else {
            most = .max
            if let next { setAlarm(for: next) }
            return
        }
        app.reloads.remake(
            restarting, origin: .host, leavesOutFailed: true,
            CallCompletion { [weak host] result in
                host?.onLane { app, _ in app.retries.restarted(result) }
            })
    }

    /// Restarts those that wait for a lazy module which has been unloaded: an attempt makes it again.
    func restart(needing id: ModuleID) {
        if app.onDemand.needed.contains(id) { restart() }
    }

    /// Chooses the modules to restart, and unloads lazy ones.
    ///
    /// - Returns: The instant of the next attempt of the others; nil for none.
    private func chooseModules() -> ContinuousClock.Instant? {
        let failed = app.failed.ids.compactMap(app.record(of:))
        let now = app.time.now()
        func isDue(_ record: ModuleRecord) -> Bool { retries[record.id]?.isDue(at: now) == true }
        let waiting = failed.filter { $0.failedNeed != nil || isDue($0) }.map(\.entry)
        let unmade = app.onDemand.unmadeNeeds(of: waiting).compactMap(app.onDemand.entry(ofUnmade:))
        let needed = Set((waiting + unmade).flatMap(\.needs))
        // Where the last attempt hangs, another one would hang beside it.
        let stuck = Set(app.unloadingModules.records.filter(app.isOverdue).map(\.id))
        let places = max(1, min(most, app.gate.lane.vacantNumbers(failed.count).count))
        var unloaded: [ModuleRecord] = []
        var next: ContinuousClock.Instant?
        for record in failed where rest.isEmpty || rest.contains(record.id) {
            // It is restarted when it has returned, or the lazy need that would be made for it has.
            guard restarting.count < places, !app.isOverdue(record), !stuck.contains(record.id),
                stuck.isEmpty
                    || stuck.isDisjoint(with: app.onDemand.unmadeNeeds(of: [record.entry]))
            else {
                continue
            }
            let start = retries[record.id]?.start
            // Where the need is not made, the attempt makes it: not more often than where the module itself fails.
            let isNeedMade = record.failedNeed.map { app.record(of: $0) != nil } == true
            guard isDue(record) || isNeedMade || start == nil && record.failedNeed != nil else {
                next = [next, start].compactMap(\.self).min()
                continue
            }
            if let error = failedNeed(of: record) {
                if isDue(record) { wait(record, for: error) }
                continue
            }
            retries[record.id]?.start = nil
            if !needed.contains(record.id), isUnloaded(record) {
                unloaded.append(record)
                continue
            }
            restarting.insert(record.id)
            if record.failedNeed != nil {
                app.log.of(module: record.id.text).notice("restarting with what it needs")
            }
        }
        for record in unloaded {
            // The next use of it is the attempt.
            app.unloadOnDemand(record, because: "made again when it is needed")
        }
        return next
    }

    private func restarted(_ result: Result<ReloadOutcome, any Error>) {
        let modules = restarting
        restarting = []
        rest.subtract(modules)
        var ended = modules
        if case .success(.rolledBack(let reason, let culprit)) = result {
            ended = failing(modules, by: culprit)
            if ended.isEmpty { most = 1 }
            let others = modules.subtracting(ended)
            rest.formUnion(others)
            for id in others { retries[id]?.start = app.time.now() }
            for record in ended.compactMap(failed) where failedNeed(of: record) == nil {
                // Now it has failed itself, or a lazy module that was to be made for it.
                record.failedNeed = culprit.flatMap { modules.contains($0) ? nil : $0 }
                record.status = .failed(reason)
            }
        } else {
            most = most > .max / 2 ? .max : 2 * most
        }
        for id in ended {
            guard let record = failed(id) else {
                retries[id]?.running = app.time.now()
                continue
            }
            // It may have failed again after the reload, which has scheduled the next attempt.
            if retries[id]?.start == nil { schedule(record) }
        }
        restart()
    }

    /// Returns the modules for which a reload was rolled back: the one that failed, or those that need it.
    private func failing(_ modules: Set<ModuleID>, by culprit: ModuleID?) -> Set<ModuleID> {
        // A single one has failed whatever the reason, so that this ends.
        guard modules.count > 1 else { return modules }
        guard let culprit else { return [] }
        guard !modules.contains(culprit) else { return [culprit] }
        return modules.filter {
            failed($0).map { app.onDemand.unmadeNeeds(of: [$0.entry]).contains(culprit) } == true
        }
    }

    /// Makes a module wait for a failed one that it needs: it is restarted with that.
    private func wait(_ record: ModuleRecord, for error: FailedNeed) {
        retries[record.id] = nil
        record.failedNeed = error.need
        record.status = .failed("\(error)")
    }

    /// Returns whether a module that has failed is to be unloaded: it is lazy, and made again when it is needed.
    private func isUnloaded(_ record: ModuleRecord) -> Bool {
        record.isOnDemand && app.obstacle(toUnloading: record, isIdle: false) == nil
    }

    /// Returns the error of a module that needs a failed one which is not restarted with it, or needs a lazy one that
    /// would be made for it and needs a failed one; nil for none.
    private func failedNeed(of record: ModuleRecord) -> FailedNeed? {
        func find(_ id: ModuleID) -> ModuleRecord? {
            restarting.contains(id) ? nil : app.record(of: id)
        }
        if let error = app.failedNeed(of: record.entry, find: find) { return error }
        for id in app.onDemand.unmadeNeeds(of: [record.entry]).sortedByText(\.text) {
            guard let entry = app.onDemand.entry(ofUnmade: id),
                let error = app.failedNeed(of: entry, find: find)
            else { continue }
            return FailedNeed(need: error.need, reason: "needs \(id), which \(error.reason)")
        }
        return nil
    }

    private func failed(_ id: ModuleID) -> ModuleRecord? {
        app.record(of: id).flatMap { $0.isFailed ? $0 : nil }
    }

    /// Cancels the attempts for a module that runs, or is removed.
    func end(of id: ModuleID) { retries[id] = nil }

    /// Forgets the modules that a slatefile does not have.
    func endOthers(than modules: some Sequence<ModuleID>) {
        guard !retries.isEmpty else { return }
        let kept = Set(modules)
        retries = retries.filter { kept.contains($0.key) }
    }

    /// Cancels all attempts.
    func endAll() {
        alarm?.alarm.cancel()
        (alarm, retries) = (nil, [:])
    }
}
