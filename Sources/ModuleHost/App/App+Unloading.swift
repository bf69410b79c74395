import AppService

/// Unloading lazy modules that are made, while the app runs.
extension App {
    /// Returns the reason why a module cannot be unloaded now; nil where it can.
    ///
    /// - Parameters:
    ///   - record: The module, which is lazy.
    ///   - isIdle: Whether it is to be unloaded since it is not used: then it must hold nothing either.
    /// - Returns: What keeps it, for a sentence that begins with its id.
    func obstacle(toUnloading record: ModuleRecord, isIdle: Bool) -> String? {
        if isOverdue(record) { return "is unresponsive" }
        // On demand it is unloaded when it has answered.
        let hasRest =
            gate.lane.isCatchingUp(record.slot) && (isIdle || !gate.lane.isOpen(record.slot))
        if hasRest || gate.lane.waiting(for: record.slot) != nil || inbox?.isCatchingUp == true {
            return "has yet to receive events"
        }
        let dependents = onDemand.dependents[record.id] ?? []
        let other = dependents.first { id in
            self.record(of: id).map { !$0.isFailed && $0.life != .done } == true
        }
        if let other {
            return "is needed by \(other), which runs"
        }
        guard isIdle else { return nil }
        if holds.open.contains(where: { $0.module == record.id }) { return "has a hold" }
        if record.isolated?.process.calls.withLock(\.count) ?? 0 > 0 {
            return "has calls to answer"
        }
        if services.isUsed(of: record.slot) { return "provides a service that was asked for" }
        return record.context?.pending
    }

    /// Unloads a lazy module: it receives the shutdown events, and is made again when it is needed.
    ///
    /// While the app runs, and no reload is in progress.
    ///
    /// - Parameters:
    ///   - record: The module.
    ///   - reason: The reason, for the log.
    ///   - last: Called when it is unloaded.
    func unloadOnDemand(
        _ record: ModuleRecord, because reason: String,
        then last: (@Sendable (App) -> Void)? = nil
    ) {
        guard let index = index(of: record), let calls, let host else { return }
        log.of(module: record.id.text).notice("unloaded: \(reason)")
        onDemand.starts.end(record)
        onDemand.noteUnmade(record)
        records.remove(at: index)
        takeDown(record, from: calls, leaving: record.entry.placeholderRoutes)
        reportHealth()
        noteInstead()
        unloadingModules.sendShutdownEvents(to: [record], in: host, then: last)
    }

    /// Takes a module out of the state of the lane, as one that is to be unloaded.
    ///
    /// - Parameters:
    ///   - record: The module.
    ///   - calls: The dispatcher with its routes.
    ///   - routes: The routes that stay, to make the module again.
    func takeDown(_ record: ModuleRecord, from calls: CallDispatcher, leaving routes: [AnyRoute]) {
        record.use?.end()
        let own = calls.unbind(record.id, leaving: routes)
        unloadingModules.takeOut([record], routes: [record.slot.number: own])
        unloadingModules.unload([record])
    }
}

extension ModuleContext {
    /// The reason why the module is not idle, in words; nil where it waits for nothing.
    ///
    /// On the lane, while the module is not overdue.
    var pending: String? {
        if hasTimers { return "has a timer" }
        return hasPendingWork ? "has work in flight" : nil
    }
}
