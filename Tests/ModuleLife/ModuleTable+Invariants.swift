/// The conditions that a table and each change of it must meet.
extension ModuleTable {
    /// Returns the first invariant that the state breaks; nil where all hold.
    func violation() -> String? {
        let recount = Recount(of: self)
        if let value = recount.difference(from: self) { return "\(value) differs from a recount" }
        let isQuiet = batch == nil && !modules.contains { $0.life.isMoving || $0.isLeaving }
        if isMoving == isQuiet { return "isMoving differs from a recount" }
        for (place, module) in modules.enumerated() {
            if module.hasAlarm, module.life != .failed {
                return "an alarm of a module that has not failed"
            }
            if isQuiet, module.hasCallers { return "a caller waits, and nothing moves" }
            if module.life == .making || module.life == .launching,
                module.staged?.hasInstance == true
            {
                return "two instances of a module are brought up"
            }
            if module.isGone, module.isOwed { return "an event waits for a module that is gone" }
            if module.isGone, module.life.hasInstance, module.life != .unloading {
                return "a module that is gone has an instance"
            }
            if module.staged != nil, batch == nil, phase < .stopping {
                return "a staged module without a batch"
            }
            if let found = violation(at: place, recount, isQuiet) { return found }
        }
        if batch != nil, phase >= .stopping { return "a batch in a stop" }
        if let batch, batch.removed.isEmpty, modules.allSatisfy({ $0.staged == nil }) {
            return "a batch of nothing"
        }
        if phase == .over, modules.contains(where: \.hasAnyInstance) {
            return "an instance after the end"
        }
        var again = self
        if !again.launch().isEmpty || again != self { return "settling twice differs from once" }
        return nil
    }

    /// A module that is wanted and down must have something that brings it up.
    private func violation(at place: Place, _ recount: Recount, _ isQuiet: Bool) -> String? {
        let (module, entry) = (modules[place], entries[place])
        guard module.staged == nil, recount.wanted.contains(place), !module.life.hasInstance,
            module.life != .done, batch?.removed.contains(place) != true
        else { return nil }
        let isFinal = module.life == .failed && !entry.isRetried
        let canMove = entry.needs.allSatisfy(recount.up.contains) && !module.isStuck
        if canMove, !module.hasAlarm, !isFinal {
            return "a wanted module is down, and nothing will bring it up"
        }
        if isQuiet, entry.isRequired {
            return "a required module is down, and the app does not end"
        }
        if isQuiet, !isFinal,
            entry.needs.contains(where: {
                !recount.up.contains($0) && !recount.wanted.contains($0) && !modules[$0].isGone
            })
        {
            return "a need is missing and not wanted"
        }
        return nil
    }

    /// Returns the first invariant that a change breaks; nil where all hold.
    ///
    /// - Parameters:
    ///   - input: The change.
    ///   - effects: Its effects.
    ///   - before: The table before it.
    /// - Returns: The broken invariant.
    func violation(
        after input: ModuleInput, _ effects: [ModuleEffect], from before: ModuleTable
    ) -> String? {
        for place in modules.indices {
            if let found = violation(at: place, after: input, effects, from: before) {
                return found
            }
        }
        return violation(ofEffects: effects, after: input, from: before)
    }

