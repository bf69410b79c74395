import AppService

/// Making a lazy module: in a job of its own kind, or in the middle of a call of another module.
extension App {
    /// Runs host code in the middle of a call to a module; throws an error that names this where the lane was lost.
    func asHost<Result>(
        on thread: LaneThread, for module: ModuleID? = nil, _ body: () throws -> Result
    ) throws -> Result {
        let result = gate.lane.asHost(on: thread) { Swift.Result { try body() } }
        guard let result else { throw module.map(RouteError.tookTooLong) ?? LaneLost() }
        return try result.get()
    }

    /// Returns the record of a module; nil for one that is not made, and for an unknown id.
    func record(of module: ModuleID) -> ModuleRecord? {
        calls?.table.contents.position(of: module).flatMap { record(at: $0) }
    }

    /// Returns the record of the module at a place among the enabled ones.
    func record(at place: Int) -> ModuleRecord? { index(at: place).map { records[$0] } }

    /// Returns the index of the record of the module at a place among the enabled ones.
    private func index(at place: Int) -> Int? {
        let index = records.partitioningIndex { $0.slot.rank > place }
        guard index < records.count, records[index].slot.rank == place + 1 else { return nil }
        return index
    }

    /// Returns the index of a record among those of the modules that are made.
    func index(of record: ModuleRecord) -> Int? {
        guard let index = index(at: Int(record.slot.rank) - 1), records[index] === record else {
            return nil
        }
        return index
    }

    /// Makes a module that is not made, and all that it needs has come up: `init`, `launch`, and the present state of the
    /// app.
    ///
    /// A module that fails stays as a failed one, until its next attempt.
    ///
    /// - Parameters:
    ///   - place: Its place among the enabled modules.
    ///   - isAwaited: Whether a durable event is for it: where a module that it needs has failed, it stays as a failed
    ///     one, too, and the event waits for it.
    ///   - canWait: Whether the caller can try again when the process of the module has declared itself.
    ///   - thread: The calling thread, which owns the lane, in the host or in a module.
    /// - Returns: Its id.
    /// - Throws: ``ModuleIsStarting`` where that is to be awaited; ``ModuleHasFailed`` where a module that it needs has
    ///   failed; ``RouteError`` where it is not made at all for another reason, or takes too long.
    func makeOnDemand(
        at place: Int, isAwaited: Bool, canWait: Bool, on thread: LaneThread
    ) throws -> ModuleID {
        let (start, isAttempt) = try asHost(on: thread) {
            let start = try beginMaking(at: place, isAwaited: isAwaited, canWait: canWait)
            return (start, start.record.isFailed)
        }
        let (record, id) = (start.record, start.record.id)
        let process = start.process?[id]
        let isNested = thread.ownership.slot != 0
        make(record, with: start.context, process, on: thread, isNested: isNested) { error in
            failedToMake(record, error)
        }
        try asHost(on: thread, for: id) {
            process?.cancel()
            // Before the launch it launches with the others.
            guard phase != .making || record.entry.ends else { return }
            apply(.launch(eventsMissed), to: record)
        }
        var isAfterOne = false
        while let (event, members) = try asHost(
            on: thread, for: id, { nextMissed(by: record, isAfterOne: isAfterOne) })
        {
            isAfterOne = true
            let isOurs = notify(record, members, event, on: thread) { error in
                _ = gate.lane.asHost(on: thread) { failed(record.slot, in: event, error) }
            }
            guard isOurs else { throw RouteError.tookTooLong(id) }
        }
        try asHost(on: thread, for: id) {
            endMaking(of: record)
            if isAttempt, record.isLaunched { logRunsAgain(record) }
        }
        return id
    }

    private func logRunsAgain(_ record: ModuleRecord) {
        let waiting = gate.lane.waiting(for: record.slot).map { waiting in
            waiting.count == 1
                ? "; 1 event of the inbox waits for it"
                : "; \(waiting.count) events of the inbox wait for it"
        }
        log.of(module: record.id.text).notice("runs again" + (waiting ?? ""))
    }

    /// Marks a module as failed that could not be made.
    func failedToMake(_ record: ModuleRecord, _ error: any Error) {
        markFailed(record, "init", error)
        release(of: record.slot)
        // A call by one of these routes is answered with the error.
        guard record.entry.hasProcess else { return }
        let declared = record.isOnDemand ? record.entry.placeholderRoutes : []
        let routes = record.knownRoutes ?? declared
        for calls in currentCalls { calls.addPlaceholders(routes, of: record.id) }
    }

    /// Returns the next event that a module which is made now has missed, with the module's members.
    ///
    /// - Parameters:
    ///   - record: The module.
    ///   - isAfterOne: Whether it has received the first one of those that are left.
    /// - Returns: Nil where there is none, or the module has failed.
    private func nextMissed(
        by record: ModuleRecord, isAfterOne: Bool
    ) -> (event: LifecycleEvent, members: [Member])? {
        if isAfterOne { apply(.received, to: record) }
        guard case .catchingUp(let missed) = record.life, let kind = missed.events.first else {
            return nil
        }
        let event =
            kind == .launch
            ? LifecycleEvent.launch(Launch(origin: .host, app: slatefile.app))
            : .state(kind, origin: .host)
        return (event, center.members(of: record.slot))
    }

