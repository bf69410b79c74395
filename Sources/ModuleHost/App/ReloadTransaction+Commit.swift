import AppService
import Synchronization

/// The commit of a reload.
extension ReloadTransaction {
    /// Exchanges order, routes, services, limits and settings.
    ///
    /// At the end of a job of the lane. No module is entered here, and no object of a module is deallocated:
    /// no event is being delivered, so each is delivered completely before or completely after.
    func commit() {
        let new: CallDispatcher
        guard !isOver, let old = app.calls else { return }
        // A lazy module was made or unloaded meanwhile: the new order does not have it, or has it still.
        if changesOnDemand != app.onDemand.changes, !takeChangesOnDemand() {
            return undo { [request] app in app.reloads.repeatNext(request) }
        }
        // The recreated module would never receive the events missed since.
        if leaving.contains(where: { app.isOverdue($0) && plan.recreated.contains($0.id) }) {
            return undo { [request] app in app.reloads.repeatNext(request) }
        }
        do {
            // Modules may have changed their routes while others were created.
            new =
                staged.isEmpty
                ? calls : try app.dispatcher(for: request, records, from: old, calls)
            if let error = app.services.transitionError { throw error }
        } catch {
            return rollBack(because: "\(error)")
        }
        isOver = true
        let before = app.slatefile
        handOver()
        takeOutLeaving(routes: old)
        exchangeOrder()
        old.swapContents(with: new)
        calls.end(for: old)
        app.services.endTransition()
        applyLimits()
        exchangeTasks()
        app.log.notice("slatefile applied (\(request.origin)): \(plan)")
        app.noteInstead()
        followUp(before)
        posts.release(host.enqueue)
    }

