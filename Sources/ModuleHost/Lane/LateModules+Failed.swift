import Synchronization

/// Durable events that wait for modules which have failed.
///
/// A failed module keeps its place in the inbox: the events from there on stay in the log, and are delivered
/// when the module is restarted, or by the next host.
extension LateModules {
    /// A module that durable events wait for although nothing is delivered to it.
    struct Failed {
        let cell: Cell
        var spilled = Spill()
    }

    /// The events that wait for a failed module, or for one that was restarted and has not begun to catch up.
    ///
    /// - Returns: How many events there are and where the first one is; nil for none.
    func waiting(for cell: Cell) -> (count: Int, first: EventPosition)? {
        guard let spilled = failed(cell)?.spilled, let first = spilled.first else { return nil }
        return (spilled.count, first)
    }

    func failed(_ cell: Cell) -> Failed? {
        failed[cell.number].flatMap { $0.cell === cell ? $0 : nil }
    }

    /// Keeps what a module has not received for it, from the moment that it fails.
    ///
    /// - Parameters:
    ///   - cell: The module's place, which is still listed.
    ///   - current: The durable event that is being delivered and that the module has not handled; nil for a
    ///     module that is late, of which that is known.
    ///   - log: The log.
    mutating func fail(_ cell: Cell, in current: InboxEntry?, log: EventLog) {
        guard failed(cell) == nil else { return }
        var failed = Failed(cell: cell)
        if holds(cell) {
            spillAll(of: cell, log: log)
            failed.spilled = modules[cell.number]?.spilled ?? Spill()
            if let begun = modules[cell.number]?.begun { failed.spilled.putBack(begun) }
        } else if let current {
            failed.spilled.append(current, isHeard: false)
        }
        self.failed[cell.number] = failed
        cell.isAwaited.store(true, ordering: .relaxed)
        for index in forfeits.indices where forfeits[index].cell === cell {
            forfeits[index].outlastsModule = true
        }
    }

    /// A durable event was accepted: it waits for the failed modules that it is meant for.
    mutating func keepForFailed(_ event: LifecycleEvent, _ entry: InboxEntry) {
        for (number, module) in failed where !module.cell.isListed {
            let isFirst = module.spilled.first == nil
            failed[number]?.spilled.append(entry, isHeard: !event.isFor(module.cell.id))
            if isFirst { noteLevel(module.cell) }
        }
    }

    /// A durable event was claimed: no failed module is to act on it, too.
    mutating func noteClaimed(_ entry: InboxEntry) {
        for (number, module) in failed where !module.cell.isListed {
            failed[number]?.spilled.exclude(entry)
            if failed[number]?.spilled.first != module.spilled.first { noteLevel(module.cell) }
        }
    }

    /// Hands what waits for a failed module to the one that takes its place.
    ///
    /// - Returns: How many events wait.
    mutating func passOn(from old: Cell, to new: Cell) -> Int {
        guard let spilled = failed(old)?.spilled, spilled.first != nil else { return 0 }
        failed[new.number] = Failed(cell: new, spilled: spilled)
        // At no moment is there a black box that knows of neither.
        noteLevel(new)
        dropFailed(old)
        return spilled.count
    }

    /// Lets go of what waits for a failed module, which is no longer part of the app.
    ///
    /// - Returns: How many events waited.
    @discardableResult
    mutating func dropFailed(_ cell: Cell) -> Int {
        guard let count = failed(cell)?.spilled.count else { return 0 }
        failed[cell.number] = nil
        cell.isAwaited.store(false, ordering: .relaxed)
        noteLevel(cell)
        return count
    }

    /// Takes the events of the inbox that a module which has just become late has to catch up with.
    mutating func takeWaiting(for cell: Cell) -> Spill? {
        guard cell.isListed, let spilled = failed(cell)?.spilled else { return nil }
        failed[cell.number] = nil
        return spilled
    }
}

extension Lane {
    /// Takes a module out that has failed; durable events wait for it from now on.
    ///
    /// Does nothing for a module that is out already.
    func fail(_ cell: Cell) {
        let word = word.load()
        state.withLock { state in
            guard cell.isListed else { return }
            state.late.fail(cell, in: state.unhandled(by: cell, at: word), log: state.log)
            cell.status.store(.unlisted, ordering: .releasing)
            state.late.noteGone(cell, log: &state.log)
            state.late.noteLevel(cell)
        }
        epoch.add(1, ordering: .releasing)
    }

    /// The durable events that wait for a failed module: how many, and from where on; nil for none.
    func waiting(for cell: Cell) -> (count: Int, first: EventPosition)? {
        state.withLock { $0.late.waiting(for: cell) }
    }

    /// A durable event was claimed, or its URL opened: no failed module is to act on it, too.
    func noteClaimed(_ entry: InboxEntry) { state.withLock { $0.late.noteClaimed(entry) } }

    /// Hands what waits for a failed module to the one that takes its place.
    ///
    /// - Returns: How many events wait.
    func passOn(from old: Cell, to new: Cell) -> Int {
        state.withLock { $0.late.passOn(from: old, to: new) }
    }

    /// Lets go of what waits for a failed module that is no longer part of the app.
    ///
    /// - Returns: How many events waited.
    @discardableResult
    func dropWaiting(for cell: Cell) -> Int { state.withLock { $0.late.dropFailed(cell) } }
}

extension Lane.State {
    /// The durable event that is being delivered, where a module is in it or has yet to receive it.
    fileprivate func unhandled(by cell: Cell, at word: Ownership) -> InboxEntry? {
        guard let event = current?.event, let entry = event.entry, event.isFor(cell.id),
            let outermost = cells[thread.outermost(at: word)], cell.rank >= outermost.rank
        else { return nil }
        return entry
    }
}
