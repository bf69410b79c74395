import AppService

/// The attempts to restart modules that have failed in `init` or `launch`, where their entries request that, and
/// those whose needs had failed and run again.
///
/// Belongs to the lane.
final class Retries {
    /// The next attempt for one module.
    private struct Retry {
        var policy: RestartPolicy
        var alarm: (any Alarm)?
        /// The instant at which it begins; nil once it has begun.
        var start: ContinuousClock.Instant?
    }

    private unowned let app: App
    private var retries: [ModuleID: Retry] = [:]
    /// The modules that are being restarted because their needs run again.
    private var returning: Set<ModuleID> = []
    /// The largest number of modules that one reload restarts.
    private var mostReturning = 1

    init(of app: App) { self.app = app }

    /// Returns the instant of the next attempt for a module; nil if none is scheduled.
    func start(of id: ModuleID) -> ContinuousClock.Instant? { retries[id]?.start }

    /// Schedules another attempt for a module that has failed, where its entry requests that.
    ///
    /// The delays are those between the processes of a module. The requirements of a module may be missing
    /// for any time, so the attempts never end.
    func schedule(_ record: ModuleRecord) {
        retries[record.id]?.alarm?.cancel()
        // One whose need has failed is restarted with it.
        guard let host = app.host, !app.phase.isEnding, record.isFailed,
            record.entry.isRetried || record.entry.isLazy, !record.entry.isRequired,
            record.failedNeed == nil
        else {
            retries[record.id] = nil
            return
        }
        var limits = host.processes.restarts
        limits.intensity = .max
        var retry = retries[record.id] ?? Retry(policy: RestartPolicy(limits))
        let now = app.time.now()
        let verdict = retry.policy.died(startedAt: now, at: now, chance: .random(in: 0...1))
        guard case .restart(let delay) = verdict else { return }
        retry.start = now + delay
        app.log.of(module: record.id.text).notice("restarted in \(delay.briefText)")
        retry.alarm = app.time.schedule(after: delay) { [weak host, id = record.id] in
            host?.onLane { app, _ in app.retries.retry(id) }
        }
        retries[record.id] = retry
    }

    /// Restarts a failed module as `hostd restart` does, and schedules another attempt where that fails.
    private func retry(_ id: ModuleID) {
        guard let host = app.host, retries[id] != nil, failed(id) != nil else { return }
        retries[id]?.start = nil
        if let record = failed(id), record.isOnDemand, app.phase == .running,
            app.obstacle(toUnloading: record, isIdle: false) == nil
        {
            // The next use of it is the attempt.
            return app.unloadOnDemand(record, because: "made again when it is needed")
        }
        app.reloads.remake(
            [id], origin: .host,
            CallCompletion { [weak host] _ in
                host?.onLane { app, _ in app.retries.tried(id) }
            })
    }

    private func tried(_ id: ModuleID) {
        guard let record = failed(id) else { return end(of: id) }
        schedule(record)
    }

    /// Restarts the modules that were not launched because a module that they need had failed, as soon as all that
    /// they need run again.
    ///
    /// Whatever their entries say about retries: they have not failed themselves. One reload restarts several, in order,
    /// each after those that it needs: first one, then twice as many as the last time. So a thousand modules take ten
    /// reloads, each of which visits all modules of the app. Where one of several fails, that one is left out, and half as
    /// many are tried next: for each module that runs in the end, at most four others are made and undone.
    func restartNeeding() {
        guard let host = app.host, !app.phase.isEnding, returning.isEmpty else { return }
        for record in app.records where record.failedNeed != nil && !app.isOverdue(record) {
            guard returning.count < mostReturning else { break }
            guard !isWaiting(record, besides: returning) else { continue }
            returning.insert(record.id)
            app.log.of(module: record.id.text)
                .notice("restarting: the modules that it needs run again")
        }
        guard !returning.isEmpty else {
            mostReturning = 1
            return
        }
        app.reloads.remake(
            returning, origin: .host,
            CallCompletion { [weak host] result in
                host?.onLane { app, _ in app.retries.returned(result) }
            })
    }

    private func returned(_ result: Result<ReloadOutcome, any Error>) {
        let modules = returning
        returning = []
        if case .success(.rolledBack(let reason, let culprit)) = result {
            // A single one is left out whatever the reason, so that this ends.
            let single = modules.count == 1 ? modules.first : nil
            let failing = culprit.flatMap { modules.contains($0) ? $0 : nil } ?? single
            mostReturning = failing == nil ? 1 : max(1, modules.count / 2)
            if let record = failing.flatMap(failed), !isWaiting(record, besides: modules) {
                // Now it has failed itself.
                record.failedNeed = nil
                record.status = .failed(reason)
                schedule(record)
            }
        } else {
            mostReturning = 2 * modules.count
        }
        restartNeeding()
    }

    /// Returns whether a module needs a failed one that is not restarted with it.
    private func isWaiting(_ record: ModuleRecord, besides returning: Set<ModuleID>) -> Bool {
        let error = app.failedNeed(of: record.entry) {
            returning.contains($0) ? nil : app.record(of: $0)
        }
        return error != nil
    }

    private func failed(_ id: ModuleID) -> ModuleRecord? {
        app.records.first { $0.id == id && $0.isFailed }
    }

    /// Cancels the attempts for a module that runs, or is removed.
    func end(of id: ModuleID) { retries.removeValue(forKey: id)?.alarm?.cancel() }

    /// Cancels all attempts.
    func endAll() {
        for retry in retries.values { retry.alarm?.cancel() }
        retries = [:]
    }
}
