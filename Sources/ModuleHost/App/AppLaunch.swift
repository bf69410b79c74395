import AppService

/// The launch of an app: from the slatefile to READY, in steps that are each a job of the lane.
///
/// Belongs to the lane.
final class AppLaunch {
    unowned let app: App
    /// The starts of processes for modules that are yet to be created; nil once all are.
    private var starts: ProcessStarts?
    /// The modules that are brought up by themselves, in order; without those that need not be awaited any more.
    var later: ArraySlice<ModuleRecord> = []
    private var laterSlots: Set<UInt16> = []
    /// The program that the creation of the next one waits for.
    var awaited: ModuleID?
    /// The calls of modules that wait until each module is created.
    private var calls: [any LaneJob] = []
    /// The jobs from outside that wait for READY.
    private var held: [any LaneJob] = []
    private var began: ContinuousClock.Instant
    /// The root, once the main module has supplied it.
    var root: LifecycleEvent?
    /// The interceptor that has refused the root, since it did not respond.
    var rootGuard: ModuleID?

    init(of app: App) {
        self.app = app
        began = app.time.now()
    }

    func hold(_ job: any LaneJob) { held.append(job) }

    /// Drops the jobs that wait for READY, because of a stop before it.
    func dropHeld() {
        guard !held.isEmpty else { return }
        app.log.warning("\(held.count) events came before READY and are not delivered")
        app.metrics.withLock { $0.ignored += held.count }
        held = []
    }

    /// Ends processes that no module has taken.
    func cancelStarts() {
        starts?.cancel()
        starts = nil
        app.gate.lane.prepend(calls)
        calls = []
    }

    /// Keeps a call of a module until each module is created.
    ///
    /// - Returns: Whether it is kept.
    func keeps(_ call: any LaneJob) -> Bool {
        guard starts != nil else { return false }
        calls.append(call)
        return true
    }

    // MARK: Steps

    /// Creates every module, in order; then runs the start-up tasks that cannot wait.
    func makeModules() {
        guard let host = app.host else { return }
        began = app.time.now()
        app.launchTimes.begin(at: began)
        let isMade = app.slatefile.madeAtLaunch
        var rank = 0
        for entry in app.slatefile.modules where entry.isEnabled {
            rank += 1
            guard isMade[rank - 1] else { continue }
            let slot = ModuleSlot(
                number: UInt16(rank), id: entry.id, limits: ModuleSlot.Limits(of: entry))
            app.records.append(ModuleRecord(entry: entry, slot: slot))
        }
        app.onDemand.take(DemandTable(of: app.slatefile), made: app.records)
        app.reportHealth()
        do {
            app.calls = try app.dispatcher(
                for: app.slatefile, app.records, tokens: host.tokens, routes: [:])
            app.calls?.parent = app.role.upstream
        } catch {
            return host.fail("invalid routes: \(error)")
        }
        later = app.records.broughtUpLater { _ in nil }[...]
        laterSlots = Set(later.map(\.slot.number))
        let first = app.records.filter { !laterSlots.contains($0.slot.number) }
        starts = app.processStarts(of: first) { context(of: $0, in: host) }
        starts?.begin()
        for record in app.records { app.gate.lane.register(record.slot) }
        make(app.records[...], in: host)
    }

    /// Lists the creation of modules, up to one whose process has yet to declare itself: the lane does not wait for that.
    ///
    /// Not by index: a lazy module that another one makes meanwhile has a place before others.
    private func make(_ records: ArraySlice<ModuleRecord>, in host: AppHost) {
        // A required module may have failed: the processes of the others are ended unseen.
        var rest = app.phase == .making && !host.isStopping ? records : []
        while let record = rest.first {
            if record.isFailed {
                // For want of a module that it needs: the launch does not wait for its process.
                starts?[record.id]?.cancel()
                rest.removeFirst()
                continue
            }
            if laterSlots.contains(record.slot.number) {
                rest.removeFirst()
                let confined = LaneConfined(record)
                host.onLane { app, thread in
                    app.bringUpLater(confined.open(on: thread), in: host)
                }
                continue
            }
            if let starts, starts.isPending(record.id) {
                let isNext = rest.startIndex == records.startIndex
                let rest = LaneConfined(rest)
                let goOn: @Sendable () -> Void = {
                    host.onLane { app, thread in
                        app.launch.make(rest.open(on: thread), in: host)
                    }
                }
                // Not before the others are made: its output is shown from then on.
                return isNext ? starts.whenDone(record.id, goOn) : goOn()
            }
            rest.removeFirst()
            let confined = LaneConfined(record)
            host.onLane(limit: .launch) { app, thread in
                app.launch.make(confined.open(on: thread), in: host, on: thread)
            }
        }
        host.onLane { app, _ in app.launch.awaitLater(in: host) }
    }

