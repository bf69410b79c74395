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

        /// Lets go of those before a place, which need not be where one begins; of all where there is none.
        ///
        /// - Returns: Where they stand, and which of them the module was not to hear; nil for none.
        mutating func drop(
            before place: EventPosition?
        ) -> (places: Range<EventPosition>, heard: Set<EventPosition>)? {
            guard let all = places else { return nil }
            let end = min(place ?? all.upperBound, all.upperBound)
            guard all.lowerBound < end else { return nil }
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
        for index in modules.indices where modules[index].isLevel && modules[index].cell.isListed {
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
        let position = firstForfeit(of: module.cell) ?? firstUnheard(module, log)
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
    func noteLevel(_ cell: Cell) { note(cell, firstForfeit(of: cell), false) }

    private func firstForfeit(of cell: Cell) -> EventPosition? {
        forfeits.lazy.filter { $0.cell === cell }.map(\.first).min()
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
        return forfeit(index, before: place, because: .behind)
    }

    private mutating func forfeit(
        _ index: Int, before place: EventPosition?, because reason: Forfeit.Reason
    ) -> Forfeit? {
        let module = modules[index]
        func isGivenUp(_ position: EventPosition) -> Bool { place.map { position < $0 } ?? true }
        let begun = module.begun.flatMap { isGivenUp($0.position) ? $0.position : nil }
        let dropped = modules[index].spilled.drop(before: place)
        guard let first = begun ?? dropped?.places.lowerBound else { return nil }
        if begun != nil { modules[index].begun = nil }
        let forfeit = Forfeit(
            cell: module.cell, first: first, begun: begun, places: dropped?.places,
            heard: dropped?.heard ?? [], reason: reason)
        forfeits.append(forfeit)
        return forfeit
    }

    /// Takes from a late module the durable event that it is at work on.
    ///
    /// - Parameters:
    ///   - cell: The module's place.
    ///   - reason: Why.
    /// - Returns: False where it is at work on none.
    mutating func forfeitEventInHand(of cell: Cell, because reason: String) -> Bool {
        guard let index = modules.firstIndex(where: { $0.cell === cell }),
            let begun = modules[index].begun
        else { return false }
        modules[index].begun = nil
        forfeits.append(
            Forfeit(
                cell: cell, first: begun.position, begun: begun.position, places: nil, heard: [],
                reason: .event(reason)))
        return true
    }

    /// Takes all durable events that it has not heard from a late module, which gets nothing more.
    ///
    /// - Parameters:
    ///   - cell: The module's place.
    ///   - reason: Why.
    ///   - log: The log.
    mutating func forfeitAll(of cell: Cell, because reason: String, log: EventLog) {
        guard let index = modules.firstIndex(where: { $0.cell === cell }) else { return }
        while modules[index].position < log.head {
            if let kept = log[modules[index].position], let entry = kept.event.entry {
                // Of one that is still on its way nobody knows yet: better put aside than lost.
                modules[index].spilled.append(entry, isHeard: kept.isFor(cell) == false)
            }
            modules[index].position += 1
        }
        _ = forfeit(index, before: nil, because: .module(reason))
        noteUnheard(index, log)
    }

    /// What a module gave up is put aside.
    mutating func settle(_ forfeit: Forfeit, dropped: Int, log: EventLog) {
        forfeits.removeAll { $0.cell === forfeit.cell && $0.first == forfeit.first }
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
    /// Why it did.
    enum Reason: Hashable, Sendable {
        /// It is too far behind.
        case behind
        /// It cannot hear that one, for the reason in words.
        case event(String)
        /// It hears nothing any more, for the reason in words.
        case module(String)
    }

    let cell: Cell
    /// The first of them; no other forfeit of the module begins there.
    let first: EventPosition
    /// The one that the module is at work on.
    let begun: EventPosition?
    /// Where the others stand.
    let places: Range<EventPosition>?
    /// Those among them that it was not to hear.
    let heard: Set<EventPosition>
    let reason: Reason

    /// Whether somebody is to know of them, though the module be gone.
    var outlastsModule: Bool { reason != .behind }
}
