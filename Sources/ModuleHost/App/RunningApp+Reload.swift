import AppService
import Synchronization

/// A reload up to the instant at which it holds, in steps that each are a job of the lane: events are
/// delivered in between.
extension RunningApp {
    func reload(_ request: ReloadRequest, in host: Host) {
        guard ending == nil else { return request.answer.give(.success(.stopped)) }
        guard isReady, reload == nil else { return waitingReloads.append(request) }
        let request = request.isOfCurrent ? current(request) : request
        let plan = ReloadPlan(
            from: slatefile, records.map { running($0, for: request) }, to: request.slatefile)
        if plan.isEmpty { return nothingChanged(plan, request) }
        do {
            let reload = try prepare(request, plan)
            self.reload = reload
            if reload.drafts.isEmpty { return commit(reload, in: host) }
            makeDrafts(of: reload, in: host)
        } catch {
            let reason = "\(error)"
            logRolledBack(request, reason)
            request.answer.give(.success(.rolledBack(reason)))
            beginNextReload()
        }
    }

    /// A request that is about modules alone, with the slatefile that holds.
    private func current(_ request: ReloadRequest) -> ReloadRequest {
        var request = request
        request.slatefile = slatefile
        if let calls { request.tokens = calls.tokens }
        return request
    }

    private func takesSettings(_ module: (any Module)?) -> Bool {
        module.map { EventKind.configurationChanged.isHeard(by: $0) } ?? false
    }

    private func running(
        _ record: ModuleRecord, for request: ReloadRequest
    ) -> ReloadPlan.Running {
        ReloadPlan.Running(
            entry: record.entry,
            takesSettings: !record.isFailed && takesSettings(record.module),
            readsAppSettings: record.context?.readsAppConfig.load(ordering: .relaxed) == true,
            isLate: isLate(record),
            isOutdated: outdated.contains(record.id) || request.remaking.contains(record.id))
    }

    /// Tells modules that take settings that the slatefile was read, and is the same: the moment to reopen
    /// files.
    private func nothingChanged(_ plan: ReloadPlan, _ request: ReloadRequest) {
        calls?.replace(request.tokens)
        if request.tellsUnchanged {
            log.notice("slatefile read again (\(request.origin)): \(plan)")
            gate.lane.prepend([
                configurationJob(request.slatefile, before: slatefile, records, request.origin)
            ])
        }
        request.answer.give(.success(.unchanged(plan)))
        beginNextReload()
    }

    /// Creates the job that notifies modules which stay.
    func configurationJob(
        _ slatefile: Slatefile, before old: Slatefile, _ records: [ModuleRecord],
        _ origin: Origin, changed: Set<ModuleID> = []
    ) -> EventJob {
        var modules: [ModuleID: (config: JSONValue?, isChanged: Bool)] = [:]
        for record in records {
            modules[record.id] = (record.entry.config, changed.contains(record.id))
        }
        let reload = ConfigurationReload(
            appConfig: slatefile.config, isAppConfigChanged: slatefile.config != old.config,
            modules: modules)
        return EventJob(.own(.reload(reload, origin: origin)), in: self)
    }