    private func violation(
        at place: Place, after input: ModuleInput, _ effects: [ModuleEffect],
        from before: ModuleTable
    ) -> String? {
        let (old, new) = (before.modules[place], modules[place])
        if old.isOwed || input == .durable(place), !new.isOwed,
            !effects.contains(.deliver(place)), !effects.contains(.moveToDeadLetters(place)),
            new.life != .done, !old.isGone
        {
            return "an accepted durable event is lost"
        }
        let answers = effects.count { effect in
            if case .answer(place, _) = effect { true } else { false }
        }
        let asked = (old.hasCallers || input == .call(place)) && !new.hasCallers
        if answers != (asked ? 1 : 0) { return "a caller is not answered once" }

        let isRefused = effects.contains(.answer(place, succeeded: false))
        if isRefused, new.staged != nil, input == .died(place) || input == .failed(place) {
            return "a caller does not wait for the batch that replaces its module"
        }

        // Instances are neither lost nor released twice.
        let made = effects.count { $0 == .make(place) || $0 == .makeStaged(place) }
        let ends: [ModuleInput] = [
            .failed(place), .died(place), .ended(place), .stagedFailed(place), .returned(place),
            .unloaded(place), .left(place),
        ]
        let ended = ends.contains(input) ? 1 : 0
        if new.instances != old.instances + made - ended { return "an instance is lost" }
        let released = effects.count { $0 == .unload(place) || $0 == .release(place) }
        let left = input == .unloaded(place) || input == .left(place) ? 1 : 0
        if new.leaving != old.leaving + released - left {
            return "an instance is not taken down once"
        }
        let alarms = effects.count { $0 == .setAlarm(place) }
        let hadAlarm = old.hasAlarm && input != .alarm(place)
        let isSet = new.hasAlarm && !hadAlarm
        if phase < .stopping, alarms != (isSet ? 1 : 0) { return "an alarm is not set once" }
        return nil
    }

    private func violation(
        ofEffects effects: [ModuleEffect], after input: ModuleInput, from before: ModuleTable
    ) -> String? {
        for effect in effects {
            switch effect {
            case .make(let place):
                if modules[place].isStuck { return "made beside an instance that has not returned" }
                if !entries[place].needs.allSatisfy(isUp) {
                    return "made although a need does not run"
                }
                if modules[place].hasAlarm { return "made before its delay is over" }
            case .makeStaged(let place):
                if modules[place].isStuck {
                    return "staged beside an instance that has not returned"
                }
                let isReady = { (need: Place) in isUp(need) || modules[need].staged == .ready }
                if !entries[place].needs.allSatisfy(isReady) {
                    return "staged although a need does not run"
                }
                if modules.indices.contains(where: holdsOn) {
                    return "started before every stop-first module has stopped"
                }
            case .unload(let place) where input == .idle(place) || input == .unload(place):
                let old = before.modules[place]
                let isNeeded = Recount(of: before).needed.contains(place)
                if isNeeded || old.hasCallers || old.isOwed || old.staged != nil {
                    return "unloaded although it is needed"
                }
            case .launch, .launchStaged:
                if phase >= .stopping { return "launched in a stop" }
            case .endApp:
                if before.phase >= .stopping || phase < .stopping { return "the app ends twice" }
                // A batch hides the failure of an old instance until its own end.
                let isBatchOver = effects.contains(.committed) || effects.contains(.rolledBack)
                if !input.isFailure, !isBatchOver {
                    return "the app ends although nothing has failed"
                }
            case .unload, .release, .setAlarm, .answer, .deliver, .moveToDeadLetters, .ready,
                .committed, .rolledBack, .over:
                break
            }
        }
        if effects.count(where: { $0 == .endApp }) > 1 { return "the app ends twice" }
        let isLaunched = before.phase == .launching && phase == .running
        if effects.count(where: { $0 == .ready }) != (isLaunched ? 1 : 0) {
            return "the app is not ready once"
        }
        if isLaunched, modules.indices.contains(where: holdsUpLaunch) {
            return "the app is ready before an eager module has come up or failed"
        }
        let isOver = before.phase != .over && phase == .over
        if effects.count(where: { $0 == .over }) != (isOver ? 1 : 0) {
            return "the app is not over once"
        }
        return violation(ofReplacementAfter: input, effects, from: before)
    }

    /// Whether an instance of a stop-first module of the batch still has what its successor needs.
    private func holdsOn(_ place: Place) -> Bool {
        entries[place].stopsFirst && modules[place].staged != nil && modules[place].life.hasInstance
    }

    /// Whether the launch of an eager module is not decided.
    private func holdsUpLaunch(_ place: Place) -> Bool {
        let recount = Recount(of: self)
        return !entries[place].isLazy && !recount.up.contains(place)
            && recount.moving.contains(place)
    }

