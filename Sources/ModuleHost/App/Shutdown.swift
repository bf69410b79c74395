import AppService

/// The job that begins a stop, when everything accepted before it is done or dropped.
final class StopJob: LaneJob {
    private let begin: @Sendable (LaneThread) -> Void

    init(_ begin: @escaping @Sendable (LaneThread) -> Void) { self.begin = begin }

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

    /// Sends the shutdown events to every launched module, then releases the modules.
    func begin(_ end: AppHost.End, origin: Origin) {
        self.origin = origin
        app.advance(.stop(end))
    }

    /// Ends everything that could begin new work.
    func closeEntrances() {
        app.host?.startup.stop()
        app.inbox?.close()
        app.retries.endAll()
        for record in app.records {
            if record.isLaunched { continue }
            app.gate.lane.unlist(record.slot)
        }
    }

    // MARK: Waiting for holds

    /// Unloads the modules once no module has a hold on `terminate` or, for an event received late, on
    /// `background`.
    func releaseWhenNobodyHolds() {
        guard let host = app.host else { return }
        for record in app.records { app.cancelRun(of: record) }
        let again = LaneWork(limit: .stop) { [app = host.app] thread in
            app.open(on: thread).shutdown.releaseWhenNobodyHolds()
        }
        if !keeps(again) { release(in: host) }
    }

    /// Keeps a job of a stop, before `terminate` or before modules are unloaded, while a module has a hold.
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
        guard record.module != nil else { return }
        if app.isOverdue(record) {
            unreleased?.append(record)
            return
        }
        app.unloadingModules.takeOut([record])
        app.unloadingModules.release(of: record, on: thread)
    }

    /// Ends the app, unless there are modules to wait for as long as the stop may take.
    private func endUnlessOverdue() {
        guard case .releasing = app.phase else { return }
        let overdue = app.gate.lane.overdueSlots
        let awaited = overdue.filter { slot in !app.hangingInInit.contains { $0 === slot } }
        guard awaited.isEmpty else {
            let names = awaited.compactMap(\.id?.text).joined(separator: ", ")
            return app.log.warning("waiting for \(names)")
        }
        // The thread has yet to report how late it was, and this is called again then.
        guard !app.gate.lane.hasStalledThreads(besides: overdue) else { return }
        // A module that was overdue may have taken a hold when it received the shutdown events.
        app.advance(app.holds.open.isEmpty ? .released : .notified)
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
        launch.cancelStarts()
        for record in records + unloadingModules.records + reloads.leaveBehind() {
            record.run?.cancel()
            // An overdue module is kept alive by its own thread.
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

    /// Handles the return of a thread that was stuck.
    func returned() {
        hangingInInit.removeAll { !gate.lane.isOverdue($0) }
        reportHealth()
        unloadingModules.sendShutdownEvents()
        reloads.remakeOutdated()
        retries.restart()
        if case .releasing = phase { advance(.notified) }
    }
}