    private func make(_ record: ModuleRecord, in host: AppHost, on thread: LaneThread) {
        // A module that it needs may have failed.
        guard app.phase == .making, !host.isStopping, !record.isFailed else { return }
        let start = starts?[record.id]
        guard let context = start?.context.open(on: thread) ?? context(of: record, in: host)
        else { return }
        let times = app.launchTimes
        times.begins(
            start == nil ? .module : .process, record.id, from: start?.times.begun,
            at: app.time.now())
        app.make(record, with: context, start, on: thread) { error in
            times.ends(record.id, hasFailed: true, at: start?.times.done ?? app.time.now())
            app.markFailed(record, "init", error)
            app.release(of: record.slot)
        }
        times.ends(record.id, at: start?.times.done ?? app.time.now())
    }

    private func context(of record: ModuleRecord, in host: AppHost) -> ModuleContext? {
        app.calls.map { calls in
            app.context(
                of: record, appConfig: app.slatefile.config, calls: calls,
                host: HostServices(of: host))
        }
    }

    func runStartupTasks(in host: AppHost) {
        guard app.phase == .making, !host.isStopping else { return }
        app.launchTimes.mark(.created, at: app.time.now())
        do throws(StartupError) {
            try host.startup.admit(.high)
        } catch {
            return host.fail("invalid start-up tasks: \(error)")
        }
        host.startup.whenDone(.high) {
            host.onLane(limit: .launch) { app, _ in app.advance(.startedUp) }
        }
    }

    func deliverLaunch() {
        app.launchTimes.mark(.tasksDone, at: app.time.now())
        try? app.host?.startup.admit(.default)
        app.deliverNow(
            .own(.launch(Launch(origin: .host, app: app.slatefile.app))), limit: .launch)
    }

    func openRoot() {
        guard let host = app.host else { return }
        app.launchTimes.mark(.launched, at: app.time.now())
        _ = app.state.apply(.launched)
        app.metrics.withLock { $0.state = app.state }
        host.onLane(limit: .launch) { app, thread in app.launch.askForRoot(on: thread) }
        // A job of its own: a root that takes too long does not delay `activate` for the modules.
        host.onLane { app, _ in app.deliverNow(.ownChange(.activate, origin: .host)) }
    }

    func becomeReady() {
        guard let host = app.host else { return }
        let now = app.time.now()
        app.launchTimes.mark(.ready, at: now)
        let after = began.duration(to: now)
        app.metrics.withLock { $0.readyAfter = after }
        for record in app.records {
            record.use?.note()
            app.watchUse(of: record)
        }
        app.reportHealth()
        // Programs that end are not awaited.
        let awaited = app.records.filter { !$0.entry.ends }
        let (running, total) = (awaited.count(where: \.isLaunched), awaited.count)
        let count = running == total ? "\(total)" : "\(running) of \(total)"
        let others = app.onDemand.unmadeCount
        app.log.write(
            .notice,
            "ready: \(count) \(total == 1 ? "module" : "modules")"
                + (others > 0 ? ", \(others) on demand" : ""), duration: after)
        host.observer.onReady(running, total, after)
        app.gate.lane.prepend(held)
        held = []
    }

    /// Opens the inbox once each module for which events have waited since an earlier host is made: it has a position only
    /// then.
    private func open(_ inbox: Inbox, for host: AppHost) {
        let behind = app.onDemand.unmadeCount == 0 ? [] : Array(inbox.origin.modules.keys)
        guard !behind.isEmpty else { return inbox.open(for: host, app.records.map(\.slot)) }
        openInbox(inbox, for: host, behind: behind)
    }

    private func openInbox(_ inbox: Inbox, for host: AppHost, behind modules: [ModuleID]) {
        host.onLane(limit: .launch) { app, thread in
            // Tried again when a process has declared itself, and where the module that has kept the lane has failed.
            let again = LaneWork(limit: .launch) { [app = host.app] thread in
                app.open(on: thread).launch.openInbox(inbox, for: host, behind: modules)
            }
            switch app.onDemand.makeModules(behind: modules, of: again, on: thread) {
            case .ready where !app.phase.isEnding:
                inbox.open(for: host, app.records.map(\.slot))
            case .ready, .kept: break
            case .lost: host.gate.lane.enqueue(again)
            }
        }
    }

    /// Opens the inbox, and starts the start-up tasks that can wait.
    func openInbox() {
        guard let host = app.host else { return }
        if let inbox = app.inbox { open(inbox, for: host) }
        host.onLaneWhenIdle { app in
            if !app.phase.isEnding { try? host.startup.admit(.low) }
        }
    }
}
