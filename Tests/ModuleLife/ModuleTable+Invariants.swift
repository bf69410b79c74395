/// What must hold of a table, and of each change of it.
extension ModuleTable {
    /// Returns the first invariant that the state breaks; nil where all hold.
    func violation() -> String? {
        let isQuiet = !isMoving
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
            if module.staged != nil, batch == nil, phase < .stopping {
                return "a staged module without a batch"
            }
            if let found = violation(at: place, isQuiet) { return found }
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
    private func violation(at place: Place, _ isQuiet: Bool) -> String? {
        let (module, entry) = (modules[place], entries[place])
        guard phase < .stopping, module.staged == nil, isWanted(place), !module.life.hasInstance,
            module.life != .done, batch?.removed.contains(place) != true
        else { return nil }
        let isFinal = module.life == .failed && !entry.isRetried
        let canMove = entry.needs.allSatisfy(isUp) && !module.isStuck
        if canMove, !module.hasAlarm, !isFinal {
            return "a wanted module is down, and nothing will bring it up"
        }
        if isQuiet, entry.isRequired {
            return "a required module is down, and the app does not end"
        }
        if isQuiet, !isFinal,
            entry.needs.contains(where: { !isUp($0) && !isWanted($0) && !modules[$0].isGone })
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
                if before.isNeeded(place) || old.hasCallers || old.isOwed || old.staged != nil {
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
            case .unload, .release, .setAlarm, .answer, .deliver, .moveToDeadLetters,
                .ready, .committed, .rolledBack, .over:
                break
            }
        }
        if effects.count(where: { $0 == .endApp }) > 1 { return "the app ends twice" }
        return violation(ofReplacementAfter: input, effects, from: before)
    }

    /// Whether an instance of a stop-first module of the batch still has what its successor needs.
    private func holdsOn(_ place: Place) -> Bool {
        entries[place].stopsFirst && modules[place].staged != nil && modules[place].life.hasInstance
    }

    /// A batch changes nothing before it is committed, and leaves everything as it was where it is rolled back.
    private func violation(
        ofReplacementAfter input: ModuleInput, _ effects: [ModuleEffect], from before: ModuleTable
    ) -> String? {
        switch input {
        case .stagedMade, .stagedLaunched, .stagedFailed, .stagedLate: break
        default: return nil
        }
        if phase >= .stopping || effects.contains(.committed) { return nil }
        for (place, (old, new)) in zip(before.modules, modules).enumerated() {
            if old.isGone != new.isGone { return "a batch that is not committed removes a module" }
            guard old.life != new.life else { continue }
            let isBegun = effects.contains(.make(place)) && new.life == .making
            let isStopped = effects.contains(.unload(place)) && entries[place].stopsFirst
            if !isBegun, !isStopped { return "a batch that is not committed changes a module" }
        }
        return nil
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
