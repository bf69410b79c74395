import AppService

/// The job by which a stop begins, when what was accepted before it is done or dropped.
struct StopJob: LaneJob {
    let begin: @Sendable (LaneThread) -> Void

    var limit: DeliveryLimit { .stop }

    func run(on thread: LaneThread, after slot: UInt16) { begin(thread) }
}

/// The stop of an app, from the decision to the end.
///
/// Belongs to the lane; ``HostStop`` is its part for other threads.
final class Shutdown {
    private unowned let app: App
    /// The modules that are yet to be released, since they were overdue; nil before any is released.
    private var unreleased: [ModuleRecord]?
    /// The origin of the stop.
    private(set) var origin = Origin.host

    init(of app: App) { self.app = app }

    /// Tells every module that was launched of the end, then lets them go.
    func begin(_ end: Host.End, origin: Origin) {
        self.origin = origin
        app.advance(.stop(end))
    }

    /// Ends all that could begin something new.
    func closeEntrances() {
        app.host?.startup.stop()
        app.inbox?.close()
        app.retries.endAll()
        for record in app.records {
            if case .launched = record.status { continue }
            app.gate.lane.unlist(record.slot)
        }
    }

    // MARK: Waiting for holds

    /// Puts a stop's job aside before `terminate` while a module holds `background`.
    ///
    /// - Returns: Whether it was: then it will be run again, once.
    func keeps(_ job: EventJob, before event: LifecycleEvent) -> Bool {
        event.kind == .terminate && isKept(job)
    }

    /// Unloads the modules once no module holds `terminate` or, received late, `background`.
    func releaseWhenNobodyHolds() {
        guard let host = app.host else { return }
        let again = LaneWork(limit: .stop) { [app = host.app] thread in
            app.open(on: thread).shutdown.releaseWhenNobodyHolds()
        }
        if !isKept(again) { release(in: host) }
    }

    private func isKept(_ job: some LaneJob) -> Bool {
        let open = app.holds.open
        guard app.holds.keep(job) else { return false }
        let names = open.map { "\($0.module) holds '\($0.step.rawValue)': \($0.reason)" }
        app.log.notice("the stop waits: \(names.joined(separator: "; "))")
        return true
    }

    // MARK: Letting go

    /// Lets the modules go, the last one first; those that are overdue when they return.
    private func release(in host: Host) {
        let left = unreleased ?? app.records
        unreleased = left.filter(app.isOverdue)
        for record in left.reversed() where !app.isOverdue(record) {
            let confined = LaneConfined(record)
            host.onLane(limit: .stop) { app, thread in
                app.shutdown.release(confined.open(on: thread), on: thread)
            }
        }
        host.onLane { app, _ in app.shutdown.endUnlessLate() }
    }

    private func release(_ record: ModuleRecord, on thread: LaneThread) {
        guard record.module != nil else { return }
        if app.isOverdue(record) {
            unreleased?.append(record)
            return
        }
        app.unloadingModules.takeOut(record)
        app.unloadingModules.release(of: record, on: thread)
    }

    /// Ends the app, unless there are modules to wait for as long as the stop may take.
    private func endUnlessLate() {
        guard case .releasing = app.phase else { return }
        let overdue = app.gate.lane.overdueSlots
        let awaited = overdue.filter { slot in !app.hangingInInit.contains { $0 === slot } }
        guard awaited.isEmpty else {
            let names = awaited.compactMap(\.id?.text).joined(separator: ", ")
            return app.log.warning("waiting for \(names)")
        }
        // It has yet to say how late it was, and comes back here then.
        guard !app.gate.lane.hasStalledThreads(besides: overdue) else { return }
        // One that was overdue may have taken a hold when it heard of the end.
        app.advance(app.holds.open.isEmpty ? .released : .notified)
    }

    func end(_ end: Host.End) {
        _ = app.state.apply(.ended)
        app.metrics.withLock { $0.state = app.state }
        app.host?.end(end)
    }
}

extension App {
    /// The lane has ended.
    ///
    /// What modules are left are held by their stuck threads alone from now on, and not by each
    /// other.
    func leaveBehind() {
        launch.cancelStarts()
        for record in records + unloadingModules.records + reloads.leaveBehind() {
            // One that is overdue is held by its own thread.
            if !isOverdue(record) {
                record.unloadingParts?.release()
                (record.module as? IsolatedModule)?.end()
            }
            record.module = nil
            record.context = nil
            record.unloadingParts = nil
            _ = center.takeAll(of: record.slot)
            _ = services.takeAll(of: record.slot)
        }
        holds.clear()
    }

    /// A thread that was stuck has returned.
    func returned() {
        hangingInInit.removeAll { !gate.lane.isOverdue($0) }
        reportHealth()
        unloadingModules.sendShutdownEvents()
        reloads.remakeOutdated()
        if case .releasing = phase { advance(.notified) }
    }
}
