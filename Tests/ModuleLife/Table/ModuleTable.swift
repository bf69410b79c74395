/// The lives of an app's modules: a value without lane, log or clock.
///
/// ``apply(_:)`` is the only writer. It makes the change that an input asks for, settles the table, and returns the
/// effects. What is wanted, missing or about to move is computed from the lives whenever it is asked, and stored nowhere.
struct ModuleTable: Hashable, Sendable {
    /// The phases of the app, as far as modules differ in them.
    enum Phase: UInt8, Hashable, Sendable {
        /// Eager modules come up for the first time.
        case launching
        case running
        /// Every instance is taken down.
        case stopping
        case over
    }

    let entries: [ModuleEntry]
    private(set) var phase = Phase.launching
    private(set) var modules: [HostedModule]
    private(set) var batch: ReplacementBatch?

    /// Creates the table of an app that ``launch()`` begins to bring up.
    init(_ entries: [ModuleEntry]) {
        self.entries = entries
        modules = entries.map { _ in HostedModule() }
    }

    /// Begins the launch.
    mutating func launch() -> [ModuleEffect] {
        var effects: [ModuleEffect] = []
        settle(&effects)
        return effects
    }

    /// Makes a change, and settles the table.
    ///
    /// - Returns: The work that the change calls for, in order.
    mutating func apply(_ input: ModuleInput) -> [ModuleEffect] {
        var effects: [ModuleEffect] = []
        change(input, &effects)
        settle(&effects)
        return effects
    }

    // MARK: Derived

    /// Whether a module counts as running for those that need it.
    func isUp(_ place: Place) -> Bool {
        switch modules[place].life {
        case .running, .done: true
        case .idle, .failed, .due, .making, .launching, .unloading: false
        }
    }

    /// Whether a module is to run: an eager one, one that is used, and what these need.
    func isWanted(_ place: Place) -> Bool {
        let module = modules[place]
        guard phase < .stopping, !module.isGone else { return false }
        return !entries[place].isLazy || module.hasCallers || module.isOwed || isNeeded(place)
    }

    /// Whether a module that is wanted, or that has an instance, needs this one.
    func isNeeded(_ place: Place) -> Bool {
        entries.indices.contains { other in
            other > place && entries[other].needs.contains(place) && modules[other].life != .done
                && (isWanted(other) || modules[other].life.hasInstance
                    || modules[other].staged != nil)
        }
    }

    /// Returns the first need of a module that does not run; nil where all run.
    func missingNeed(of place: Place) -> Place? {
        entries[place].needs.first { !isUp($0) }
    }

    /// Whether a module can come up without an alarm, a return or a person.
    func willMove(_ place: Place) -> Bool {
        let module = modules[place]
        if module.staged != nil { return true }
        switch module.life {
        case .making, .launching, .unloading: return true
        case .running, .done, .failed: return false
        case .idle, .due: break
        }
        if module.isStuck || module.isGone { return false }
        return entries[place].needs.allSatisfy { isUp($0) || willMove($0) }
    }

    /// Whether a module is down although it is to run, and does not move: it failed, or one that it needs did.
    func isFailed(_ place: Place) -> Bool {
        switch modules[place].life {
        case .failed: !modules[place].isGone
        case .idle, .due: isWanted(place) && !willMove(place)
        case .done, .making, .launching, .running, .unloading: false
        }
    }

    /// The modules by what they do, for the metrics and the health of the host.
    var counts: ModuleCounts {
        var counts = ModuleCounts()
        for place in modules.indices where !modules[place].isGone {
            counts.modules += 1
            switch modules[place].life {
            case .running: counts.running += 1
            case .making, .launching, .unloading, .idle, .due, .done, .failed: break
            }
            if isFailed(place) { counts.failed += 1 }
        }
        return counts
    }

    /// Whether any module changes without an alarm, a use or a person.
    var isMoving: Bool {
        batch != nil || modules.contains { $0.life.isMoving || $0.isLeaving }
    }

    /// Whether only a stop or a reload may take the module down: it is used, needed, or about to be replaced.
    func isKept(_ place: Place) -> Bool {
        let module = modules[place]
        return module.hasCallers || module.isOwed || module.staged != nil || isNeeded(place)
    }

    // MARK: The change

