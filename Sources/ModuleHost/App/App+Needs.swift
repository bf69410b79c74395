/// Modules that need others.
extension App {
    /// Notes which modules need which, until READY: a module that fails before keeps those from launching.
    func noteNeeds() { for record in records { noteNeeds(of: record) } }

    /// Notes which modules a module needs, as ``noteNeeds()``.
    func noteNeeds(of record: ModuleRecord) {
        for need in record.entry.needs { needing[need, default: []].append(record) }
    }

    /// Forgets what ``noteNeeds()`` has noted: every module has launched, or has failed.
    func forgetNeeds() { needing = [:] }

    /// Marks the modules that need a failed one, and that have not launched, as failed; and those that need them.
    func failNeeding(_ failed: ModuleRecord) {
        guard !needing.isEmpty, case .failed(let reason) = failed.status else { return }
        var reached = [failed]
        var index = 0
        while index < reached.count {
            let need = reached[index]
            index += 1
            let error = FailedNeed(
                need: need.id,
                reason: need === failed
                    ? "needs \(need.id), which failed: \(reason)"
                    : "needs \(need.id), which was not launched: \(failed.id) failed")
            for record in needing[need.id] ?? [] where record.isUnlaunched {
                fail(record, for: error)
                reached.append(record)
            }
        }
        if reached.count > 1 { reportHealth() }
    }

    /// Marks a module as failed since one that it needs has failed; the caller reports the health of the app.
    func fail(_ record: ModuleRecord, for error: FailedNeed) {
        record.failedNeed = error.need
        noteFailed(record, "\(error)")
        role.moduleFailed(record, in: "needs", error, of: self)
        noteInstead()
    }

    /// Returns the error of a module that cannot be created, since one that it needs has failed; nil for none.
    ///
    /// - Parameters:
    ///   - entry: The module's entry.
    ///   - find: Returns a module of the app, or of a reload in preparation.
    /// - Returns: The error.
    func failedNeed(
        of entry: Slatefile.Module, find: (ModuleID) -> ModuleRecord?
    ) -> FailedNeed? {
        for need in entry.needs {
            guard let record = find(need), case .failed(let reason) = record.status else {
                continue
            }
            // Not its whole reason, which names the module that this one needs, and so on.
            let what =
                record.failedNeed.map { "was not launched: it needs \($0)" } ?? "failed: \(reason)"
            return FailedNeed(need: need, reason: "needs \(need), which \(what)")
        }
        return nil
    }
}

extension ModuleRecord {
    /// Whether the module is yet to be created, or to receive `launch`.
    fileprivate var isUnlaunched: Bool {
        switch status {
        case .waiting, .made: true
        case .launched, .failed, .released: false
        }
    }
}

/// The error of a module that is not launched since one that it needs has failed.
struct FailedNeed: Error, CustomStringConvertible {
    /// The module that it needs.
    let need: ModuleID
    let reason: String

    var description: String { reason }
}
