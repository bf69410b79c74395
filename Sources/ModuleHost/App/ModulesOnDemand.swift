import AppService

/// The lazy modules of an app: which of them are made, and what makes the others.
///
/// A module that is not made has no record and no slot, but an entry in three arrays, and its declared uses in the
/// ``DemandTable``. Belongs to the lane.
final class ModulesOnDemand: OnDemandModules {
    unowned let app: App
    /// The target of the routes of all modules that are not made.
    let unmade = UnmadeModule()
    /// Those whose processes start.
    let starts: LazyStarts
    /// By place among the enabled modules: whether it is lazy and not made; empty where no module is lazy.
    private var isUnmade: [Bool] = []
    private var table = DemandTable()
    /// The number of modules that were made or unloaded, or whose instances were replaced, for a reload in preparation.
    private(set) var changes = 0
    /// The number of modules that are not made.
    private(set) var unmadeCount = 0
    /// The times at which modules were unloaded that are not made.
    private(set) var unloadedAt: [ModuleID: WallTime] = [:]

    init(of app: App) {
        self.app = app
        starts = LazyStarts(of: app)
    }

    /// Takes the modules of a slatefile.
    ///
    /// - Parameters:
    ///   - table: Its table.
    ///   - made: The modules that are made, or about to be.
    func take(_ table: DemandTable, made: [ModuleRecord]) {
        self.table = table
        isUnmade = table.isLazy
        if !isUnmade.isEmpty {
            for record in made { isUnmade[Int(record.slot.rank) - 1] = false }
        }
        unmadeCount = isUnmade.count(where: \.self)
        isListening = table.listens
    }

    /// The modules that need each, in order.
    var dependents: [ModuleID: [ModuleID]] { table.dependents }

    /// Whether an event or a message can make a module, or has to wait for one.
    var listens: Bool { isListening || !starts.isEmpty }
    private var isListening = false

    /// Returns the entry of a module.
    func entry(at place: Int) -> Slatefile.Module {
        app.slatefile.modules[Int(table.entries[place])]
    }

    /// Returns the place of a module that is not made.
    func place(ofUnmade module: ModuleID) -> Int? {
        guard unmadeCount > 0, let place = app.calls?.table.contents.position(of: module),
            isUnmade.indices.contains(place), isUnmade[place]
        else { return nil }
        return place
    }

    /// Returns the entry of a module that is not made.
    func entry(ofUnmade module: ModuleID) -> Slatefile.Module? {
        place(ofUnmade: module).map(entry)
    }

    /// Returns the modules that are not made and that some modules need, also for one another.
    func unmadeNeeds(of entries: [Slatefile.Module]) -> Set<ModuleID> {
        guard unmadeCount > 0 else { return [] }
        return entries.needs { place(ofUnmade: $0).map(entry) }
    }

    /// Returns the place of a module that is made and can be unloaded.
    private func place(ofMade record: ModuleRecord) -> Int? {
        let place = Int(record.slot.rank) - 1
        guard isUnmade.indices.contains(place), !isUnmade[place], record.isOnDemand else {
            return nil
        }
        return place
    }

    func noteMade(at place: Int) {
        isUnmade[place] = false
        unmadeCount -= 1
        changes += 1
        if !unloadedAt.isEmpty { unloadedAt[entry(at: place).id] = nil }
    }

    /// Notes that a module is unloaded, and may be made again.
    func noteUnmade(_ record: ModuleRecord) {
        guard let place = place(ofMade: record) else { return }
        isUnmade[place] = true
        unmadeCount += 1
        changes += 1
        unloadedAt[record.id] = .now()
    }

    /// Notes that a module got another instance.
    func noteReplaced() { changes += 1 }

    // MARK: What makes modules

    func makeForCall(_ module: ModuleID, on thread: LaneThread) throws {
        let (place, record) = try app.asHost(on: thread, for: module) {
            (self.place(ofComing: module), app.record(of: module))
        }
        guard let place else {
            if let record, record.isFailed {
                throw ModuleHasFailed(module: module, reason: record.unavailability)
            }
            // A predicate of its route has had it made.
            if record?.isOnDemand == true { return }
            throw RouteError.unavailable(
                module, because: "it is made when it is needed, once the reload is committed")
        }
        // A call in the middle of another module's blocks that module; any other one waits as a job.
        try bringUp(place, canWait: thread.ownership.slot == 0, on: thread)
    }

    func wait(_ call: any LaneJob, for module: ModuleID) {
        if !starts.keep(call, for: module) { app.gate.lane.prepend([call]) }
    }

    func keeps(_ call: any LaneJob) -> Bool { app.launch.keeps(call) }

    func unmadeCommand(_ id: some StringProtocol) -> ModuleID? {
        guard !table.commands.isEmpty, !app.phase.isEnding,
            let places = table.commands[id.lowercased()]
        else { return nil }
        // Where ids differ in case alone, the one that is spelt like this.
        let unmade = places.lazy.map(Int.init).filter {
            self.isUnmade[$0] || self.app.record(at: $0)?.hasNeverRun == true
                || self.starts[self.entry(at: $0).id] != nil
        }
        let place = unmade.first { self.entry(at: $0).id.text == id } ?? unmade.first
        return place.map { entry(at: $0).id }
    }

    /// The result of making modules for an event.
    enum Readiness {
        /// Those that can be made are.
        case ready
        /// The job waits, and is run again.
        case kept
        /// The lane was lost.
        case lost
    }

