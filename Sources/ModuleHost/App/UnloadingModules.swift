import AppService

/// The modules that are removed while the app runs: by a reload, or because their reload was rolled back.
///
/// Belongs to the lane.
final class UnloadingModules {
    private unowned let app: App
    /// The modules that are no longer part of the app, and yet to be released, by the numbers of their slots.
    private var unloading: [UInt16: ModuleRecord] = [:]

    /// The work that waits until modules are released, with the numbers of their slots.
    private var waiting: [(slots: Set<UInt16>, body: (App) -> Void)] = []

    init(of app: App) { self.app = app }

    /// Runs a closure, once, on the lane, when modules that are unloaded are released; at once where they are.
    func whenReleased(_ records: [ModuleRecord], _ body: @escaping (App) -> Void) {
        let slots = Set(records.map(\.slot).filter(holds).map(\.number))
        guard !slots.isEmpty else { return body(app) }
        waiting.append((slots, body))
    }

    var records: [ModuleRecord] { Array(unloading.values) }

    /// Returns whether an instance of a module is yet to be released.
    func contains(_ module: ModuleID) -> Bool { unloading.values.contains { $0.id == module } }

    /// Whether work waits until modules are released.
    var hasWaiting: Bool { !waiting.isEmpty }

    func holds(_ slot: ModuleSlot) -> Bool { unloading[slot.number] != nil }

    /// Takes modules out of all state of the lane: they can no longer be reached.
    ///
    /// - Parameters:
    ///   - records: The records of the modules.
    ///   - routes: The routes that they answered, by the numbers of their slots.
    func takeOut(_ records: [ModuleRecord], routes: [UInt16: [AnyObject]] = [:]) {
        let (lane, events) = (app.gate.lane, app.state.path(to: .terminated))
        for record in records {
            lane.unlist(record.slot)
            app.leaveOpenEvents(of: [record.slot])
            lane.box?.setRank(0, of: record.slot.number)
            app.apply(.takeOut(events), to: record)
        }
        app.host?.startup.close(records.map(\.slot))
        let members = app.center.takeAll(of: records.map(\.slot))
        for record in records {
            let number = record.slot.number
            record.unloadingParts = UnloadingParts(
                of: record, members: members[number] ?? [],
                services: app.services.takeAll(of: record.slot), routes: routes[number] ?? [])
        }
    }

    /// Releases a module that was taken out.
    func release(of record: ModuleRecord, on thread: LaneThread) {
        guard let unloadingParts = record.unloadingParts else { return }
        record.unloadingParts = nil
        let began = app.time.now()
        let box = app.gate.lane.box
        // Every `deinit` is module code too.
        box?.setActivity(.release)
        let outcome = app.gate.call(record.slot, on: thread) { unloadingParts.release() }
        if case .lost = outcome { return }
        box?.setActivity(nil)
        app.apply(.release, to: record)
        app.log.of(module: record.id.text).write(
            .debug, "released", duration: began.duration(to: app.time.now()))
    }

    /// Unloads modules that were taken out, as soon as each may be entered.
    func unload(_ records: [ModuleRecord]) {
        for record in records { unloading[record.slot.number] = record }
    }

    /// Delivers the remaining shutdown events to the modules that are removed, each in their order, before
    /// anything else happens; then releases the modules in reverse order.
    ///
    /// Overdue modules have their turn when they return.
    ///
    /// - Parameter last: Called when all that is done.
    func sendShutdownEvents(then last: (@Sendable (App) -> Void)? = nil) {
        guard let host = app.host, last != nil || !unloading.isEmpty else { return }
        forgetUnloaded()
        let leaving = unloading.values.filter { !app.isOverdue($0) }
            .sortedByNumber({ Int($0.slot.rank) })
        sendShutdownEvents(to: leaving, in: host, then: last)
    }

    /// Delivers the remaining shutdown events to some of them, in order; then releases these.
    func sendShutdownEvents(
        to leaving: [ModuleRecord], in host: AppHost, then last: (@Sendable (App) -> Void)? = nil
    ) {
        let limit = Self.limit(in: host)
        var jobs: [any LaneJob] = []
        for kind in [EventKind.resignActive, .background, .terminate] {
            let event = LifecycleEvent.state(kind, origin: .host)
            for record in leaving where record.shutdownEvents.contains(kind) {
                let confined = LaneConfined(record)
                jobs.append(
                    LaneWork(limit: limit, currentEvent: event) { [app = host.app] thread in
                        app.open(on: thread).unloadingModules.sendShutdownEvents(
                            to: confined.open(on: thread), event, on: thread)
                    })
            }
        }
        jobs.append(leave(leaving.reversed()[...], in: host, then: last))
        app.gate.lane.prepend(jobs)
    }

