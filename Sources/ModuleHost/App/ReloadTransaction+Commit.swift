import AppService
import Synchronization

/// The commit of a reload.
extension ReloadTransaction {
    /// Commits it when the modules that leave have answered what waits for them.
    func commitWhenAnswered() {
        answers = app.whenAnswered(leaving) { [self] _ in
            // A stop that is about to begin rolls it back.
            if !host.isStopping { commit() }
        }
    }

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
            let isCurrent =
                changesOnDemand == app.onDemand.changes
                && formerTable?.isIdentical(to: old.table) == true
            new =
                isCurrent
                ? calls
                : try app.dispatcher(
                    for: request, plan, difference, records, staged, from: old, calls)
            if let error = app.services.transitionError { throw error }
        } catch {
            return rollBack(because: "\(error)")
        }
        isOver = true
        formerTable = nil
        handOver()
        takeOutLeaving(routes: old)
        exchangeOrder()
        old.swapContents(with: new)
        calls.end(for: old)
        app.services.endTransition()
        applyLimits()
        app.log.notice("slatefile applied (\(request.origin)): \(plan)")
        app.noteInstead()
        followUp()
        posts.release(host.enqueue)
    }

    /// Takes over which lazy modules were made and unloaded while the modules of the reload were created: that may take
    /// as long as their processes do.
    ///
    /// - Returns: False where the plan is out of date: the slatefile changes one that was made, or one that a new module
    ///   needs was unloaded.
    private func takeChangesOnDemand() -> Bool {
        let current = Set(app.records.map { ObjectIdentifier($0) })
        let known = Set((records + leaving).map { ObjectIdentifier($0) })
        let made = app.records.filter { !known.contains(ObjectIdentifier($0)) }
        for record in made {
            guard stagedByID[record.id] == nil,
                difference.entry(of: record.id)?.isSame(as: record.entry) == true
            else { return false }
        }
        let kept = records.filter { record in
            stagedByID[record.id] === record || current.contains(ObjectIdentifier(record))
        }
        let next = Set((kept + made).map(\.id))
        guard staged.allSatisfy({ $0.entry.needs.allSatisfy(next.contains) }) else { return false }
        records = (kept + made).sortedByNumber { difference.places[$0.id] ?? 0 }
        leaving.removeAll { !current.contains(ObjectIdentifier($0)) }
        return true
    }

    /// Passes the events in the inbox that wait for failed modules to the modules that take their places, and drops
    /// those that removed modules have not received.
    private func handOver() {
        let new = Dictionary(
            staged.map { ($0.id, $0.slot) }, uniquingKeysWith: { first, _ in first })
        // Lazy ones among them may have failed before they were unloaded.
        for id in plan.added { app.attempts.end(of: id) }
        for id in plan.removed { app.gate.lane.counts.forget(id) }
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
        app.unloadingModules.takeOut(leaving, routes: calls.routes(of: leaving))
        app.unloadingModules.unload(leaving)
    }

    private func exchangeOrder() {
        for record in difference.keepsPlaces ? staged : records {
            let rank = UInt16(clamping: (difference.places[record.id] ?? 0) + 1)
            record.slot.rank = rank
            app.gate.lane.box?.setRank(rank, of: record.slot.number)
            record.slot.isStaged.store(false, ordering: .relaxed)
        }
        app.records = records
        app.recount()
        app.center.reorder(keepingRanks: difference.keepsPlaces)
        app.reloads.setOutdated(plan.postponed)
    }

    private func applyLimits() {
        var next = difference.new
        // These wait for the next start.
        (next.app, next.startup) = (app.slatefile.app, app.slatefile.startup)
        app.slatefile = next
        app.onDemand.take(difference.demands, made: records)
        for place in difference.changed { applyLimits(at: place) }
        for record in staged { app.watchUse(of: record) }
        app.attempts.endOthers(than: difference.places.keys)
        host.exchange(next)
        app.log.levels.take(
            host: next.logLevel, modules: difference.logLevels,
            removed: difference.removed.lazy.map(\.text))
        app.gate.lane.watchdog.limits = difference.limits
        for record in records { record.isolated?.tellDeadlines() }
        app.holds.exchange(timeLimit: next.deadlines.stop)
    }

    private func applyLimits(at place: Int) {
        guard let record = app.record(at: place), !app.reloads.isOutdated(record.id) else { return }
        let (entry, before) = (difference.entry(at: place), difference.formerEntry(at: place))
        record.entry = entry
        record.slot.limits = ModuleSlot.Limits(of: entry)
        app.watchUse(of: record)
        if entry.isRetried != before?.isRetried || entry.isLazy != before?.isLazy {
            app.attempts.schedule(record)
        }
    }

    /// Notifies every module, before any other event: one that stays, of its settings; a new one, of the
    /// state of the app; and one that is removed, of its end.
    private func followUp() {
        app.unloadingModules.sendShutdownEvents { [request, plan] app in
            app.reloads.finish(request, .applied(plan))
        }
        let event = app.greeting.first
        var jobs: [any LaneJob] = [
            app.configurationJob(app.slatefile, difference.configs, request.origin, of: self)
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
        for record in staged.reversed() where !isLater(record) { app.catchUpNext(record) }
        app.gate.lane.prepend(jobs)
        for record in staged { app.apply(.takeEffect, to: record) }
        for record in later { app.holdEvents(forLater: record) }
        // Not beside their old instances, also those of an earlier reload whose processes have not ended yet.
        let replaced = Set(later.map(\.id))
        let old = app.unloadingModules.records.filter { replaced.contains($0.id) }
        app.unloadingModules.whenReleased(old) { [later, host] app in
            for record in later { app.bringUpLater(record, in: host) }
        }
        app.reloads.noteCommit()
        adoptEqual(from: 0)
    }

    /// Gives the modules that stay their equal entries and settings of the new slatefile, some at a time: the former ones
    /// keep its whole text.
    private func adoptEqual(from index: Int) {
        let confined = LaneConfined(self)
        host.onLane { [commits = app.reloads.commits] app, thread in
            let reload = confined.open(on: thread)
            guard app.reloads.commits == commits, !app.phase.isEnding else { return }
            for record in app.records.dropFirst(index).prefix(500)
            where !app.reloads.isOutdated(record.id) {
                record.entry = reload.difference.entry(at: Int(record.slot.rank) - 1)
                let change = ConfigurationChange(
                    config: record.entry.config, appConfig: app.slatefile.config, isChanged: false)
                app.take(change, for: record)
            }
            if index + 500 < app.records.count { reload.adoptEqual(from: index + 500) }
        }
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

extension Watchdog.Limits {
    /// Creates the deadlines of a slatefile.
    init(of slatefile: Slatefile) {
        self.init(
            event: slatefile.deadlines.event, launch: slatefile.deadlines.launch,
            stop: slatefile.deadlines.stop,
            shortestOfModules: slatefile.modules.compactMap(\.deadline).min())
    }
}
