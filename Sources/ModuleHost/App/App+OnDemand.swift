import AppService

/// Making a lazy module: in a job of its own kind, or in the middle of a call of another module.
extension App {
    /// Runs host code in the middle of a call to a module.
    func asHost<Result>(
        on thread: LaneThread, for module: ModuleID, _ body: () throws -> Result
    ) throws -> Result {
        let result = gate.lane.asHost(on: thread) { Swift.Result { try body() } }
        guard let result else { throw RouteError.tookTooLong(module) }
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

    /// A module that is about to be made.
    private struct Making {
        let record: ModuleRecord
        let context: ModuleContext
        let starts: ProcessStarts
        /// The events that it has missed, for which it is made too late.
        let events: [LifecycleEvent]
    }

    /// Makes a module that is not made: `init`, `launch`, and the present state of the app.
    ///
    /// A module that fails stays as a failed one, until its next attempt.
    ///
    /// - Parameters:
    ///   - place: Its place among the enabled modules.
    ///   - isAwaited: Whether a durable event is for it: where a module that it needs has failed, it stays as a failed
    ///     one, too, and the event waits for it.
    ///   - thread: The calling thread, which owns the lane, in the host or in a module.
    ///   - makeNeed: Makes a module that it needs, if that is not made.
    /// - Returns: Its id.
    /// - Throws: ``ModuleHasFailed`` where a module that it needs has failed; ``RouteError`` where it is not made at all
    ///   for another reason, or takes too long.
    func makeOnDemand(
        at place: Int, isAwaited: Bool, on thread: LaneThread,
        _ makeNeed: (ModuleID) throws -> Void
    ) throws -> ModuleID {
        guard let entry = gate.lane.asHost(on: thread, { onDemand.entry(at: place) }) else {
            throw LaneLost()
        }
        for need in entry.needs {
            do {
                try makeNeed(need)
            } catch let failure as ModuleHasFailed where failure.module == need {
                try asHost(on: thread, for: entry.id) {
                    if isAwaited { keepFailed(entry, at: place) }
                }
                throw ModuleHasFailed(
                    module: entry.id, reason: "it needs \(need): \(failure.reason)")
            } catch RouteError.unavailable(let module, let reason) where module == need {
                throw RouteError.unavailable(entry.id, because: "it needs \(need): \(reason)")
            }
        }
        let making = try asHost(on: thread, for: entry.id) {
            try beginMaking(entry, at: place, isAwaited: isAwaited)
        }
        let (record, isNested) = (making.record, thread.ownership.slot != 0)
        let start = making.starts[record.id]
        let context = start?.context.openInModule() ?? making.context
        make(record, with: context, start, on: thread, isNested: isNested) { error in
            failedToMake(record, error)
        }
        try asHost(on: thread, for: entry.id) {
            making.starts.cancel()
            guard !record.isFailed, phase != .making else { return }
            record.status = .launched
            metrics.withLock { $0.modulesRunning += 1 }
            (record.missed, record.stateChanges) = (making.events, stateChanges)
        }
        var isAfterOne = false
        while let (event, members) = try asHost(
            on: thread, for: entry.id, { nextMissed(by: record, isAfterOne: isAfterOne) })
        {
            isAfterOne = true
            let isOurs = notify(record, members, event, on: thread) { error in
                _ = gate.lane.asHost(on: thread) { failed(record.slot, in: event, error) }
            }
            guard isOurs else { throw RouteError.tookTooLong(entry.id) }
        }
        try asHost(on: thread, for: entry.id) { endMaking(of: record) }
        return entry.id
    }

    /// Marks a module as failed that could not be made.
    func failedToMake(_ record: ModuleRecord, _ error: any Error) {
        markFailed(record, "init", error)
        release(of: record.slot)
        // A call by one of these routes is answered with the error.
        guard record.isOnDemand, record.entry.hasProcess else { return }
        for calls in currentCalls {
            calls.addPlaceholders(record.entry.placeholderRoutes, of: record.id)
        }
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
        if isAfterOne, record.missed?.isEmpty == false { record.missed?.removeFirst() }
        guard !record.isFailed, let event = record.missed?.first else { return nil }
        return (event, center.members(of: record.slot))
    }

    /// Ends the making of a module: it is one like any other from now on.
    private func endMaking(of record: ModuleRecord) {
        let isLaunched = record.missed != nil
        record.missed = nil
        record.slot.limits = ModuleSlot.Limits(of: record.entry)
        guard isLaunched, !record.isFailed, !phase.isEnding else { return }
        beginRun(of: record)
        retries.end(of: record.id)
        record.use?.begin()
        // Those that have failed for want of it are restarted.
        if onDemand.needed.contains(record.id) {
            host?.onLane { app, _ in app.retries.restart() }
        }
    }

    /// Ends the making of a module that was overdue in `launch`, or in the event behind it, and has caught up.
    func endMakingLate(of record: ModuleRecord) {
        guard record.missed != nil else { return }
        let slot = record.slot
        host?.onLane { app, thread in
            guard let record = app.record(of: slot), record.missed != nil else { return }
            // A change of the state that came meanwhile was an event, which it has received by now.
            if app.stateChanges != record.stateChanges { record.missed = [] }
            while let (event, members) = app.nextMissed(by: record, isAfterOne: true) {
                let isOurs = app.notify(record, members, event, on: thread) {
                    _ = app.failed(record.slot, in: event, $0)
                }
                guard isOurs else { return }
            }
            app.endMaking(of: record)
        }
    }

    private func beginMaking(
        _ entry: Slatefile.Module, at place: Int, isAwaited: Bool
    ) throws -> Making {
        // A durable event that stands before the stop is delivered, and lost for a module that is not made for it.
        guard let host, let calls, !phase.isEnding, isAwaited || !host.isStopping, phase != .made
        else { throw RouteError.stopped }
        guard onDemand.place(ofUnmade: entry.id) == place else {
            throw RouteError.unavailable(entry.id, because: "it is being created")
        }
        if let error = failedNeed(of: entry, find: record(of:)) {
            if isAwaited { keepFailed(entry, at: place) }
            throw ModuleHasFailed(module: entry.id, reason: "it \(error)")
        }
        let record = try insertRecord(of: entry, at: place, replacingRoutes: entry.hasProcess)
        // Where it is called from outside, it may take as long as at a launch.
        record.slot.limits.deadline = max(
            record.slot.limits.deadline ?? .zero, slatefile.deadlines.launch)
        let context = context(
            of: record, appConfig: slatefile.config, calls: calls, host: HostServices(of: host))
        return Making(
            record: record, context: context, starts: processStarts(of: [record]) { _ in context },
            events: eventsMissed)
    }

    /// Gives a module that is not made a place among those that are.
    private func insertRecord(
        of entry: Slatefile.Module, at place: Int, replacingRoutes: Bool
    ) throws(RouteError) -> ModuleRecord {
        guard let number = gate.lane.vacantNumbers(1).first else {
            throw .unavailable(entry.id, because: "\(NoPlace(modules: 1))")
        }
        let slot = ModuleSlot(
            number: number, id: entry.id, limits: ModuleSlot.Limits(of: entry),
            rank: UInt16(clamping: place + 1))
        let record = ModuleRecord(entry: entry, slot: slot)
        gate.lane.registerNew(slot)
        records.insert(record, at: records.partitioningIndex { $0.slot.rank > slot.rank })
        onDemand.noteMade(at: place)
        if phase.isBeforeReady { noteNeeds(of: record) }
        if entry.idle != nil { record.use = ModuleUse(of: record, in: self) }
        for calls in currentCalls {
            calls.bind(record, as: entry.id, replacingRoutes: replacingRoutes)
        }
        reportHealth()
        return record
    }

    /// The dispatchers of the calls of the app, and of a reload in preparation.
    private var currentCalls: [CallDispatcher] {
        [calls, reloads.current?.calls].compactMap(\.self)
    }

    /// Keeps a module that cannot be made as a failed one, if a module that it needs has failed: it is restarted with
    /// that, and durable events wait for it.
    private func keepFailed(_ entry: Slatefile.Module, at place: Int) {
        guard let error = failedNeed(of: entry, find: record(of:)),
            onDemand.place(ofUnmade: entry.id) == place,
            let record = try? insertRecord(of: entry, at: place, replacingRoutes: false)
        else { return }
        fail(record, for: error)
        reportHealth()
    }

    /// The events that a module which is made now has missed, and that it receives first.
    private var eventsMissed: [LifecycleEvent] {
        guard phase != .making else { return [] }
        let launch = LifecycleEvent.launch(Launch(origin: .host, app: slatefile.app))
        return [launch] + (greeting.map { [.state($0, origin: .host)] } ?? [])
    }

    /// The event with which a module that is made while the app runs receives the app's state; nil for none.
    var greeting: EventKind? {
        switch state {
        case .active: .activate
        case .background: .background
        case .launching, .inactive, .terminating, .terminated: nil
        }
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
