extension ModuleTable {
    /// The inputs that an exploration tries beside calls, events, the ends of instances, and the stop.
    enum Replacements: Hashable, Sendable {
        case none
        /// Restarts and reloads of one batch at a time, with everything that they may contain.
        case all
        /// The same of modules at rest, of which none is removed; calls and events come only
        /// before the batch.
        case once
    }

    /// Returns everything that may happen next.
    func inputs(_ replacements: Replacements) -> [ModuleInput] {
        guard phase != .over else { return [] }
        var inputs: [ModuleInput] = phase < .stopping ? [.stop] : []
        for place in modules.indices {
            if replacements != .once || isBeforeBatch {
                inputs.append(.call(place))
                if phase == .running { inputs.append(.durable(place)) }
            }
            inputs += changes(ofLife: place) + changes(ofStaged: place)
            if modules[place].isLeaving { inputs.append(.left(place)) }
            if modules[place].isStuck { inputs.append(.returned(place)) }
            if modules[place].hasAlarm { inputs.append(.alarm(place)) }
        }
        guard phase == .running, batch == nil else { return inputs }
        switch replacements {
        case .none: break
        case .all: inputs += restarts + reloads
        case .once: if modules.indices.allSatisfy(isAtRest) { inputs += restarts + reloads }
        }
        return inputs
    }

    private var isBeforeBatch: Bool {
        phase < .stopping && batch == nil && !modules.contains { $0.isGone || $0.isLeaving }
    }

    private func isAtRest(_ place: Place) -> Bool {
        let module = modules[place]
        return canReplace(place) && !module.isGone && !module.hasCallers && !module.isOwed
    }

    private func changes(ofLife place: Place) -> [ModuleInput] {
        let entry = entries[place]
        var inputs: [ModuleInput] = []
        switch modules[place].life {
        case .making: inputs = [.made(place), .failed(place)]
        case .launching: inputs = [.launched(place), .failed(place)]
        case .running:
            inputs = [.died(place)]
            if entry.isLazy, phase == .running { inputs.append(.unload(place)) }
            if entry.start == .lazyWithIdle, phase == .running { inputs.append(.idle(place)) }
            if entry.ends { inputs.append(.ended(place)) }
            return inputs
        case .unloading: return [.unloaded(place)]
        case .idle, .failed, .due, .done: return []
        }
        if !modules[place].isStuck { inputs.append(.late(place)) }
        if entry.ends { inputs.append(.ended(place)) }
        return inputs
    }

    private func changes(ofStaged place: Place) -> [ModuleInput] {
        switch modules[place].staged {
        case .making: [.stagedMade(place), .stagedFailed(place), .stagedLate(place)]
        case .launching: [.stagedLaunched(place), .stagedFailed(place), .stagedLate(place)]
        case .waiting, .ready, .failed, nil: []
        }
    }

    private var restarts: [ModuleInput] {
        modules.indices.filter { canReplace($0) && !modules[$0].isGone }.map { .restart($0) }
    }

    /// Every reload that a check of the slatefile would accept.
    private var reloads: [ModuleInput] {
        var all: [ModuleInput] = []
        let count = modules.count
        var choice = Array(repeating: 0, count: count)
        while let next = choice.firstIndex(where: { $0 < 2 }) {
            for place in 0..<next { choice[place] = 0 }
            choice[next] += 1
            let recreated = modules.indices.filter { choice[$0] == 1 }
            let removed = modules.indices.filter { choice[$0] == 2 }
            guard (recreated + removed).allSatisfy(canReplace),
                removed.allSatisfy({ !modules[$0].isGone }),
                isComplete(with: recreated, without: removed)
            else { continue }
            all.append(.reload(recreate: recreated, remove: removed, .undoesAll))
            all.append(.reload(recreate: recreated, remove: removed, .isLeftOut))
        }
        return all
    }

    /// Whether every module of the new slatefile finds the modules there that it needs.
    private func isComplete(with recreated: [Place], without removed: [Place]) -> Bool {
        let there = modules.indices.filter { place in
            recreated.contains(place) || !modules[place].isGone && !removed.contains(place)
        }
        return there.allSatisfy { entries[$0].needs.allSatisfy(there.contains) }
    }
}
