import AppService

/// Modules that had failed, and fail again in the reload that restarts them: it takes effect without them.
extension ReloadTransaction {
    /// Notes that a module failed in a step, so that it is neither launched nor called.
    func leaveOut(_ record: ModuleRecord, _ step: String, _ error: any Error) {
        leaveOut(record, because: "\(step): \(error)", "\(step) failed", error)
    }

    /// Leaves out a module that needs a failed one.
    ///
    /// - Returns: Whether it does.
    func leavesOutNeeding(_ record: ModuleRecord) -> Bool {
        guard request.leavesOutFailed, !record.entry.needs.isEmpty,
            let error = app.failedNeed(
                of: record.entry, find: { stagedByID[$0] ?? app.record(of: $0) })
        else { return false }
        // A lazy one that was made for this is not part of the app then: it is made at the next attempt of this module.
        record.failedNeed = error.need
        leaveOut(record, because: "\(error)", "not launched", error)
        return true
    }

    private func leaveOut(
        _ record: ModuleRecord, because reason: String, _ what: String, _ error: any Error
    ) {
        guard !record.isFailed else { return }
        record.status = .failed(reason)
        app.gate.lane.fail(record.slot)
        host.startup.dispense(with: [record.id.text])
        app.log.of(module: record.id.text)
            .error("\(what); the app continues without it: \(error)")
    }

    /// Returns the module created for the reload that a start-up task belongs to; nil for another module's.
    func owner(ofTask name: String) -> ModuleRecord? {
        stagedByID[ModuleID(checked: String(name.prefix { $0 != "/" }))]
    }

    /// Keeps the failed modules that should have been replaced by others that failed, with the new reasons; lazy ones that
    /// failed stay unmade.
    func leaveOutFailed() {
        let failed = staged.filter(\.isFailed)
        guard !failed.isEmpty else { return }
        let modules = failed.map(\.id)
        takeOut(failed, recreating: modules)
        let isLeftOut = Set(modules)
        var kept: [ModuleID: ModuleRecord] = [:]
        for record in leaving where isLeftOut.contains(record.id) { kept[record.id] = record }
        for record in failed {
            kept[record.id]?.status = record.status
            kept[record.id]?.failedNeed = record.failedNeed
            if let record = kept[record.id] { app.onDemand.starts.end(record) }
        }
        plan.recreated.removeAll(where: isLeftOut.contains)
        plan.added.removeAll(where: isLeftOut.contains)
        staged.removeAll(where: \.isFailed)
        leaving.removeAll { isLeftOut.contains($0.id) }
        records = records.compactMap { isLeftOut.contains($0.id) ? kept[$0.id] : $0 }
        host.setStaged(staged.map(\.id))
    }
}