    /// Ends the making of a module: it is one like any other from now on.
    private func endMaking(of record: ModuleRecord) {
        record.slot.limits = ModuleSlot.Limits(of: record.entry)
        guard case .catchingUp = record.life, !phase.isEnding else { return }
        apply(.caughtUp, to: record)
        // It may have failed before.
        reportHealth()
        noteInstead()
        record.use?.begin()
        catchUpNext(record)
    }

    /// Ends the making of a module that was overdue in `launch`, or in the event behind it, and has caught up.
    func endMakingLate(of record: ModuleRecord) {
        guard case .catchingUp = record.life else { return }
        let slot = record.slot
        host?.onLane { app, thread in
            guard let record = app.record(of: slot), case .catchingUp(let missed) = record.life
            else { return }
            // A change of the state that came meanwhile was an event, which it has received by now.
            let isLevel = app.stateChanges != missed.stateChanges
            while !isLevel, let (event, members) = app.nextMissed(by: record, isAfterOne: true) {
                let isOurs = app.notify(record, members, event, on: thread) {
                    _ = app.failed(record.slot, in: event, $0)
                }
                guard isOurs else { return }
            }
            app.endMaking(of: record)
        }
    }

    /// Begins to make a module.
    ///
    /// - Returns: Its place and context.
    private func beginMaking(
        at place: Int, isAwaited: Bool, canWait: Bool
    ) throws -> LazyStarts.Start {
        let entry = onDemand.coming(at: place)
        // A durable event that stands before the stop is delivered, and lost for a module that is not made for it.
        guard let host, !phase.isEnding, isAwaited || !host.isStopping, phase != .made
        else { throw RouteError.stopped }
        let begun = onDemand.starts[entry.id]
        guard begun != nil || onDemand.place(ofUnmade: entry.id) == place else {
            throw RouteError.unavailable(entry.id, because: "it is being created")
        }
        if begun?.replaced != nil {
            guard !canWait else { throw ModuleIsStarting(module: entry.id) }
            throw RouteError.unavailable(entry.id, because: "it is being replaced")
        }
        if canWait, begun?.isPending == true { throw ModuleIsStarting(module: entry.id) }
        if let need = entry.needs.first(where: { self.record(of: $0)?.isAwaited == true }) {
            guard !canWait else { throw ModuleIsStarting(module: need) }
            throw RouteError.unavailable(
                entry.id, because: "it needs \(need), which has not ended")
        }
        if let error = failedNeed(of: entry, find: record(of:)) {
            if begun != nil || isAwaited { keepFailed(at: place) }
            throw ModuleHasFailed(module: entry.id, reason: "it \(error)")
        }
        let start = try begun ?? self.start(entry, at: place)
        if start.process == nil, entry.hasProcess, canWait {
            if begun == nil { onDemand.starts.insert(start) }
            if onDemand.starts.begin([start], in: host) { throw ModuleIsStarting(module: entry.id) }
        }
        let record = start.record
        start.process = start.process ?? processStarts(of: [record]) { _ in start.context }
        // Where it is called from outside, it may take as long as at a launch.
        record.slot.limits.deadline = max(
            record.slot.limits.deadline ?? .zero, slatefile.deadlines.launch)
        let isBehind = gate.lane.relist(record.slot)
        onDemand.starts.take(start, untilLevel: isBehind)
        gate.lane.registerNew(record.slot)
        bind(record, replacingRoutes: entry.hasProcess)
        return start
    }

    /// Makes durable events wait for a module that is about to be made, once a process has started for longer than they
    /// wait for.
    func hold(at place: Int, behind module: ModuleID) {
        let entry = onDemand.entry(at: place)
        if let start = onDemand.starts[entry.id] { return gate.lane.hold(start.record.slot) }
        guard onDemand.place(ofUnmade: entry.id) == place,
            let start = try? start(entry, at: place)
        else { return }
        onDemand.starts.insert(start)
        gate.lane.hold(start.record.slot)
        onDemand.goOn(with: start, after: module)
    }

    /// Gives a module that is about to be made a place and a context.
    private func start(
        _ entry: Slatefile.Module, at place: Int
    ) throws(RouteError) -> LazyStarts.Start {
        guard let host, let calls else { throw .stopped }
        return start(try insertRecord(of: entry, at: place), calls, in: host)
    }

    func start(
        _ record: ModuleRecord, _ calls: CallDispatcher, in host: AppHost
    ) -> LazyStarts.Start {
        let services = HostServices(of: host)
        return LazyStarts.Start(
            record,
            context(of: record, appConfig: slatefile.config, calls: calls, host: services))
    }

