import Synchronization

/// The lives of the modules: what follows a change of one.
extension App {
    /// Changes the life of a module, and carries out what follows.
    ///
    /// The only caller of ``ModuleRecord/apply(_:)``.
    func apply(_ change: ModuleLife.Change, to record: ModuleRecord) {
        let (wasFailed, wasLaunched) = (record.isFailed, record.isLaunched)
        let former = record.life
        let effects = record.apply(change)
        note(record, after: former)
        reviewWaits()
        // Those that are made for a reload count once it takes effect.
        if !record.slot.isStaged.load(ordering: .relaxed) {
            if wasFailed != record.isFailed { noteFailed(record) }
            if (former == .done) != (record.life == .done) {
                metrics.withLock { $0.modulesDone += former == .done ? -1 : 1 }
            }
            if wasLaunched != record.isLaunched {
                metrics.withLock { $0.modulesRunning += wasLaunched ? -1 : 1 }
            }
        }
        for effect in effects {
            switch effect {
            case .end:
                gate.lane.fail(record.slot)
                leaveOpenEvents(of: [record.slot])
                onDemand.starts.isLevel(record.id)
                onDemand.starts.releaseWaiting(for: record.id)
                record.run?.cancel()
            case .forget: gate.lane.forget(record.slot)
            case .run:
                beginRun(of: record)
                attempts.noteRunning(record)
            }
        }
    }

    /// Notes that a module has failed, or that one which had failed has not any more.
    private func noteFailed(_ record: ModuleRecord) {
        if record.isFailed {
            failed.insert(record)
        } else {
            failed.remove(record)
        }
        metrics.withLock { $0.take(failed.ids, since: failed.since) }
    }

    /// Counts the modules again: a reload has exchanged them.
    func recount() {
        failed = FailedModules(among: records)
        let running = records.count(where: \.isLaunched)
        let done = records.count { $0.life == .done }
        metrics.withLock { metrics in
            metrics.take(failed.ids, since: failed.since)
            metrics.modulesRunning = running
            metrics.modulesDone = done
        }
    }

    /// Lets a module fail: it receives nothing more.
    ///
    /// A required module ends the app; before READY, those that need it and have not launched fail with it; and a lazy
    /// one, or one whose entry says so, is tried again.
    ///
    /// - Parameters:
    ///   - record: The module.
    ///   - step: The step in which it failed.
    ///   - error: The error.
    func markFailed(_ record: ModuleRecord, _ step: String, _ error: any Error) {
        guard !record.isFailed else { return }
        // A process that is no longer restarted was restarted often enough.
        let failure = ModuleFailure(reason: "\(step): \(error)", isFinal: step == "process")
        apply(.fail(failure), to: record)
        reportHealth()
        reportFailed(record, in: step, error)
        failNeeding(record)
    }

    /// Lets a module fail since one that it needs has failed; the caller reports the health of the app.
    func fail(_ record: ModuleRecord, for error: FailedNeed) {
        apply(.fail(ModuleFailure(reason: "\(error)", need: error.need)), to: record)
        reportFailed(record, in: "needs", error)
    }

    private func reportFailed(_ record: ModuleRecord, in step: String, _ error: any Error) {
        role.moduleFailed(record, in: step, error, of: self)
        attempts.schedule(record)
        noteInstead()
    }
}
