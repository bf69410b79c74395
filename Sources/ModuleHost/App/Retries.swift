import AppService

/// The tries to restart modules that have failed in `init` or `launch`, where their entries ask for that.
///
/// Belongs to the lane.
final class Retries {
    /// The next try for one module.
    private struct Retry {
        var policy: RestartPolicy
        var alarm: (any Alarm)?
        /// The instant at which it begins; nil once it has begun.
        var start: ContinuousClock.Instant?
    }

    private unowned let app: App
    private var retries: [ModuleID: Retry] = [:]

    init(of app: App) { self.app = app }

    /// The instant at which a module is tried again; nil if none is scheduled.
    func start(of id: ModuleID) -> ContinuousClock.Instant? { retries[id]?.start }

    /// Schedules another try for a module that has failed, where its entry asks for that.
    ///
    /// The delays are those between the processes of a module. What a module needs to start may be missing for
    /// any time, so that it is never given up.
    func schedule(_ record: ModuleRecord) {
        retries[record.id]?.alarm?.cancel()
        guard let host = app.host, !app.phase.isEnding, record.isFailed, record.entry.isRetried,
            !record.entry.isRequired
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

    /// Restarts a failed module as `hostd restart` does, and schedules another try where that fails.
    private func retry(_ id: ModuleID) {
        guard let host = app.host, retries[id] != nil, failed(id) != nil else { return }
        retries[id]?.start = nil
        app.reloads.remake(
            [id], origin: .host,
            Answer { [weak host] _ in
                host?.onLane { app, _ in app.retries.tried(id) }
            })
    }

    private func tried(_ id: ModuleID) {
        guard let record = failed(id) else { return end(of: id) }
        schedule(record)
    }

    private func failed(_ id: ModuleID) -> ModuleRecord? {
        app.records.first { $0.id == id && $0.isFailed }
    }

    /// Calls off the tries for a module that runs, or leaves.
    func end(of id: ModuleID) { retries.removeValue(forKey: id)?.alarm?.cancel() }

    /// Calls off all tries.
    func endAll() {
        for retry in retries.values { retry.alarm?.cancel() }
        retries = [:]
    }
}
