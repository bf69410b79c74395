import AppService
import Synchronization

/// The instant at which a reload holds.
extension RunningApp {
    /// Exchanges order, routes, services, limits and settings.
    ///
    /// At the end of a job of the lane. No module is entered here, nor any object of one ends: no event is on
    /// its way round, so each is delivered wholly before or wholly after.
    func commit(_ reload: Reload, in host: Host) {
        let new: CallDispatcher
        guard let calls else { return }
        // It would never hear what it has missed since.
        if reload.leaving.contains(where: { isLate($0) && reload.plan.remade.contains($0.id) }) {
            return startOver(reload)
        }
        do {
            // Modules may have changed their routes while others were made.
            new =
                reload.drafts.isEmpty
                ? reload.calls
                : try dispatcher(for: reload.request, reload.records, from: calls, reload.calls)
            if let fault = services.transitionFault { throw fault }
        } catch {
            return rollBack(reload, because: "\(error)")
        }
        reload.isOver = true
        let old = slatefile
        handOver(reload)
        takeOutLeaving(reload, calls)
        exchangeOrder(reload)
        calls.swapContents(with: new)
        reload.calls.end(for: calls)
        services.endTransition()
        exchangeTerms(reload, in: host)
        exchangeTasks(reload, in: host)
        log.notice("slatefile applied (\(reload.request.origin)): \(reload.plan)")
        followUp(reload, before: old, in: host)
        reload.posts.release(host.enqueue)
    }

    /// Hands what waits in the inbox for modules that have failed to those that take their places.
    private func handOver(_ reload: Reload) {
        let new = Dictionary(
            reload.drafts.map { ($0.id, $0.cell) }, uniquingKeysWith: { first, _ in first })
        for record in reload.leaving {
            let log = log.of(module: record.id.text)
            endRetry(of: record.id)
            guard let cell = new[record.id] else {
                if gate.lane.dropWaiting(for: record.cell) > 0 { log.droppedWaiting() }
                continue
            }
            inbox?.replace(record.cell, by: cell)
            let count = gate.lane.passOn(from: record.cell, to: cell)
            if count > 0 { log.notice("restarted; \(count) events of the inbox wait for it") }
        }
    }

    private func takeOutLeaving(_ reload: Reload, _ calls: CallDispatcher) {
        let routes = reload.leaving.isEmpty ? [:] : calls.routesByModule
        for record in reload.leaving { takeOut(record, routes: routes[record.cell.number] ?? []) }
        // What a stop would tell them in this state.
        var end = state
        guard case .deliver(let farewell) = end.apply(.terminate) else { return }
        depart(reload.leaving) { record in
            if case .launched = record.status { farewell } else { [] }
        }
    }

    private func exchangeOrder(_ reload: Reload) {
        for (index, record) in reload.records.enumerated() {
            record.cell.rank = UInt16(index + 1)
            gate.lane.box?.setRank(UInt16(index + 1), of: record.cell.number)
            record.cell.isDraft.store(false, ordering: .relaxed)
        }
        records = reload.records
        center.reorder()
        outdated = Set(reload.plan.postponed)
    }

    private func exchangeTerms(_ reload: Reload, in host: Host) {
        let new = reload.request.slatefile
        let entries = Dictionary(
            new.modules.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for record in records where !outdated.contains(record.id) {
            guard let entry = entries[record.id] else { continue }
            let isChanged = entry.isRetried != record.entry.isRetried
            record.entry = entry
            record.cell.terms = Cell.Terms(of: entry)
            if isChanged, record.isFailed { scheduleRetry(of: record) }
        }
        var next = new
        // These wait for the next start.
        (next.app, next.startup) = (slatefile.app, slatefile.startup)
        slatefile = next
        host.exchange(next)
        gate.lane.watchdog.limits = Watchdog.Limits(of: next)
        holds.exchange(allowance: next.deadlines.stop)
        let failed = records.count(where: \.isFailed)
        figures.withLock { figures in
            figures.modulesFailed = failed
            figures.modulesRunning = records.count - failed
        }
    }

    private func exchangeTasks(_ reload: Reload, in host: Host) {
        host.noteDrafts([])
        let removed = reload.plan.removed.map(\.text)
        host.startup.dispense(with: reload.plan.remade.map { "\($0)\(reload.mark)" } + removed)
        host.startup.rename(removed) { $0 + reload.mark }
    }

    /// Tells everybody, before any other event: who stays, of its settings; who is new, of where the app
    /// is; who goes, of its end.
    private func followUp(_ reload: Reload, before old: Slatefile, in host: Host) {
        let new = Set(reload.drafts.map(\.id))
        bidFarewell { [request = reload.request, plan = reload.plan] app in
            app.finish(request, .applied(plan))
        }
        let event: EventKind? =
            switch state {
            case .active: .activate
            case .background: .background
            case .launching, .inactive, .terminating, .terminated: nil
            }
        var jobs: [any LaneJob] = [
            configurationJob(
                slatefile, before: old, records.filter { !new.contains($0.id) },
                reload.request.origin, changed: Set(reload.plan.reconfigured))
        ]
        for record in reload.drafts {
            guard let event = event.map({ LifecycleEvent.state($0, origin: .host) }) else { break }
            let confined = LaneConfined(record)
            jobs.append(
                LaneWork(eventInHand: event) { [app = host.app] thread in
                    app.value.greet(confined.value, event, on: thread)
                })
        }
        for record in reload.drafts where gate.lane.waiting(for: record.cell) != nil {
            let confined = LaneConfined(record)
            jobs.append(
                LaneWork { [app = host.app] thread in
                    app.value.catchUp(confined.value, on: thread)
                })
        }
        gate.lane.prepend(jobs)
    }

    /// Has a restarted module receive what has waited for it, on a thread of its own, before anything that
    /// comes from now on.
    private func catchUp(_ record: ModuleRecord, on thread: LaneThread) {
        guard ending == nil, !record.isFailed, gate.lane.waiting(for: record.cell) != nil else {
            return
        }
        _ = gate.call(record.cell, on: thread) {
            _ = gate.lane.takeOver(at: thread.mine, because: .repeatedYield)
        }
        // Without a thread it would receive what comes now, and never what came before.
        guard gate.lane.owns(thread) else { return }
        markFailed(record, "restart", NoThread())
    }

    private func greet(_ record: ModuleRecord, _ event: LifecycleEvent, on thread: LaneThread) {
        guard ending == nil, !record.isFailed, gate.lane.admit(record.cell, at: nil) == .go else {
            return
        }
        _ = tell(record, center.members(of: record.cell), event, on: thread) { error in
            figures.withLock { $0.failures += 1 }
            log.of(module: record.id.text).write(
                .error, "failed: \(error)", event: event.kind.rawValue)
        }
    }
}

/// A restarted module has no thread on which to receive what has waited for it.
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
