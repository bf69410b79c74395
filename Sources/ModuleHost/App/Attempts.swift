import AppService

/// The attempts to bring failed modules up again: those whose entries request that, lazy ones, and those whose needs had
/// failed and run again.
///
/// An attempt takes the failed instance down and puts a place there, which is brought up as for the first use of a lazy
/// module; until it has launched, the module is a failed one. What could make an attempt possible lists ``settle()``: a
/// caller does not ask for one. Belongs to the lane.
final class Attempts {
    /// The next attempt for one module that has failed itself.
    private struct Attempt {
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
    private var attempts: [ModuleID: Attempt] = [:]
    /// The alarm for the attempt that is due first, with its instant.
    private var alarm: (start: ContinuousClock.Instant, alarm: any Alarm)?
    /// Whether the lane has a job that settles.
    private var isListed = false

    init(of app: App) { self.app = app }

    /// Returns the instant of the next attempt for a module; nil if none is scheduled.
    func start(of id: ModuleID) -> ContinuousClock.Instant? { attempts[id]?.start }

    /// Returns whether a module that has failed itself is tried again, now or later.
    func includes(_ id: ModuleID) -> Bool { attempts[id] != nil }

    /// Schedules an attempt for a module that has failed itself, where its entry requests that; calls it off for any other.
    ///
    /// The delays are those between the processes of a module. The requirements of a module may be missing
    /// for any time, so the attempts never end.
    func schedule(_ record: ModuleRecord) {
        guard let host = app.host, !app.phase.isEnding, let failure = record.failure,
            failure.need == nil, !failure.isFinal, !record.entry.isRequired,
            record.entry.isRetried || record.entry.isLazy
        else {
            attempts[record.id] = nil
            return
        }
        var limits = host.processes.restarts
        limits.intensity = .max
        var attempt = attempts[record.id] ?? Attempt(policy: RestartPolicy(limits))
        let now = app.time.now()
        let verdict = attempt.policy.died(
            startedAt: attempt.running ?? now, at: now, chance: .random(in: 0...1))
        guard case .restart(let delay) = verdict else { return }
        let start = now + delay
        (attempt.start, attempt.slack, attempt.running) = (start, delay / 10, nil)
        attempts[record.id] = attempt
        setAlarm(for: start)
        app.ring?.add(.restarting(in: delay), of: record.id)
        app.log.of(module: record.id.text).notice("restarting in \(delay.briefText)")
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
                app.attempts.alarm = nil
                app.attempts.settleNow()
            }
        }
        alarm = (start, next)
        // The clock may have moved on before the alarm was set.
        if start <= app.time.now() { settle() }
    }

    /// Notes that a module runs: those that have failed for want of it are next.
    func noteRunning(_ record: ModuleRecord) {
        if var attempt = attempts[record.id] {
            (attempt.start, attempt.running) = (nil, app.time.now())
            attempts[record.id] = attempt
        }
        settle(needing: record.id)
    }

    /// Notes that an instance is released: the next one can be made, and what needs it brought up.
    func noteReleased(_ record: ModuleRecord) {
        if let start = app.onDemand.starts[record.id], !start.record.entry.hasProcess { settle() }
        settle(needing: record.id)
    }

    /// Looks for what can be brought up since a module runs, or can be made again.
    private func settle(needing id: ModuleID) {
        if app.onDemand.dependents[id] != nil { settle() }
    }

    /// Looks for what can be brought up, in a job of its own.
    func settle() {
        guard !isListed, !app.failed.ids.isEmpty, let host = app.host else { return }
        isListed = true
        host.onLane { app, _ in
            app.attempts.isListed = false
            app.attempts.settleNow()
        }
    }

    /// Begins the attempts that are due, and those of modules whose needs run again or can be made.
    ///
    /// The latter have not failed themselves, so it does not matter what their entries say about attempts. Lazy modules that
    /// nothing waits for are unloaded: their next use is the attempt.
    private func settleNow() {
        // Reloads that callers asked for have their turn first; the end of each looks for attempts.
        guard let host = app.host, app.phase == .running, !app.reloads.hasWaiting, !host.isStopping
        else { return }
        let now = app.time.now()
        // Where an instance hangs, another one would hang beside it.
        let stuck = Set(app.unloadingModules.records.filter(app.isOverdue).map(\.id))
        var next: ContinuousClock.Instant?
        var begun: [LazyStarts.Start] = []
        var failed: [ModuleRecord] = []
        for record in app.failed.ids.compactMap(app.record(of:)) {
            guard !app.isOverdue(record), isFree(record, of: stuck) else { continue }
            if let start = app.onDemand.starts[record.id] {
                // Where the lane was lost in a lazy need of it, nothing else goes on with it.
                app.onDemand.starts.resume(start, in: host)
                continue
            }
            if record.failure?.need == nil {
                guard attempts[record.id]?.isDue(at: now) == true else {
                    next = [next, start(of: record.id)].compactMap(\.self).min()
                    continue
                }
                attempts[record.id]?.start = nil
            }
            if let error = failedNeed(of: record) {
                if record.failure?.need == nil { wait(record, for: error) }
            } else if record.isOnDemand, !isAwaited(record),
                app.obstacle(toUnloading: record, isIdle: false) == nil
            {
                app.unloadOnDemand(record, because: "made again when it is needed")
            } else if let start = app.begin(attemptFor: record, in: host) {
                begun.append(start)
                if start.record.entry.hasProcess { failed.append(record) }
            } else {
                schedule(record)
            }
        }
        if let next { setAlarm(for: next) }
        guard !begun.isEmpty else { return }
        // Behind the release of the failed instances; processes may take some time for their ends.
        let swift = LaneConfined(begun.filter { !$0.record.entry.hasProcess })
        host.onLane { app, thread in
            app.onDemand.starts.attempt(swift.open(on: thread), in: host)
        }
        let programs = begun.filter(\.record.entry.hasProcess)
        app.unloadingModules.whenReleased(failed) { app in
            app.onDemand.starts.attempt(programs, in: host)
        }
    }

    /// Returns whether no instance hangs of a module, or of a lazy one that would be made for it.
    private func isFree(_ record: ModuleRecord, of stuck: Set<ModuleID>) -> Bool {
        stuck.isEmpty
            || !stuck.contains(record.id)
                && stuck.isDisjoint(with: app.onDemand.unmadeNeeds(of: [record.entry]))
    }

    /// Returns whether a failed module waits for a failed one, which is lazy.
    private func isAwaited(_ record: ModuleRecord) -> Bool {
        app.onDemand.dependents[record.id]?.contains { app.record(of: $0)?.isFailed == true }
            == true
    }

    /// Returns the error of a module that needs a failed one, or a lazy one that would be made for it and needs a failed one.
    ///
    /// Nil for a module whose need is tried now since its own need runs again: it comes behind that. A need that has failed
    /// itself may do so again.
    private func failedNeed(of record: ModuleRecord) -> FailedNeed? {
        func find(_ id: ModuleID) -> ModuleRecord? {
            let isNext = app.onDemand.starts[id]?.record.failure?.need != nil
            return isNext ? nil : app.record(of: id)
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

    /// Makes a module wait for a failed one that it needs: its turn comes when that runs.
    func wait(_ record: ModuleRecord, for error: FailedNeed) {
        attempts[record.id] = nil
        app.apply(.fail(ModuleFailure(reason: "\(error)", need: error.need)), to: record)
    }

    /// Ends the attempts in progress for modules that a reload replaces or removes; they are due again at its end.
    func interrupt(_ records: [ModuleRecord]) {
        for record in records where record.isFailed {
            guard app.onDemand.starts[record.id]?.record === record else { continue }
            app.onDemand.starts.end(record)
            attempts[record.id]?.start = app.time.now()
        }
    }

    /// Cancels the attempts for a module that is replaced or removed.
    func end(of id: ModuleID) { attempts[id] = nil }

    /// Forgets the modules that a slatefile does not have.
    func endOthers(than modules: some Sequence<ModuleID>) {
        guard !attempts.isEmpty else { return }
        let kept = Set(modules)
        attempts = attempts.filter { kept.contains($0.key) }
    }

    /// Cancels all attempts.
    func endAll() {
        alarm?.alarm.cancel()
        (alarm, attempts) = (nil, [:])
    }
}