    /// Finds a place for each module that is to be made, and works out the new order and the new routes.
    private func prepare(_ request: ReloadRequest, _ plan: ReloadPlan) throws -> Reload {
        guard let calls else { throw RouteError.stopped }
        let new = Set(plan.added + plan.remade)
        let numbers = gate.lane.vacantNumbers(new.count)
        guard numbers.count == new.count else { throw NoPlace(modules: new.count) }
        var places = numbers.makeIterator()
        var known = Dictionary(records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var next: [ModuleRecord] = []
        var drafts: [ModuleRecord] = []
        for entry in request.slatefile.modules where entry.isEnabled {
            if !new.contains(entry.id), let record = known.removeValue(forKey: entry.id) {
                next.append(record)
            } else if let number = places.next() {
                let cell = Cell(
                    number: number, id: entry.id, terms: Cell.Terms(of: entry), isDraft: true)
                drafts.append(ModuleRecord(entry: entry, cell: cell))
                next.append(drafts[drafts.count - 1])
            }
        }
        let staying = Set(next.map { ObjectIdentifier($0) })
        reloadCount += 1
        return Reload(
            request, plan, records: next, drafts: drafts,
            leaving: records.filter { !staying.contains(ObjectIdentifier($0)) },
            calls: try dispatcher(for: request, next, from: calls),
            mark: " before reload \(reloadCount)")
    }

    /// The routes of a new order of modules: those that each of them has now, or where it is yet to be
    /// made, lists.
    func dispatcher(
        for request: ReloadRequest, _ records: [ModuleRecord], from calls: CallDispatcher,
        _ drafts: CallDispatcher? = nil
    ) throws -> CallDispatcher {
        var routes: [ModuleID: [AnyRoute]] = [:]
        let isDraft = Dictionary(
            records.map { ($0.id, $0.cell.isDraft.load(ordering: .relaxed)) },
            uniquingKeysWith: { first, _ in first })
        for (id, isDraft) in isDraft where !isDraft || drafts != nil { routes[id] = [] }
        for entry in calls.table.routes where isDraft[entry.module] == false {
            routes[entry.module]?.append(entry.route)
        }
        for entry in drafts?.table.routes ?? [] where isDraft[entry.module] == true {
            routes[entry.module]?.append(entry.route)
        }
        return try CallDispatcher(
            RouteTable(of: request.slatefile) { routes[$0] }, records: records,
            tokens: request.tokens, gate: gate, center: center)
    }

    // MARK: Making modules

    private func makeDrafts(of reload: Reload, in host: Host) {
        host.noteDrafts(reload.drafts.map(\.id))
        services.beginTransition(leaving: reload.leaving.map(\.cell))
        host.startup.rename(reload.plan.remade.map(\.text)) { $0 + reload.mark }
        for record in reload.drafts { gate.lane.register(record.cell) }
        reload.starts = processStarts(of: reload.drafts) { context(of: $0, for: reload, in: host) }
        withEachDraft(of: reload, in: host) { app, reload, record, thread in
            app.makeDraft(record, of: reload, in: host, on: thread)
        } then: { app, reload in
            app.runStartupTasks(of: reload, in: host)
        }
    }

    /// Does something with each module that is made for a reload, and then something else, for as long as
    /// nothing has gone wrong.
    ///
    /// Each has a job of the lane, listed when the one before it is done: what has come meanwhile has its turn
    /// in between. Nothing comes between the last of them and what is done then.
    private func withEachDraft(
        of reload: Reload, from index: Int = 0, in host: Host,
        telling event: LifecycleEvent? = nil,
        _ body: @escaping @Sendable (RunningApp, Reload, ModuleRecord, LaneThread) -> Void,
        then last: @escaping @Sendable (RunningApp, Reload) -> Void
    ) {
        let confined = LaneConfined(reload)
        gate.lane.enqueue(
            LaneWork(limit: .launch, eventInHand: event) { [app = host.app] thread in
                let (app, reload) = (app.value, confined.value)
                // A stop that is about to come undoes it.
                guard !reload.isOver, !host.isStopping else { return }
                body(app, reload, reload.drafts[index], thread)
                // Where the lane was lost the reload is undone by whoever goes on.
                guard app.gate.lane.owns(thread), !reload.isOver, !host.isStopping else { return }
                guard index + 1 < reload.drafts.count else { return last(app, reload) }
                app.withEachDraft(
                    of: reload, from: index + 1, in: host, telling: event, body, then: last)
            })
    }

    private func makeDraft(
        _ record: ModuleRecord, of reload: Reload, in host: Host, on thread: LaneThread
    ) {
        let start = reload.starts?[record.id]
        let context = start?.context.value ?? context(of: record, for: reload, in: host)
        make(record, with: context, start, on: thread) { error in
            rollBack(reload, because: "module '\(record.id)' failed in init: \(error)")
        }
    }

    private func context(
        of record: ModuleRecord, for reload: Reload, in host: Host
    ) -> ModuleContext {
        context(
            of: record, appConfig: reload.request.slatefile.config, calls: reload.calls,
            host: HostServices(of: host, for: reload))
    }

    private func runStartupTasks(of reload: Reload, in host: Host) {
        reload.starts = nil
        var tasks: [StartupTask] = []
        reload.tasks.release { tasks += $0 }
        do throws(StartupError) {
            try host.startup.register(tasks)
        } catch {
            return rollBack(reload, because: "start-up tasks make no sense: \(error)")
        }
        // Behind these tasks there may be some of others: whatever is high is wanted now.
        let confined = LaneConfined(reload)
        host.startup.whenDone(.high) {
            host.onLane { app, _ in app.launchDrafts(of: confined.value, in: host) }
        }
    }

    private func launchDrafts(of reload: Reload, in host: Host) {
        let event = LifecycleEvent.launch(Launch(origin: reload.request.origin, app: slatefile.app))
        withEachDraft(of: reload, in: host, telling: event) { app, reload, record, thread in
            app.launch(record, of: reload, event, on: thread)
        } then: { app, reload in
            app.commit(reload, in: host)
        }
    }

    private func launch(
        _ record: ModuleRecord, of reload: Reload, _ event: LifecycleEvent, on thread: LaneThread
    ) {
        let members = center.members(of: record.cell)
        let isOurs = tell(record, members, event, on: thread) { error in
            rollBack(reload, because: "module '\(record.id)' failed in launch: \(error)")
        }
        if isOurs, !reload.isOver { record.status = .launched }
    }

    // MARK: Undoing

    /// Undoes a reload: what was made for it is let go of, and all stays as it was.
    func rollBack(_ reload: Reload, because reason: String) {
        guard !reload.isOver else { return }
        logRolledBack(reload.request, reason)
        let outcome = ending == nil ? ReloadOutcome.rolledBack(reason) : .stopped
        undo(reload) { [request = reload.request] app in app.finish(request, outcome) }
    }

    /// Undoes the reload that a module was made for, which has failed since it was launched.
    func undoReload(forFailed cell: Cell, _ what: String, _ error: any Error) {
        guard let reload, let draft = reload.drafts.first(where: { $0.cell === cell }) else {
            return
        }
        rollBack(reload, because: "module '\(draft.id)': \(what) failed: \(error)")
    }

    /// Undoes a reload, and does it again: what was to be made anew is late by now, and hears first what it has
    /// missed.
    func startOver(_ reload: Reload) {
        undo(reload) { [request = reload.request] app in
            app.reload = nil
            app.waitingReloads.insert(request, at: 0)
            app.beginNextReload()
        }
    }

    /// Has all be as it was.
    ///
    /// - Parameters:
    ///   - reload: What is undone.
    ///   - last: Done when all that was made is let go of.
    private func undo(_ reload: Reload, then last: @escaping @Sendable (RunningApp) -> Void) {
        guard let host else { return }
        reload.isOver = true
        reload.starts?.cancel()
        reload.starts = nil
        host.noteDrafts([])
        let drafts = reload.drafts.map(\.id.text)
        host.startup.dispense(with: drafts)
        host.startup.rename(drafts) { "\($0) undone by reload \(reloadCount)" }
        host.startup.rename(reload.plan.remade.map { "\($0)\(reload.mark)" }) {
            String($0.dropLast(reload.mark.count))
        }
        let routes = reload.calls.routesByModule
        for record in reload.drafts { takeOut(record, routes: routes[record.cell.number] ?? []) }
        services.endTransition()
        if let calls { reload.calls.end(for: calls) }
        depart(reload.drafts) { record in
            if case .launched = record.status { [.terminate] } else { [] }
        }
        bidFarewell(then: last)
        reload.posts.release(host.enqueue)
    }

    private func logRolledBack(_ request: ReloadRequest, _ reason: String) {
        log.error("reload undone, the running slatefile stays (\(request.origin)): \(reason)")
    }

    /// A module that was made for the reload does not return.
    func tookTooLong(_ cell: Cell, in reload: Reload) {
        guard let record = reload.drafts.first(where: { $0.cell === cell }) else { return }
        let what = record.module == nil ? "init" : "launch"
        let limit = TooLate(limit: slatefile.deadlines.launch)
        rollBack(reload, because: "module '\(record.id)' failed in \(what): \(limit)")
    }

    // MARK: One after the other

    /// A reload is over, whichever way.
    func finish(_ request: ReloadRequest, _ outcome: ReloadOutcome) {
        reload = nil
        request.answer.give(.success(outcome))
        beginNextReload()
        // They may have returned while it was on its way.
        if case .applied = outcome { remakeOutdated() }
    }

    func beginNextReload() {
        guard let host, reload == nil, !waitingReloads.isEmpty else { return }
        let request = waitingReloads.removeFirst()
        host.onLane { app, _ in app.reload(request, in: host) }
    }

    /// Makes modules anew that were late when they should have been.
    func remakeOutdated() {
        guard let host, let calls, ending == nil, !outdated.isEmpty,
            records.contains(where: { outdated.contains($0.id) && !isLate($0) })
        else { return }
        let request = ReloadRequest(
            slatefile: slatefile, tokens: calls.tokens, origin: .host, tellsUnchanged: false,
            isOfCurrent: true, answer: Answer { _ in })
        host.onLane { app, _ in app.reload(request, in: host) }
    }
}

/// There are no more numbers for modules.
struct NoPlace: Error, CustomStringConvertible {
    let modules: Int

    var description: String {
        "there is no place for \(modules) modules beside those that run: add them in several steps"
    }
}