    /// Removes modules that became overdue during their own end, and have returned from it.
    private func forgetUnloaded() {
        for record in unloading.values where record.unloadingParts == nil && !app.isOverdue(record)
        {
            forget(record)
        }
    }

    private func forget(_ record: ModuleRecord) {
        unloading[record.slot.number] = nil
        app.keepCounts(of: record)
        app.gate.lane.unregister(record.slot)
        for index in waiting.indices { waiting[index].slots.remove(record.slot.number) }
        let ready = waiting.filter(\.slots.isEmpty)
        waiting.removeAll(where: \.slots.isEmpty)
        for next in ready { next.body(app) }
        app.attempts.noteReleased(record)
    }

    /// Returns the deadline of a module that is removed: while the app runs, that of any event.
    private static func limit(in host: AppHost) -> DeliveryLimit {
        host.isStopping ? .stop : .event
    }

    /// Returns a job that releases the first of some modules; further jobs release the rest, one after the
    /// other.
    ///
    /// A release may take time, as the end of a process does: other jobs have their turn in between, unless
    /// the app stops.
    private func leave(
        _ records: ArraySlice<ModuleRecord>, in host: AppHost, then last: (@Sendable (App) -> Void)?
    ) -> LaneWork {
        let confined = LaneConfined(records)
        return LaneWork(limit: Self.limit(in: host)) { [app = host.app] thread in
            let (app, records) = (app.open(on: thread), confined.open(on: thread))
            guard let first = records.first else {
                last?(app)
                return
            }
            // Listed first, since the lane may be lost in this one.
            let next = app.unloadingModules.leave(records.dropFirst(), in: host, then: last)
            let lane = app.gate.lane
            if host.isStopping { lane.prepend([next]) } else { lane.enqueue(next) }
            app.unloadingModules.leave(first, on: thread)
        }
    }

    private func sendShutdownEvents(
        to record: ModuleRecord, _ event: LifecycleEvent, on thread: LaneThread
    ) {
        // It may have become overdue, or have taken a hold, and have been notified meanwhile.
        guard let unloadingParts = record.unloadingParts, !app.isOverdue(record),
            record.shutdownEvents.contains(event.kind), !isHeld(by: record)
        else { return }
        app.apply(.shutDown(event.kind), to: record)
        _ = app.notify(record, unloadingParts.members, event, on: thread) { error in
            app.failed(record, in: event, error)
        }
    }

    private func leave(_ record: ModuleRecord, on thread: LaneThread) {
        guard record.shutdownEvents.isEmpty, record.unloadingParts != nil, !app.isOverdue(record)
        else { return }
        app.cancelRun(of: record)
        guard !isHeld(by: record) else { return }
        release(of: record, on: thread)
        // Overdue in its own end, it has nothing more to receive when it returns.
        guard app.gate.lane.owns(thread) else { return }
        forget(record)
    }

    /// Returns whether a module that is removed has a hold on a step; it continues when that is released.
    private func isHeld(by record: ModuleRecord) -> Bool {
        guard let host = app.host else { return false }
        let confined = LaneConfined(record)
        let again = LaneWork(limit: .stop) { [app = host.app] thread in
            let (app, record) = (app.open(on: thread), confined.open(on: thread))
            guard let host = app.host, !app.isOverdue(record) else { return }
            app.unloadingModules.sendShutdownEvents(to: [record], in: host)
        }
        return app.holds.keep(again, untilNoneOf: record.slot)
    }
}

/// A module that is removed, with all its parts: taken out of the state of the lane first, since the lane may
/// be lost in the release.
final class UnloadingParts {
    private var module: (any Module)?
    private var isolated: IsolatedModule?
    private var taker: (any EventTaker)?
    private var starting: ProcessStart?
    private var context: ModuleContext?
    private(set) var members: [Member]
    private var services: [AnyObject]
    private var routes: [AnyObject]

    init(of record: ModuleRecord, members: [Member], services: [AnyObject], routes: [AnyObject]) {
        (module, isolated, context) = (record.module, record.isolated, record.context)
        (taker, starting) = (record.taker, record.starting)
        (record.module, record.isolated, record.context) = (nil, nil, nil)
        (record.taker, record.starting) = (nil, nil)
        record.endAlarm?.cancel()
        self.members = members
        self.services = services
        self.routes = routes
    }

    /// Ends the module, as a step of the gate: every `deinit` is module code.
    func release() {
        context?.invalidate()
        context = nil
        routes = []
        members = []
        services = []
        taker?.settleEvent()
        isolated?.end()
        starting?.endProcess()
        (module, isolated, taker) = (nil, nil, nil)
    }
}
