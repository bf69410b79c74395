import AppService

/// The stop of an app, from the decision to the end.
///
/// Belongs to the lane; ``HostStop`` is its part for other threads.
final class Shutdown {
    unowned let app: App
    /// The modules that are yet to be released, since they were overdue; nil before any is released.
    private var unreleased: [ModuleRecord]?
    /// Whether the stop waits no longer for modules that were unresponsive when it was requested.
    private var hasWaited = false
    /// Whether these modules were logged.
    private var hasNamed = false
    /// The names that were logged last as those of the modules that the stop waits for.
    private var waitedFor = ""
    /// Whether it waits for answers to what was accepted before it.
    var isWaiting = false
    /// The origin of the stop.
    var origin = Origin.host

    init(of app: App) { self.app = app }

    /// Ends everything that could begin new work.
    func closeEntrances() {
        app.host?.startup.stop()
        app.launch.cancelStarts()
        app.onDemand.starts.endAll()
        app.attempts.endAll()
        for record in app.records {
            if record.isLaunched { continue }
            app.gate.lane.unlist(record.slot)
        }
    }

    // MARK: Waiting for holds

    /// Unloads the modules once no module has a hold on `terminate` or, for an event received late, on
    /// `background`.
    func releaseWhenNobodyHolds(in host: AppHost) {
        let again = LaneWork(limit: .stop) { [app = host.app] thread in
            app.open(on: thread).shutdown.releaseWhenAnswered()
        }
        guard !keeps(again) else { return }
        // While they are listed: what a module has not answered is left to the next host.
        app.settle(app.gate.lane.openSlots, limit: .stop) { $0.shutdown.release(in: host) }
    }

    /// Keeps a job of a stop while a module has a hold.
    ///
    /// - Returns: Whether it is kept: then it will be run again, once.
    func keeps(_ job: some LaneJob) -> Bool {
        let open = app.holds.open
        guard app.holds.keep(job) else { return false }
        let names = open.map { "\($0.module) holds '\($0.step.rawValue)': \($0.reason)" }
        app.log.notice("the stop waits: \(names.joined(separator: "; "))")
        return true
    }

    // MARK: Unloading

    /// Releases the modules, the last one first; overdue modules when they return.
    private func release(in host: AppHost) {
        let left = unreleased ?? app.records
        unreleased = left.filter(app.isOverdue)
        for record in left.reversed() where !app.isOverdue(record) {
            let confined = LaneConfined(record)
            host.onLane(limit: .stop) { app, thread in
                app.shutdown.release(confined.open(on: thread), on: thread)
            }
        }
        host.onLane { app, _ in app.shutdown.endUnlessOverdue() }
    }

    private func release(_ record: ModuleRecord, on thread: LaneThread) {
        guard record.module != nil || record.starting != nil else { return }
        if app.isOverdue(record) {
            unreleased?.append(record)
            return
        }
        app.unloadingModules.takeOut([record])
        app.unloadingModules.release(of: record, on: thread)
    }

    /// Ends the app, unless there are modules to wait for as long as the stop may take.
    func endUnlessOverdue() {
        guard case .releasing(let end) = app.phase, let host = app.host else { return }
        let haveProcessesEnded = host.endProcesses()
        let overdue = app.gate.lane.overdueSlots
        guard !waitsForModules() else { return }
        // One that was overdue and is not any more is yet to be released: see ``App/returned()``.
        guard (unreleased ?? []).allSatisfy(app.isOverdue) else { return }
        // The thread has yet to report how late it was, and this is called again then.
        guard !app.gate.lane.hasStalledThreads(besides: overdue) else { return }
        // A module that was overdue may have taken a hold when it received the shutdown events.
        guard app.holds.open.isEmpty else { return app.advance(.notified) }
        guard haveProcessesEnded else { return }
        let unfinished = host.stopping.unfinished
        if case .stopped = end, !unfinished.isEmpty { return self.end(.overdue(unfinished)) }
        app.advance(.released)
    }

    /// Waits no longer for the modules that were unresponsive when the stop was requested.
    func stopWaiting() {
        hasWaited = true
        endUnlessOverdue()
    }

    /// Returns whether the stop waits for overdue modules, and logs them.
    ///
    /// Not for a module that never returned from its `init`, nor for one that is no longer part of the app. Modules that
    /// were unresponsive when the stop was requested are waited for once and together.
    private func waitsForModules() -> Bool {
        let overdue = app.records.filter { app.isOverdue($0) && !$0.hasNeverRun }.map(\.slot)
        let before = app.host?.stopping.current?.unresponsive ?? []
        let late = overdue.filter { slot in !before.contains { $0 === slot } }
        nameUnresponsive(overdue.filter { slot in before.contains { $0 === slot } })
        let names = late.compactMap(\.id?.text).joined(separator: ", ")
        if !late.isEmpty, names != waitedFor { app.log.warning("waiting for \(names)") }
        waitedFor = names
        return !(hasWaited ? late : overdue).isEmpty
    }

    /// Logs the modules that were unresponsive when the stop was requested, once.
    private func nameUnresponsive(_ slots: [ModuleSlot]) {
        guard !slots.isEmpty, !hasNamed, let host = app.host else { return }
        hasNamed = true
        let names = slots.compactMap(\.id?.text).joined(separator: ", ")
        let wait =
            hasWaited
            ? "the stop does not wait longer"
            : "the stop waits \(host.patienceInStop.briefText) at most"
        app.log.warning(
            "unresponsive since before the stop: \(names); \(wait), and the next host delivers "
                + "the events of the inbox that are left")
    }

    func end(_ end: AppHost.End) {
        _ = app.state.apply(.ended)
        app.metrics.withLock { $0.state = app.state }
        app.host?.end(end)
    }
}

extension App {
    /// Disconnects the modules when the lane has ended.
    ///
    /// Remaining modules are kept alive by their stuck threads alone from now on, and not by each other.
    func leaveBehind() {
        dropAnswerWaiters()
        launch.cancelStarts()
        onDemand.starts.leaveBehind()
        for record in records + unloadingModules.records + reloads.leaveBehind() {
            record.run?.cancel()
            // An overdue module is kept alive by its own thread.
            if !isOverdue(record) {
                record.unloadingParts?.release()
                record.context?.invalidate()  // Its work would go on in an embedding program.
                record.isolated?.end()
            }
            (record.module, record.isolated, record.context) = (nil, nil, nil)
            (record.taker, record.unloadingParts) = (nil, nil)
            _ = center.takeAll(of: record.slot)
            _ = services.takeAll(of: record.slot)
        }
        holds.clear()
    }

    /// Handles the return of a thread that was stuck.
    func returned() {
        reportHealth()
        unloadingModules.sendShutdownEvents()
        reloads.remakeOutdated()
        attempts.settle()
        if case .releasing = phase { advance(.notified) }
    }
}