    /// Takes over which lazy modules were made and unloaded while the modules of the reload were created: that may take
    /// as long as their processes do.
    ///
    /// - Returns: False where the plan is out of date: the slatefile changes one that was made, or one that a new module
    ///   needs was unloaded.
    private func takeChangesOnDemand() -> Bool {
        let new = Set(staged.map(\.id))
        let current = Dictionary(
            app.records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let known = Set((records + leaving).map { ObjectIdentifier($0) })
        let made = app.records.filter { !known.contains(ObjectIdentifier($0)) }
        var next: [ModuleID: ModuleRecord] = stagedByID.filter { new.contains($0.key) }
        for record in records where current[record.id] === record { next[record.id] = record }
        let entries = Dictionary(
            request.slatefile.modules.filter(\.isEnabled).map { ($0.id, $0) },
            uniquingKeysWith: { first, _ in first })
        for record in made {
            guard !new.contains(record.id), entries[record.id]?.isSame(as: record.entry) == true
            else { return false }
            next[record.id] = record
        }
        guard !staged.contains(where: { $0.entry.needs.contains { next[$0] == nil } }) else {
            return false
        }
        records = request.slatefile.modules.compactMap { $0.isEnabled ? next[$0.id] : nil }
        leaving.removeAll { current[$0.id] !== $0 }
        return true
    }

    /// Passes the events in the inbox that wait for failed modules to the modules that take their places, and drops
    /// those that removed modules have not received.
    private func handOver() {
        let new = Dictionary(
            staged.map { ($0.id, $0.slot) }, uniquingKeysWith: { first, _ in first })
        // Lazy ones among them may have failed before they were unloaded.
        for id in plan.added { app.attempts.end(of: id) }
        for record in leaving {
            let log = app.log.of(module: record.id.text)
            app.attempts.end(of: record.id)
            guard let slot = new[record.id] else {
                plan.deadLetters += app.gate.lane.dropAll(
                    of: record.slot, and: app.inbox?.left(for: record.slot))
                app.inbox?.noteDropped()
                continue
            }
            app.inbox?.replace(record.slot, by: slot)
            let count = app.gate.lane.passOn(from: record.slot, to: slot)
            if count > 0 { log.notice("restarted; \(count) events of the inbox wait for it") }
        }
    }

    private func takeOutLeaving(routes calls: CallDispatcher) {
        for record in leaving {
            record.use?.end()
            let next = stagedByID[record.id].map { app.gate.lane.waiting(for: $0.slot) != nil }
            app.onDemand.starts.end(record, untilLevel: next == true)
        }
        let routes = leaving.isEmpty ? [:] : calls.routesByModule
        app.unloadingModules.takeOut(leaving, routes: routes)
        app.unloadingModules.unload(leaving)
    }

    private func exchangeOrder() {
        var next = records[...]
        var rank: UInt16 = 0
        for entry in request.slatefile.modules where entry.isEnabled {
            rank += 1
            guard next.first?.id == entry.id, let record = next.popFirst() else { continue }
            record.slot.rank = rank
            app.gate.lane.box?.setRank(rank, of: record.slot.number)
            record.slot.isStaged.store(false, ordering: .relaxed)
        }
        app.records = records
        app.recount()
        app.center.reorder()
        app.reloads.setOutdated(plan.postponed)
    }

    private func applyLimits() {
        let new = request.slatefile
        let entries = Dictionary(
            new.modules.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for record in records where !app.reloads.isOutdated(record.id) {
            guard let entry = entries[record.id] else { continue }
            let isChanged =
                entry.isRetried != record.entry.isRetried || entry.isLazy != record.entry.isLazy
            record.entry = entry
            record.slot.limits = ModuleSlot.Limits(of: entry)
            if isChanged { app.attempts.schedule(record) }
        }
        var next = new
        // These wait for the next start.
        (next.app, next.startup) = (app.slatefile.app, app.slatefile.startup)
        app.slatefile = next
        app.onDemand.take(next, made: records)
        app.attempts.endOthers(than: next.modules.lazy.filter(\.isEnabled).map(\.id))
        for record in records { app.watchUse(of: record) }
        host.exchange(next)
        app.gate.lane.watchdog.limits = Watchdog.Limits(of: next)
        for record in records { record.isolated?.tellDeadlines() }
        app.holds.exchange(timeLimit: next.deadlines.stop)
    }

    private func exchangeTasks() {
        host.setStaged([])
        let removed = plan.removed.map(\.text)
        host.startup.retire(plan.recreated.map { "\($0)\(mark)" }) { $0 }
        host.startup.retire(removed) { $0 + mark }
    }

    /// Notifies every module, before any other event: one that stays, of its settings; a new one, of the
    /// state of the app; and one that is removed, of its end.
    private func followUp(_ before: Slatefile) {
        let new = Set(staged.map(\.id))
        app.unloadingModules.sendShutdownEvents { [request, plan] app in
            app.reloads.finish(request, .applied(plan))
        }
        let event = app.greeting.first
        var jobs: [any LaneJob] = [
            app.configurationJob(
                app.slatefile, before: before, records.filter { !new.contains($0.id) },
                request.origin, changed: Set(plan.reconfigured))
        ]
        for record in staged {
            guard let event = event.map({ LifecycleEvent.state($0, origin: .host) }) else { break }
            let confined = LaneConfined(record)
            jobs.append(
                LaneWork(currentEvent: event) { [app = host.app] thread in
                    app.open(on: thread).greet(
                        confined.open(on: thread), event, on: thread)
                })
        }
        for record in staged.reversed() { app.catchUpNext(record) }
        app.gate.lane.prepend(jobs)
        for record in staged { app.apply(.takeEffect, to: record) }
    }
}

extension App {

    /// Makes a module catch up with the events that wait for it, if there are any, before anything else happens.
    func catchUpNext(_ record: ModuleRecord) {
        guard let host, gate.lane.waiting(for: record.slot) != nil else { return }
        let confined = LaneConfined(record)
        gate.lane.prepend([
            LaneWork { [app = host.app] thread in
                app.open(on: thread).catchUp(confined.open(on: thread), on: thread)
            }
        ])
    }

    /// Makes a restarted module receive the events that waited for it, on its own thread, before any new
    /// ones.
    private func catchUp(_ record: ModuleRecord, on thread: LaneThread) {
        guard !phase.isEnding, !record.isFailed, gate.lane.waiting(for: record.slot) != nil else {
            return
        }
        _ = gate.call(record.slot, on: thread) {
            _ = gate.lane.takeOver(at: thread.ownership, because: .repeatedYield)
        }
        // Without a thread it would receive new events, and never the ones before.
        guard gate.lane.owns(thread) else { return }
        markFailed(record, "restart", NoThread())
    }

    fileprivate func greet(_ record: ModuleRecord, _ event: LifecycleEvent, on thread: LaneThread) {
        guard !phase.isEnding, !record.isFailed, gate.lane.admit(record.slot, at: nil) == .go else {
            return
        }
        _ = notify(record, center.members(of: record.slot), event, on: thread) { error in
            failed(record, in: event, error)
        }
    }
}

/// The error for a restarted module that has no thread on which to receive the waiting events.
private struct NoThread: Error, CustomStringConvertible {
    let description =
        "the system has no thread on which it can receive what waits for it in the inbox"
}

extension Watchdog.Limits {
    /// Creates the deadlines of a slatefile.
    init(of slatefile: Slatefile) {
        self.init(
            event: slatefile.deadlines.event, launch: slatefile.deadlines.launch,
            stop: slatefile.deadlines.stop,
            shortestOfModules: slatefile.modules.compactMap(\.deadline).min())
    }
}
