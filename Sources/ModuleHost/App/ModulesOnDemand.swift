import AppService

/// The lazy modules of an app: which of them are made, and what makes the others.
///
/// A module that is not made has no record and no slot, but an entry in three arrays, and its declared uses in the
/// ``DemandTable``. Belongs to the lane.
final class ModulesOnDemand: OnDemandModules {
    unowned let app: App
    /// The target of the routes of all modules that are not made.
    let unmade = UnmadeModule()
    /// By place among the enabled modules: the index of its entry in the slatefile.
    private var entries: [UInt16] = []
    /// By place: whether it is lazy and not made.
    private var isUnmade: [Bool] = []
    private var table = DemandTable()
    /// The places of the lazy modules that are commands, by their ids in lower case: a URL may spell one so.
    private var commands: [String: [UInt16]] = [:]
    /// The modules that others need, which stay as long as those are made.
    private(set) var needed: Set<ModuleID> = []
    /// The number of modules that were made or unloaded, for a reload in preparation.
    private(set) var changes = 0
    /// The number of modules that are not made.
    private(set) var unmadeCount = 0

    init(of app: App) { self.app = app }

    /// Takes the modules of a slatefile.
    ///
    /// - Parameters:
    ///   - slatefile: The current slatefile.
    ///   - made: The modules that are made, or about to be.
    func take(_ slatefile: Slatefile, made: [ModuleRecord]) {
        guard slatefile.modules.contains(where: { $0.isEnabled && $0.isLazy }) else {
            (entries, isUnmade, table, needed, unmadeCount) = ([], [], DemandTable(), [], 0)
            (commands, listens) = ([:], false)
            return
        }
        let known = Set(made.map(\.id))
        (entries, isUnmade, commands) = ([], [], [:])
        table = DemandTable(of: slatefile)
        needed = slatefile.neededModules
        entries.reserveCapacity(slatefile.modules.count)
        isUnmade.reserveCapacity(slatefile.modules.count)
        for (index, module) in slatefile.modules.enumerated() where module.isEnabled {
            if module.isLazy, case .command = module.implementation {
                commands[module.id.text.lowercased(), default: []].append(UInt16(entries.count))
            }
            entries.append(UInt16(clamping: index))
            isUnmade.append(module.isLazy && !known.contains(module.id))
        }
        unmadeCount = isUnmade.count(where: \.self)
        listens = table.listens
    }

    /// Whether an event or a message can make a module.
    private(set) var listens = false

    /// The modules that are not made.
    var unmadeModules: [Slatefile.Module] { places { isUnmade[$0] }.map(entry) }

    private func places(where isMeant: (Int) -> Bool) -> [Int] { entries.indices.filter(isMeant) }

    /// Returns the entry of a module.
    func entry(at place: Int) -> Slatefile.Module { app.slatefile.modules[Int(entries[place])] }

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
    }

    /// Notes that a module is unloaded, and may be made again.
    func noteUnmade(_ record: ModuleRecord) {
        guard let place = place(ofMade: record) else { return }
        isUnmade[place] = true
        unmadeCount += 1
        changes += 1
    }

    // MARK: What makes modules

    func makeForCall(_ module: ModuleID, on thread: LaneThread) throws {
        let (place, record) = try app.asHost(on: thread, for: module) {
            (self.place(ofUnmade: module), app.record(of: module))
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
        try make(place, on: thread)
    }

    func unmadeCommand(_ id: some StringProtocol) -> ModuleID? {
        guard !commands.isEmpty, !app.phase.isEnding, let places = commands[id.lowercased()]
        else { return nil }
        // Where ids differ in case alone, the one that is spelt like this.
        let unmade = places.lazy.map(Int.init).filter {
            self.isUnmade[$0] || self.app.record(at: $0)?.hasNeverRun == true
        }
        let place = unmade.first { self.entry(at: $0).id.text == id } ?? unmade.first
        return place.map { entry(at: $0).id }
    }

    /// Makes the modules that an event concerns and that are not made, in order, before it begins.
    ///
    /// A module that cannot be made receives nothing: the event goes on without it, and where it is durable, it waits
    /// for a module that has failed.
    ///
    /// - Returns: False where the lane was lost.
    func makeModules(for event: LifecycleEvent, on thread: LaneThread) -> Bool {
        guard event.kind.makesModules, !app.phase.isEnding else { return true }
        for place in table.places(for: event) where event.isFor(entry(at: place).id) {
            if isUnmade[place] {
                _ = try? make(place, isAwaited: event.entry != nil, on: thread)
                guard app.gate.lane.owns(thread) else { return false }
            } else {
                app.record(at: place)?.use?.note()
            }
        }
        return true
    }

    /// Makes the modules for which events of the inbox have waited since an earlier host.
    ///
    /// - Returns: False where the lane was lost.
    func makeModules(behind modules: some Sequence<ModuleID>, on thread: LaneThread) -> Bool {
        let places = modules.compactMap { place(ofUnmade: $0) }.sorted()
        for place in places {
            _ = try? make(place, isAwaited: true, on: thread)
            guard app.gate.lane.owns(thread) else { return false }
        }
        return true
    }

    func makeProvider(of service: ObjectIdentifier, on thread: LaneThread) throws -> Bool {
        guard let place = table.place(of: service) else { return false }
        guard app.gate.lane.asHost(on: thread, { isUnmade[place] }) == true else {
            let reason = app.gate.lane.asHost(on: thread) {
                app.record(at: place).flatMap { $0.isFailed ? ($0.id, $0.unavailability) : nil }
            }
            if let reason = reason ?? nil {
                throw ServiceError.notMade(reason.0, because: reason.1)
            }
            return false
        }
        do {
            try make(place, on: thread)
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

    /// Makes a module that is not made, after those that it needs.
    ///
    /// - Parameters:
    ///   - place: Its place among the enabled modules.
    ///   - isAwaited: As for ``App/makeOnDemand(at:isAwaited:on:_:)``; the modules that it needs count, too.
    ///   - thread: The calling thread, which owns the lane.
    /// - Throws: ``ModuleHasFailed``; ``RouteError`` where it is not made for another reason.
    private func make(_ place: Int, isAwaited: Bool = false, on thread: LaneThread) throws {
        let id = try app.makeOnDemand(at: place, isAwaited: isAwaited, on: thread) { [self] need in
            if let place = self.place(ofUnmade: need) {
                try make(place, isAwaited: isAwaited, on: thread)
            }
        }
        let reason = try app.asHost(on: thread, for: id) {
            app.record(at: place).flatMap { $0.isFailed ? $0.unavailability : nil }
        }
        if let reason { throw ModuleHasFailed(module: id, reason: reason) }
    }
}
