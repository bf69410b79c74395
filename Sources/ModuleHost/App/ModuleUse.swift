import AppService

/// The last use of a lazy module that is unloaded when it is idle.
///
/// Belongs to the lane.
final class ModuleUse {
    private unowned let app: App
    /// The record, which has this object.
    unowned let record: ModuleRecord
    private var last: ContinuousClock.Instant
    private var alarm: (any Alarm)?

    init(of record: ModuleRecord, in app: App) {
        (self.record, self.app) = (record, app)
        last = app.time.now()
    }

    /// Notes a use: a call, or an event that would make the module.
    func note() { last = app.time.now() }

    /// Begins to watch: the module is used now.
    func begin() {
        note()
        watch()
    }

    /// Watches on, with the idle time that the entry has now.
    func watch() {
        let now = app.time.now()
        schedule(after: record.entry.idle.map { max(.zero, now.duration(to: last + $0)) })
    }

    func end() {
        alarm?.cancel()
        alarm = nil
    }

    private func schedule(after delay: Duration?) {
        alarm?.cancel()
        guard let delay, let host = app.host else { return }
        let slot = record.slot
        alarm = app.time.schedule(after: delay) { [weak host] in
            host?.onLane { app, thread in app.record(of: slot)?.use?.check(on: thread) }
        }
    }

    /// Unloads the module if it is idle, else checks again when it may be.
    private func check(on thread: LaneThread) {
        guard let idle = record.entry.idle, app.phase.isReady else { return }
        let left = app.time.now().duration(to: last + idle)
        guard left <= .zero else { return schedule(after: left) }
        // Restarted before the module is asked: in the answer it may lose the lane.
        begin()
        guard app.phase == .running, app.obstacle(toUnloading: record, isIdle: true) == nil,
            !isPendingInProcess(on: thread)
        else { return }
        app.unloadOnDemand(record, because: "idle for \(idle.briefText)")
    }
}

extension App {
    /// Watches the use of a module with an idle time, as its entry says now.
    func watchUse(of record: ModuleRecord) {
        guard record.entry.idle != nil else {
            record.use?.end()
            record.use = nil
            return
        }
        let use = record.use ?? ModuleUse(of: record, in: self)
        record.use = use
        use.watch()
    }
}

extension ModuleUse {
    /// Returns whether a Swift module has timers or work in a process of its own, or does not say so.
    private func isPendingInProcess(on thread: LaneThread) -> Bool {
        // The process of a failed one may have been given up.
        guard !record.isFailed, let isolated = record.isolated,
            case .entry = record.entry.implementation
        else { return false }
        let outcome = app.gate.call(record.slot, on: thread) { try isolated.askForPending() }
        if case .returned(nil) = outcome { return false }
        return true
    }
}
