import AppService

/// Programs that end on purpose, and the modules that need them: a launch and a reload place both, and each is brought up
/// by itself.
extension App {
    /// Brings up a module by itself, for which a launch or a reload has a place.
    func bringUpLater(_ record: ModuleRecord, in host: AppHost) {
        guard let calls, index(of: record) != nil, !phase.isEnding else { return }
        holdEvents(forLater: record)
        let start = start(record, calls, in: host)
        onDemand.starts.insert(start)
        onDemand.starts.goOn(with: start, in: host)
    }

    /// Makes durable events wait for a module that is brought up by itself.
    func holdEvents(forLater record: ModuleRecord) {
        // A program receives the events from its launch on, and those that have waited since it failed.
        guard !record.entry.ends || gate.lane.waiting(for: record.slot) != nil else { return }
        gate.lane.hold(record.slot)
    }

    /// Notes that a program has ended on purpose: its routes and members are gone, and what needs it can be made.
    func markDone(_ record: ModuleRecord) {
        guard !phase.isEnding, let index = index(of: record), let calls, let host else { return }
        let start = onDemand.starts[record.id]
        if let start { onDemand.starts.take(start, untilLevel: false) }
        apply(.finish, to: record)
        guard case .done = record.life else { return }
        record.endAlarm?.cancel()
        let process = record.isolated?.metrics.withLock(\.self)
        record.lastProcess = process ?? start?.process?[record.id]?.status
        if record.module != nil, let place = newPlace(for: record.entry, rank: record.slot.rank) {
            apply(.finish, to: place)
            place.lastProcess = process
            records[index] = place
            onDemand.noteReplaced()
            takeDown(record, from: calls, leaving: [])
            bind(place, replacingRoutes: false)
            unloadingModules.sendShutdownEvents(to: [record], in: host)
        }
        log.of(module: record.id.text).notice("done")
        reportHealth()
        attempts.noteRunning(record)
    }
}

extension [ModuleRecord] {
    /// Returns those that are brought up one by one: programs that end, and what needs one that has not ended.
    ///
    /// - Parameter find: Returns a module of the app that is not among these, and that one of them needs.
    func broughtUpLater(find: (ModuleID) -> ModuleRecord?) -> [ModuleRecord] {
        var later: Set<ModuleID> = []
        return filter { record in
            let isLater =
                record.entry.ends
                || record.entry.needs.contains { later.contains($0) || find($0)?.isToEnd == true }
            if isLater { later.insert(record.id) }
            return isLater
        }
    }
}

extension ModuleRecord {
    /// Whether it is a program that has yet to end.
    var isToEnd: Bool { entry.ends && !isFailed && life != .done }

    /// The time for which modules that need it wait for its end.
    func endLimit(in slatefile: Slatefile) -> Duration {
        entry.deadline ?? slatefile.deadlines.launch
    }

    /// Whether those that need it still wait for its end.
    var isAwaited: Bool { isToEnd && !isLate }
}

extension AppLaunch {
    /// Waits for the modules that need a program which has not ended; that itself is not awaited.
    func awaitLater(in host: AppHost) {
        // Every other module is created.
        cancelStarts()
        awaited.map { app.launchTimes.ends($0, at: app.time.now()) }
        awaited = nil
        later = later.drop { $0.entry.ends || app.onDemand.starts[$0.id] == nil }
        guard let next = later.first else { return runStartupTasks(in: host) }
        let program = next.entry.needs.first { app.record(of: $0)?.isToEnd == true }
        awaited = program ?? next.id
        // Without a program that has to end, the next module itself is made.
        let kind: LaunchStepKind = program != nil || next.entry.ends ? .program : .process
        app.launchTimes.begins(kind, program ?? next.id, at: app.time.now())
        app.onDemand.wait(
            LaneWork { [app = host.app] thread in
                app.open(on: thread).launch.awaitLater(in: host)
            }, for: next.id)
    }
}

extension LazyStarts {
    /// Limits the time for which modules wait for a program to end.
    func limitEnd(of record: ModuleRecord, in host: AppHost) {
        let (id, slot) = (record.id, record.slot)
        let limit = record.endLimit(in: app.slatefile)
        record.endAlarm = app.time.schedule(after: limit) { [weak host] in
            host?.onLane { app, _ in
                guard let record = app.record(of: slot), record.isToEnd else { return }
                record.isLate = true
                guard app.onDemand.starts.waiting[id] != nil else { return }
                app.log.of(module: id.text).warning(
                    "has not ended within \(limit.briefText): modules that need it are made when it does"
                )
                app.onDemand.starts.releaseWaiting(for: id)
            }
        }
    }
}