    /// A batch changes nothing before it is committed, and leaves the table as it was when it is
    /// rolled back.
    ///
    /// Meanwhile a module changes by its own inputs and when it is wanted, as without a batch; and
    /// the instances of stop-first modules stop, the last one first. After a roll-back these start
    /// again if they are wanted.
    private func violation(
        ofReplacementAfter input: ModuleInput, _ effects: [ModuleEffect], from before: ModuleTable
    ) -> String? {
        let ends = effects.count { $0 == .committed || $0 == .rolledBack }
        if phase >= .stopping {
            // A required module that is missing after a roll-back ends the app in the same change.
            let mayEnd = before.phase < .stopping && effects.contains(.endApp)
            return ends == 0 || ends == 1 && mayEnd ? nil : "a batch ends in a stop"
        }
        let isBegun: Bool =
            switch input {
            case .reload: true
            case .restart(let place): before.modules[place].life == .running
            default: false
            }
        guard before.batch != nil || isBegun else { return ends == 0 ? nil : "a batch ends twice" }
        if ends != (batch == nil ? 1 : 0) { return "a batch does not end once" }
        var failure = before.batch?.failure ?? .undoesAll
        if case .reload(_, _, let asked) = input { failure = asked }
        if effects.contains(.rolledBack), failure == .isLeftOut {
            return "a batch that leaves failures out is rolled back"
        }
        let hasFailed = before.modules.contains { $0.staged == .failed } || input.isFailureOfStaged
        if effects.contains(.committed), failure == .undoesAll, hasFailed {
            return "a batch takes effect although an instance failed"
        }
        if effects.contains(.committed) { return nil }
        for (place, (old, new)) in zip(before.modules, modules).enumerated() {
            if old.isGone != new.isGone { return "a batch that is not committed removes a module" }
            if batch == nil, new.staged != nil {
                return "a batch that is rolled back leaves a module"
            }
            if new.isLeaving, !old.isLeaving, old.staged?.hasInstance != true {
                return "a batch that is not committed releases an instance"
            }
            guard old.life != new.life, input.place != place else { continue }
            let isMade = effects.contains(.make(place)) && new.life == .making
            if !isMade, !isStopped(place, effects) {
                return "a batch that is not committed changes a module"
            }
        }
        return nil
    }

    /// Whether a stop-first module of the batch begins to stop, before those that stand before it.
    private func isStopped(_ place: Place, _ effects: [ModuleEffect]) -> Bool {
        guard effects.contains(.unload(place)), entries[place].stopsFirst else { return false }
        return !modules.indices.contains { $0 > place && holdsOn($0) }
    }
}

extension ModuleInput {
    /// Whether something has failed, which may be final.
    fileprivate var isFailure: Bool {
        switch self {
        case .failed, .late, .died, .stagedFailed, .stagedLate: true
        case .call, .durable, .made, .launched, .ended, .stagedMade, .stagedLaunched, .returned,
            .unloaded, .left, .alarm, .idle, .unload, .restart, .reload, .stop:
            false
        }
    }

    fileprivate var isFailureOfStaged: Bool {
        switch self {
        case .stagedFailed, .stagedLate: true
        default: false
        }
    }

    /// The module that the input is about; nil for a reload and a stop.
    fileprivate var place: Place? {
        switch self {
        case .call(let place), .durable(let place), .made(let place), .launched(let place),
            .failed(let place), .late(let place), .died(let place), .ended(let place),
            .stagedMade(let place), .stagedLaunched(let place), .stagedFailed(let place),
            .stagedLate(let place), .returned(let place), .unloaded(let place), .left(let place),
            .alarm(let place), .idle(let place), .unload(let place), .restart(let place):
            place
        case .reload, .stop: nil
        }
    }
}

extension HostedModule {
    /// The number of instances.
    fileprivate var instances: Int {
        (life.hasInstance ? 1 : 0) + (staged?.hasInstance == true ? 1 : 0) + leavers
            + (isStuck ? 1 : 0)
    }

    private var leavers: Int { isLeaving ? 1 : 0 }

    /// The number of instances that are being taken down.
    fileprivate var leaving: Int { leavers + (life == .unloading ? 1 : 0) }
}