    /// Gives a module that is not made a place among those that are.
    private func insertRecord(
        of entry: Slatefile.Module, at place: Int
    ) throws(RouteError) -> ModuleRecord {
        let rank = UInt16(clamping: place + 1)
        guard let record = newPlace(for: entry, rank: rank) else {
            throw .unavailable(entry.id, because: "\(NoPlace(modules: 1))")
        }
        records.insert(record, at: records.partitioningIndex { $0.slot.rank > rank })
        onDemand.noteMade(at: place)
        reportHealth()
        return record
    }

    /// Returns a place for a module that is about to be made, known to the lane; nil where there is no number for it.
    func newPlace(for entry: Slatefile.Module, rank: UInt16) -> ModuleRecord? {
        guard let number = gate.lane.vacantNumbers(1).first else { return nil }
        let slot = ModuleSlot(
            number: number, id: entry.id, limits: ModuleSlot.Limits(of: entry), rank: rank)
        let record = ModuleRecord(entry: entry, slot: slot)
        if entry.idle != nil { record.use = ModuleUse(of: record, in: self) }
        gate.lane.registerNew(slot)
        return record
    }

    /// Makes the routes of a module lead to it from now on.
    func bind(_ record: ModuleRecord, replacingRoutes: Bool) {
        for calls in currentCalls {
            calls.bind(record, as: record.id, replacingRoutes: replacingRoutes)
        }
    }

    /// The dispatchers of the calls of the app, and of a reload in preparation.
    private var currentCalls: [CallDispatcher] {
        [calls, reloads.current?.calls].compactMap(\.self)
    }

    /// Keeps a module that cannot be made as a failed one, if a module that it needs has failed: it is restarted with
    /// that, and durable events wait for it.
    func keepFailed(at place: Int) {
        let entry = onDemand.coming(at: place)
        guard let error = failedNeed(of: entry, find: record(of:)) else { return }
        let record: ModuleRecord
        if let begun = onDemand.starts[entry.id] {
            onDemand.starts.end(begun.record)
            record = begun.record
            // It has failed before: nothing new to report, nor a required one to end the app for.
            if record.isFailed { return attempts.wait(record, for: error) }
        } else if onDemand.place(ofUnmade: entry.id) == place,
            let inserted = try? insertRecord(of: entry, at: place)
        {
            record = inserted
        } else {
            return
        }
        bind(record, replacingRoutes: false)
        fail(record, for: error)
        reportHealth()
    }

    /// The events that a module which is made now has missed, and that it receives first.
    private var eventsMissed: MissedEvents {
        MissedEvents(events: [.launch] + greeting, stateChanges: stateChanges)
    }

    /// The events with which a module that has launched receives the app's state.
    var greeting: [EventKind] { LifecycleState.inactive.path(to: state) }

    // MARK: Places

    /// Begins an attempt to bring a failed module up again: takes its instance down, and puts a place there, which counts
    /// as failed until it is made.
    ///
    /// - Returns: The place; nil where there is no number for it.
    func begin(attemptFor record: ModuleRecord, in host: AppHost) -> LazyStarts.Start? {
        let since = record.since
        guard let failure = record.failure, let start = vacate(record, in: host) else { return nil }
        if failure.need != nil {
            log.of(module: record.id.text).notice("restarting with what it needs")
        }
        onDemand.noteReplaced()
        bind(start.record, replacingRoutes: false)
        start.record.failedSince = since
        apply(.fail(failure), to: start.record)
        unloadingModules.sendShutdownEvents(to: [record], in: host)
        return start
    }

    /// Takes a module down, and puts a place there that has no instance: what waits for the module in the inbox waits for
    /// the place.
    ///
    /// - Returns: The place; nil where there is no number for it.
    func vacate(_ record: ModuleRecord, in host: AppHost) -> LazyStarts.Start? {
        guard let index = index(of: record), let calls,
            let place = newPlace(for: record.entry, rank: record.slot.rank)
        else { return nil }
        // First, since what waits for a failed module is older than what is left of the last host's.
        inbox?.replace(record.slot, by: place.slot)
        _ = gate.lane.passOn(from: record.slot, to: place.slot)
        gate.lane.hold(place.slot)
        let start = start(place, calls, in: host)
        onDemand.starts.insert(start)
        records[index] = place
        if place.entry.hasProcess { place.knownRoutes = calls.routes(of: record.id) }
        // A Swift module adds those again that its class does not list.
        takeDown(record, from: calls, leaving: place.knownRoutes ?? place.entry.placeholderRoutes)
        return start
    }
}

extension Slatefile.Module {
    /// Whether the module is a program.
    package var isCommand: Bool {
        if case .command = implementation { true } else { false }
    }

    /// Whether the module runs in a process of its own.
    var hasProcess: Bool {
        switch implementation {
        case .command: true
        case .entry: isolation == .process
        }
    }
}
