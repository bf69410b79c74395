/// Modules that need others.
extension App {
    /// Lets the modules fail that need a failed one, and have not launched before READY; and those that need them.
    func failNeeding(_ failed: ModuleRecord) {
        guard phase.isBeforeReady, let reason = failed.failure?.reason else { return }
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
            for id in onDemand.dependents[need.id] ?? [] {
                guard let record = record(of: id), record.isUnlaunched else { continue }
                fail(record, for: error)
                reached.append(record)
            }
        }
        if reached.count > 1 { reportHealth() }
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
            let record = find(need)
            if let record, record.isToEnd {
                let limit =
                    record.isLate ? " within \(record.endLimit(in: slatefile).briefText)" : ""
                return FailedNeed(need: need, reason: "needs \(need), which has not ended\(limit)")
            }
            guard let failure = record?.failure else { continue }
            // Not its whole reason, which names the module that this one needs, and so on.
            let what =
                failure.need.map { "was not launched: it needs \($0)" }
                ?? "failed: \(failure.reason)"
            return FailedNeed(need: need, reason: "needs \(need), which \(what)")
        }
        return nil
    }
}

/// The error of a module that is not launched since one that it needs has failed.
struct FailedNeed: Error, CustomStringConvertible {
    /// The module that it needs.
    let need: ModuleID
    let reason: String

    var description: String { reason }
}