    /// Makes the modules that an event concerns and that are not made, in order, before it begins.
    ///
    /// A module that cannot be made receives nothing: the event goes on without it, and where it is durable, it waits
    /// for a module that has failed, or whose process takes long to start.
    func makeModules(
        for event: LifecycleEvent, of job: any LaneJob, on thread: LaneThread
    ) -> Readiness {
        guard event.kind.makesModules, !app.phase.isEnding else { return .ready }
        let isDurable = event.entry != nil
        var starting: [(place: Int, module: ModuleID)] = []
        for place in table.places(for: event) where event.isFor(entry(at: place).id) {
            guard isComing(place) else {
                app.record(at: place)?.use?.note()
                continue
            }
            if let module = begin(place, isAwaited: isDurable, on: thread) {
                starting.append((place, module))
            }
            guard app.gate.lane.owns(thread) else { return .lost }
        }
        guard isDurable else {
            let waited = starting.first?.module ?? starts.replaced(receiving: event)
            return waited.map { starts.keep(job, for: $0) } == true ? .kept : .ready
        }
        if starts.keep(durable: job, for: starting.map(\.module)) { return .kept }
        for (place, module) in starting { app.hold(at: place, behind: module) }
        return .ready
    }

    /// Makes the modules for which events of the inbox have waited since an earlier host.
    ///
    /// - Parameters:
    ///   - modules: The modules.
    ///   - job: The calling job, which waits for those whose processes start.
    ///   - thread: The calling thread, which owns the lane.
    /// - Returns: As for an event.
    func makeModules(
        behind modules: some Sequence<ModuleID>, of job: any LaneJob, on thread: LaneThread
    ) -> Readiness {
        var starting: ModuleID?
        for place in modules.compactMap({ place(ofComing: $0) }).sorted() {
            let module = begin(place, isAwaited: true, on: thread)
            starting = starting ?? module
            guard app.gate.lane.owns(thread) else { return .lost }
        }
        return starting.map { starts.keep(job, for: $0) } == true ? .kept : .ready
    }

    /// Goes on with a module for which durable events wait, when one that it needs is made or has failed.
    func goOn(with start: LazyStarts.Start, after need: ModuleID) {
        guard let host = app.host else { return }
        let confined = LaneConfined(start)
        wait(
            LaneWork(limit: .launch) { [app = host.app] thread in
                let (app, start) = (app.open(on: thread), confined.open(on: thread))
                app.onDemand.goOn(with: start, on: thread)
            }, for: need)
    }

    /// Goes on with a module whose process has declared itself, or which may be next.
    func goOn(with start: LazyStarts.Start, on thread: LaneThread) {
        guard starts[start.record.id] === start, !app.phase.isEnding else { return }
        let (id, place) = (start.record.id, Int(start.record.slot.rank) - 1)
        // The failed instance may take long for its end: goes on when it is released.
        if start.record.isFailed, app.unloadingModules.contains(id) { return }
        if start.process?[id]?.hasSucceeded == true {
            return app.markDone(start.record)
        }
        if start.record.isFailed,
            let need = start.record.entry.needs.first(where: { starts[$0] != nil })
        {
            return goOn(with: start, after: need)
        }
        let awaited = begin(place, isAwaited: true, on: thread)
        if let awaited, awaited != id { goOn(with: start, after: awaited) }
        // An attempt that could not be made for another reason than a failed module, such as a lack of places.
        guard awaited == nil, app.gate.lane.owns(thread), starts[id] === start,
            start.record.isFailed
        else { return }
        starts.end(start.record)
        app.attempts.schedule(start.record)
    }

    func makeProvider(of service: ObjectIdentifier, on thread: LaneThread) throws -> Bool {
        guard let place = table.place(of: service) else { return false }
        guard app.gate.lane.asHost(on: thread, { isComing(place) }) == true else {
            let reason = app.gate.lane.asHost(on: thread) {
                app.record(at: place).flatMap { $0.isFailed ? ($0.id, $0.unavailability) : nil }
            }
            if let reason = reason ?? nil {
                throw ServiceError.notMade(reason.0, because: reason.1)
            }
            return false
        }
        do {
            try bringUp(place, canWait: false, on: thread)
            return true
        } catch let failure as ModuleHasFailed {
            throw ServiceError.notMade(failure.module, because: failure.reason)
        } catch RouteError.unavailable(let module, let reason) {
            throw ServiceError.notMade(module, because: reason)
        }
    }

    func declares(_ service: ObjectIdentifier) -> Bool {
        table.place(of: service).map { isUnmade[$0] } ?? false
    }

    func absence(
        of service: ObjectIdentifier, _ name: String, for caller: ModuleSlot?
    ) -> ServiceError? {
        let absent = ((app.reloads.current?.staged ?? []) + app.records).first { record in
            record.module == nil && record.slot !== caller && record.entry.declares(service)
        }
        guard let absent else { return nil }
        return absent.isFailed
            ? .notMade(absent.id, because: absent.unavailability)
            : .notYetProvided(name, by: absent.id)
    }

    /// Ends the app before READY.
    func noteDuplicate(by slot: ModuleSlot, _ error: ServiceError) {
        guard app.phase.isBeforeReady, let id = slot.id else { return }
        app.host?.fail("invalid services: \(id): \(error)")
    }

    // MARK: Those that are about to be made

    /// Returns whether a module is not made yet, and its process may start.
    ///
    /// False for a failed one that is tried again.
    func isComing(_ place: Int) -> Bool {
        isUnmade[place] || starts[entry(at: place).id]?.record.isFailed == false
    }

    /// Returns the entry of a module that is not made, or is about to be.
    func coming(at place: Int) -> Slatefile.Module {
        app.record(at: place)?.entry ?? entry(at: place)
    }

    func place(ofComing module: ModuleID) -> Int? {
        place(ofUnmade: module)
            ?? starts[module].flatMap { start in
                // A program that ends is brought up by the host alone.
                start.record.isFailed || start.record.entry.ends
                    ? nil : Int(start.record.slot.rank) - 1
            }
    }
}
