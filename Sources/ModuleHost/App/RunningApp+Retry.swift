import AppService

/// The next try to restart a module that has failed in `init` or `launch`.
struct ModuleRetry {
    fileprivate var policy: RestartPolicy
    fileprivate var alarm: (any Alarm)?
    /// The instant at which it begins; nil once it has begun.
    fileprivate(set) var start: ContinuousClock.Instant?

    func cancel() { alarm?.cancel() }
}

extension RunningApp {
    /// Schedules another try for a module that has failed, where its entry asks for that.
    ///
    /// The delays are those between the processes of a module. What a module needs to start may be missing for
    /// any time, so that it is never given up.
    func scheduleRetry(of record: ModuleRecord) {
        retries[record.id]?.cancel()
        guard let host, host.parent == nil, ending == nil, record.isFailed,
            record.entry.isRetried, !record.entry.isRequired
        else {
            retries[record.id] = nil
            return
        }
        var limits = host.processes.restarts
        limits.intensity = .max
        var retry = retries[record.id] ?? ModuleRetry(policy: RestartPolicy(limits))
        let now = time.now()
        let verdict = retry.policy.died(startedAt: now, at: now, chance: .random(in: 0...1))
        guard case .restart(let delay) = verdict else { return }
        retry.start = now + delay
        log.of(module: record.id.text).notice("restarted in \(delay.briefText)")
        retry.alarm = time.schedule(after: delay) { [weak host, id = record.id] in
            host?.onLane { app, _ in app.retry(id) }
        }
        retries[record.id] = retry
    }

    /// Restarts a failed module as `hostd restart` does, and schedules another try where that fails.
    private func retry(_ id: ModuleID) {
        guard let host, let calls, ending == nil, retries[id] != nil,
            records.contains(where: { $0.id == id && $0.isFailed })
        else { return }
        retries[id]?.start = nil
        let answer = Answer<ReloadOutcome> { [weak host] _ in
            host?.onLane { app, _ in app.retried(id) }
        }
        reload(
            ReloadRequest(
                slatefile: slatefile, tokens: calls.tokens, origin: .host, tellsUnchanged: false,
                remaking: [id], isOfCurrent: true, answer: answer),
            in: host)
    }

    private func retried(_ id: ModuleID) {
        guard let record = records.first(where: { $0.id == id && $0.isFailed }) else {
            return endRetry(of: id)
        }
        scheduleRetry(of: record)
    }

    /// Calls off the tries for a module that runs, or leaves.
    func endRetry(of id: ModuleID) { retries.removeValue(forKey: id)?.cancel() }
}
