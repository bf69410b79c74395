import Synchronization

/// What late modules have not heard of the durable events.
extension LateModules {
    /// Durable events that a module has not heard and that are no longer in memory.
    struct Spill {
        /// Where the first of them stands in the inbox, and where what follows the last one begins.
        private var places: Range<EventPosition>?
        /// Those among them that the module is not to hear: somebody else claimed them.
        private var heard: Set<EventPosition> = []

        /// How many there are that it is to hear.
        private(set) var count = 0

        var first: EventPosition? { places?.lowerBound }

        mutating func append(_ entry: InboxEntry, isHeard: Bool) {
            // Nothing before the first one is of interest.
            if places == nil, isHeard { return }
            places = (places?.lowerBound ?? entry.position)..<entry.end
            if isHeard { heard.insert(entry.position) } else { count += 1 }
        }

        /// Takes what was read at the first place.
        ///
        /// - Returns: Whether the module is to hear it.
        mutating func take(_ entry: InboxEntry) -> Bool {
            guard let all = places, entry.position < all.upperBound else {
                self = Spill()
                return false
            }
            // Given up while it was read: it is somebody else's to put aside.
            guard entry.position >= all.lowerBound else { return false }
            places = entry.end < all.upperBound ? entry.end..<all.upperBound : nil
            let isHeard = heard.remove(entry.position) != nil
            if !isHeard { count -= 1 }
            if places == nil { self = Spill() }
            return !isHeard
        }

        /// Lets go of those before a place, which need not be where one begins.
        ///
        /// - Returns: Where they stand, and which of them the module was not to hear; nil for none.
        mutating func drop(
            before place: EventPosition
        ) -> (places: Range<EventPosition>, heard: Set<EventPosition>)? {
            guard let all = places, all.lowerBound < place else { return nil }
            let end = min(place, all.upperBound)
            let dropped = (all.lowerBound..<end, heard.filter { $0 < end })
            heard.subtract(dropped.1)
            places = end < all.upperBound ? end..<all.upperBound : nil
            if places == nil { self = Spill() }
            return dropped
        }

        /// So many of those dropped were to be heard.
        mutating func uncount(_ dropped: Int) { count = max(0, count - dropped) }
    }

    /// A durable event was accepted: who is behind is behind on it, too.
    mutating func noteAccepted(log: EventLog) {
        for index in modules.indices where modules[index].isLevel {
            noteUnheard(index, log)
        }
    }

    // MARK: Reading on in the inbox

    /// Takes an event that was read from the inbox for a late module.
    ///
    /// - Parameters:
    ///   - entry: Where it stands; nil where there is nothing more to read.
    ///   - event: The event; nil where the entry is none.
    ///   - cell: The module's place.
    ///   - thread: Its thread.
    ///   - log: The log.
    /// - Returns: Whether the module is to hear it.
    mutating func take(
        _ entry: InboxEntry?, _ event: LifecycleEvent?, for cell: Cell, on thread: LaneThread,
        log: EventLog
    ) -> Bool {
        guard let index = modules.firstIndex(where: { $0.cell === cell && $0.thread === thread })
        else { return false }
        guard let entry else {
            modules[index].spilled = Spill()
            return false
        }
        let isWanted = modules[index].spilled.take(entry)
        guard isWanted, let event, event.isFor(cell.id) else {
            noteUnheard(index, log)
            return false
        }
        (modules[index].event, modules[index].begun) = (event, entry)
        noteUnheard(index, log)
        return true
    }

    /// The first durable event that each module which is behind has not heard.
    ///
    /// - Parameter log: The log.
    /// - Returns: By module; none for one that has no durable event to hear.
    func unheard(log: EventLog) -> [(cell: Cell, position: EventPosition)] {
        let late = modules.compactMap { module in
            module.cell.isListed
                ? firstUnheard(module, log).map { (module.cell, $0) } : nil
        }
        // Last, so that they are those that count.
        return late + forfeits.map { ($0.cell, $0.first) }
    }

    mutating func noteUnheard(_ index: Int, _ log: EventLog) {
        let module = modules[index]
        guard module.cell.isListed else { return noteLevel(module.cell) }
        let forfeit = forfeits.first { $0.cell === module.cell }
        let position = forfeit?.first ?? firstUnheard(module, log)
        modules[index].isLevel = position == nil
        note(module.cell, position, module.begun != nil)
    }

    private func firstUnheard(_ module: Module, _ log: EventLog) -> EventPosition? {
        if let begun = module.begun { return begun.position }
        if let place = module.spilled.first { return place }
        var position = module.position
        while position < log.head {
            if let kept = log[position], let entry = kept.event.entry,
                kept.isFor(module.cell) != false
            {
                return entry.position
            }
            position += 1
        }
        return nil
    }

    /// A module has no durable event left that it has not heard, but what it gave up.
    func noteLevel(_ cell: Cell) {
        note(cell, forfeits.first { $0.cell === cell }?.first, false)
    }

    // MARK: Giving up

    /// Takes from a late module what it is too far behind with.
    ///
    /// Until ``settle(_:dropped:log:)`` it counts as unheard all the same.
    ///
    /// - Parameters:
    ///   - place: Up to where; it need not be where an event begins.
    ///   - cell: The module's place.
    /// - Returns: What it gives up; nil for nothing.
    mutating func forfeit(before place: EventPosition, by cell: Cell) -> Forfeit? {
        guard let index = modules.firstIndex(where: { $0.cell === cell }),
            !forfeits.contains(where: { $0.cell === cell })
        else { return nil }
        let begun = modules[index].begun.flatMap { $0.position < place ? $0.position : nil }
        let dropped = modules[index].spilled.drop(before: place)
        guard let first = begun ?? dropped?.places.lowerBound else { return nil }
        if begun != nil { modules[index].begun = nil }
        let forfeit = Forfeit(
            cell: cell, first: first, begun: begun, places: dropped?.places,
            heard: dropped?.heard ?? [])
        forfeits.append(forfeit)
        return forfeit
    }

    /// What a module gave up is put aside.
    mutating func settle(_ forfeit: Forfeit, dropped: Int, log: EventLog) {
        forfeits.removeAll { $0.cell === forfeit.cell }
        guard let index = modules.firstIndex(where: { $0.cell === forfeit.cell }) else {
            return noteLevel(forfeit.cell)
        }
        modules[index].spilled.uncount(dropped)
        modules[index].missed += dropped
        noteUnheard(index, log)
    }
}

/// Durable events that a module gave up.
struct Forfeit: Sendable {
    let cell: Cell
    /// The first of them.
    let first: EventPosition
    /// The one that the module is at work on.
    let begun: EventPosition?
    /// Where the others stand.
    let places: Range<EventPosition>?
    /// Those among them that it was not to hear.
    let heard: Set<EventPosition>
}