    private mutating func change(_ input: ModuleInput, _ effects: inout [ModuleEffect]) {
        switch input {
        case .call(let place):
            modules[place].hasCallers = true
            if modules[place].life == .running { return answer(place, true, &effects) }
            if phase >= .stopping || modules[place].isGone || modules[place].life == .done {
                answer(place, false, &effects)
            }
        case .durable(let place):
            if modules[place].isGone || modules[place].life == .done { return }
            modules[place].isOwed = true
            if modules[place].life == .running { deliver(place, &effects) }
        case .made(let place):
            guard phase < .stopping else { return takeDown(place, &effects) }
            modules[place].life = .launching
            effects.append(.launch(place))
        case .launched(let place):
            guard phase < .stopping else { return takeDown(place, &effects) }
            runs(place, &effects)
        case .failed(let place), .died(let place):
            fails(place, &effects)
        case .late(let place):
            modules[place].isStuck = true
            fails(place, &effects)
        case .ended(let place):
            modules[place].life = .done
            answer(place, false, &effects)
            modules[place].isOwed = false
        case .stagedMade(let place):
            guard phase < .stopping else { return dropStaged(place, &effects) }
            modules[place].staged = .launching
            effects.append(.launchStaged(place))
        case .stagedLaunched(let place):
            guard phase < .stopping else { return dropStaged(place, &effects) }
            modules[place].staged = .ready
        case .stagedFailed(let place):
            modules[place].staged = phase < .stopping ? .failed : nil
        case .stagedLate(let place):
            modules[place].isStuck = true
            modules[place].staged = phase < .stopping ? .failed : nil
        case .returned(let place):
            modules[place].isStuck = false
        case .unloaded(let place):
            modules[place].life = .idle
        case .left(let place):
            modules[place].isLeaving = false
        case .alarm(let place):
            modules[place].hasAlarm = false
            if modules[place].life == .failed { modules[place].life = .due }
        case .idle(let place), .unload(let place):
            guard !isKept(place) else { return }
            takeDown(place, &effects)
        case .restart(let place):
            restart(place)
        case .reload(let recreated, let removed, let failure):
            begin(recreated, removed, failure)
        case .stop:
            stop(&effects)
        }
    }

    private mutating func runs(_ place: Place, _ effects: inout [ModuleEffect]) {
        modules[place].life = .running
        answer(place, true, &effects)
        deliver(place, &effects)
    }

    private mutating func fails(_ place: Place, _ effects: inout [ModuleEffect]) {
        guard phase < .stopping else {
            modules[place].life = .idle
            return
        }
        modules[place].life = .failed
        if entries[place].isRetried, !modules[place].hasAlarm {
            modules[place].hasAlarm = true
            effects.append(.setAlarm(place))
        }
        // Callers of a module in a batch wait for the batch.
        if modules[place].staged == nil { answer(place, false, &effects) }
    }

    private mutating func takeDown(_ place: Place, _ effects: inout [ModuleEffect]) {
        modules[place].life = .unloading
        effects.append(.unload(place))
    }

    private mutating func dropStaged(_ place: Place, _ effects: inout [ModuleEffect]) {
        modules[place].staged = nil
        modules[place].isLeaving = true
        effects.append(.release(place))
    }

    private mutating func answer(
        _ place: Place, _ succeeded: Bool, _ effects: inout [ModuleEffect]
    ) {
        guard modules[place].hasCallers else { return }
        modules[place].hasCallers = false
        effects.append(.answer(place, succeeded: succeeded))
    }

    private mutating func deliver(_ place: Place, _ effects: inout [ModuleEffect]) {
        guard modules[place].isOwed else { return }
        modules[place].isOwed = false
        effects.append(.deliver(place))
    }

    /// Restarts a module by hand: a failed one is due at once, another one is replaced.
    private mutating func restart(_ place: Place) {
        switch modules[place].life {
        case .failed, .due: (modules[place].life, modules[place].hasAlarm) = (.due, false)
        case .done: modules[place].life = .idle
        case .running: begin([place], [], .undoesAll)
        case .idle, .making, .launching, .unloading: break
        }
    }

    // MARK: Replacements

    /// Whether a batch may concern a module: no other instance of it is brought up or taken down, or overran.
    func canReplace(_ place: Place) -> Bool {
        let module = modules[place]
        return !module.life.isMoving && !module.isLeaving && !module.isStuck
    }

    private mutating func begin(
        _ recreated: [Place], _ removed: [Place], _ failure: ReplacementBatch.Failure
    ) {
        for place in recreated { modules[place].staged = .waiting }
        batch = ReplacementBatch(removed: removed, failure: failure, isStopping: true)
    }

