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
        let (id, start, events) = try asHost(on: thread) {
            try beginMaking(at: place, isAwaited: isAwaited, canWait: canWait)
        }
        let (record, process) = (start.record, start.process?[id])
        let isNested = thread.ownership.slot != 0
        make(record, with: start.context, process, on: thread, isNested: isNested) { error in
            failedToMake(record, error)
        }
        try asHost(on: thread, for: id) {
            start.process?.cancel()
            guard !record.isFailed, phase != .making else { return }
            record.status = .launched
            metrics.withLock { $0.modulesRunning += 1 }
            (record.missed, record.stateChanges) = (events, stateChanges)
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
        try asHost(on: thread, for: id) { endMaking(of: record) }
        return id
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
        catchUpNext(record)
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

    /// Begins to make a module.
    ///
    /// - Returns: Its id, its place, and the events that it has missed, for which it is made too late.
    private func beginMaking(
        at place: Int, isAwaited: Bool, canWait: Bool
    ) throws -> (ModuleID, LazyStarts.Start, [LifecycleEvent]) {
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
        if let error = failedNeed(of: entry, find: record(of:)) {
            if let begun {
                onDemand.starts.take(begun, untilLevel: false)
                keepFailed(begun.record, for: error)
            } else if isAwaited {
                keepFailed(entry, at: place)
            }
            throw ModuleHasFailed(module: entry.id, reason: "it \(error)")
        }
        let start = try begun ?? self.start(entry, at: place)
        if start.process == nil, entry.hasProcess, canWait {
            if begun == nil { onDemand.starts.insert(start) }
            if onDemand.starts.begin(start) { throw ModuleIsStarting(module: entry.id) }
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
        return (entry.id, start, eventsMissed)
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
        let record = try insertRecord(of: entry, at: place)
        let context = context(
            of: record, appConfig: slatefile.config, calls: calls, host: HostServices(of: host))
        return LazyStarts.Start(record, context)
    }

    /// Gives a module that is not made a place among those that are.
    private func insertRecord(
        of entry: Slatefile.Module, at place: Int
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
        reportHealth()
        return record
    }

    /// Makes the routes of a module lead to it from now on.
    private func bind(_ record: ModuleRecord, replacingRoutes: Bool) {
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
    func keepFailed(_ entry: Slatefile.Module, at place: Int) {
        guard let error = failedNeed(of: entry, find: record(of:)),
            onDemand.place(ofUnmade: entry.id) == place,
            let record = try? insertRecord(of: entry, at: place)
        else { return }
        keepFailed(record, for: error)
    }

    private func keepFailed(_ record: ModuleRecord, for error: FailedNeed) {
        bind(record, replacingRoutes: false)
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