    /// Goes on with the batch as far as nothing has to be awaited.
    private mutating func advanceBatch(_ effects: inout [ModuleEffect]) {
        guard let current = batch, phase < .stopping else { return }
        let members = modules.indices.filter { modules[$0].staged != nil }
        if current.isStopping {
            let stopped = members.filter { entries[$0].stopsFirst }
            if stopped.contains(where: { modules[$0].life == .unloading }) { return }
            if let last = stopped.last(where: { modules[$0].life.hasInstance }) {
                return takeDown(last, &effects)
            }
            batch?.isStopping = false
        }
        if members.contains(where: {
            modules[$0].staged == .making || modules[$0].staged == .launching
        }) {
            return
        }
        if current.failure == .undoesAll, members.contains(where: { modules[$0].staged == .failed })
        {
            return rollBack(members, &effects)
        }
        for place in members where modules[place].staged == .waiting {
            let missing = entries[place].needs.first { !isUp($0) && modules[$0].staged != .ready }
            guard let missing else {
                modules[place].staged = .making
                return effects.append(.makeStaged(place))
            }
            if modules[missing].staged == nil, willMove(missing) { return }
            modules[place].staged = .failed
            if current.failure == .undoesAll { return rollBack(members, &effects) }
        }
        commit(members, current.removed, &effects)
    }

    private mutating func rollBack(_ members: [Place], _ effects: inout [ModuleEffect]) {
        for place in members.reversed() {
            if modules[place].staged == .ready {
                dropStaged(place, &effects)
            } else {
                modules[place].staged = nil
            }
        }
        batch = nil
        effects.append(.rolledBack)
    }

    private mutating func commit(
        _ members: [Place], _ removed: [Place], _ effects: inout [ModuleEffect]
    ) {
        batch = nil
        for place in removed {
            modules[place].isGone = true
            modules[place].hasAlarm = false
            answer(place, false, &effects)
            if modules[place].isOwed {
                modules[place].isOwed = false
                effects.append(.moveToDeadLetters(place))
            }
            if modules[place].life == .running {
                takeDown(place, &effects)
            } else if !modules[place].life.hasInstance {
                modules[place].life = .idle
            }
        }
        for place in members.reversed() where modules[place].staged == .ready {
            guard modules[place].life == .running else { continue }
            modules[place].isLeaving = true
            effects.append(.release(place))
        }
        for place in members {
            let isReady = modules[place].staged == .ready
            modules[place].staged = nil
            guard isReady else { continue }
            (modules[place].isGone, modules[place].hasAlarm) = (false, false)
            runs(place, &effects)
        }
        effects.append(.committed)
    }

    // MARK: The stop

    private mutating func stop(_ effects: inout [ModuleEffect]) {
        guard phase < .stopping else { return }
        phase = .stopping
        batch = nil
        for place in modules.indices.reversed() {
            modules[place].hasAlarm = false
            answer(place, false, &effects)
            switch modules[place].staged {
            case .ready: dropStaged(place, &effects)
            case .waiting, .failed: modules[place].staged = nil
            case .making, .launching, nil: break
            }
            if modules[place].life == .running { takeDown(place, &effects) }
            if !modules[place].life.hasInstance { modules[place].life = .idle }
        }
    }

    // MARK: Settling

    /// Compares what is wanted with what is, for every module; needs come first.
    private mutating func settle(_ effects: inout [ModuleEffect]) {
        if phase == .stopping {
            guard !modules.contains(where: \.hasAnyInstance) else { return }
            phase = .over
            return effects.append(.over)
        }
        guard phase < .stopping else { return }
        endIfRequiredIsMissing(&effects)
        // A batch that ends may reveal that a required module is missing.
        if phase < .stopping {
            advanceBatch(&effects)
            endIfRequiredIsMissing(&effects)
        }
        guard phase < .stopping else { return }
        for place in modules.indices where modules[place].staged == nil && isWanted(place) {
            switch modules[place].life {
            case .idle, .due: break
            case .failed, .done, .making, .launching, .running, .unloading: continue
            }
            guard !modules[place].isStuck, missingNeed(of: place) == nil,
                batch?.removed.contains(place) != true
            else { continue }
            modules[place].life = .making
            effects.append(.make(place))
        }
        // Callers do not wait for alarms.
        for place in modules.indices where modules[place].hasCallers && !willMove(place) {
            answer(place, false, &effects)
        }
        guard phase == .launching, !modules.indices.contains(where: awaitsLaunch) else { return }
        phase = .running
        effects.append(.ready)
    }

    private func awaitsLaunch(_ place: Place) -> Bool {
        !entries[place].isLazy && !isUp(place) && willMove(place)
    }

    /// Ends the app if a required module is down, and nothing will bring it up.
    private mutating func endIfRequiredIsMissing(_ effects: inout [ModuleEffect]) {
        let isMissing = modules.indices.contains { place in
            entries[place].isRequired && isWanted(place) && !modules[place].life.hasInstance
                && !isUp(place) && !willMove(place)
        }
        guard isMissing else { return }
        effects.append(.endApp)
        stop(&effects)
        settle(&effects)
    }
}

extension HostedModule {
    /// Whether an instance is to be taken down; one that does not return is not waited for.
    var hasAnyInstance: Bool { life.hasInstance || staged?.hasInstance == true || isLeaving }
}

extension ModuleTable.Phase: Comparable {
    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
