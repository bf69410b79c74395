import Synchronization

/// The durable events that late modules have not received.
extension LateModules {
    /// Durable events that a module has not heard and that are no longer in memory.
    struct Spill {
        /// The range of their places in the inbox: from the first one to the end of the last.
        private var places: Range<EventPosition>?
        /// Those among them that the module is not to receive: another one claimed them.
        private var heard: Set<EventPosition> = []

        /// The number of events among them that are for the module.
        private(set) var count = 0

        var first: EventPosition? { places?.lowerBound }

        /// - Parameters:
        ///   - entry: An event that stands after all others.
        ///   - isHeard: Whether the module is not to hear it.
        ///   - isFollowing: Whether an earlier event may yet be put back in front of it.
        mutating func append(_ entry: InboxEntry, isHeard: Bool, isFollowing: Bool = false) {
            // Nothing before the first one is of interest.
            if places == nil, isHeard, !isFollowing { return }
            places = (places?.lowerBound ?? entry.position)..<entry.end
            if isHeard { heard.insert(entry.position) } else { count += 1 }
        }

        /// Puts an event in front of the others, which the module was at work on.
        mutating func putBack(_ entry: InboxEntry) {
            places = entry.position..<max(entry.end, places?.upperBound ?? entry.end)
            count += 1
        }

        /// The module is not to hear an event, which may be one of these.
        mutating func exclude(_ entry: InboxEntry) {
            guard let all = places, all.contains(entry.position),
                heard.insert(entry.position).inserted
            else { return }
            count = max(0, count - 1)
            // The only one: nothing is left to wait for.
            if all.lowerBound == entry.position, all.upperBound == entry.end { self = Spill() }
        }

        /// Takes what was read at the first place.
        ///
        /// - Returns: Whether the module is to hear it.
        mutating func take(_ entry: InboxEntry) -> Bool {
            guard let all = places, entry.position < all.upperBound else {
                self = Spill()
                return false
            }
            // Given up while it was read: another one puts it aside.
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
        for module in modules.values where module.isLevel && module.cell.isListed {
            noteUnheard(module.cell, log)
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
        guard self[cell]?.thread === thread else { return false }
        guard let entry else {
            modules[cell.number]?.spilled = Spill()
            return false
        }
        let isWanted = modules[cell.number]?.spilled.take(entry) == true
        guard isWanted, let event, event.isFor(cell.id) else {
            noteUnheard(cell, log)
            return false
        }
        modules[cell.number]?.event = event
        modules[cell.number]?.begun = entry
        noteUnheard(cell, log)
        return true
    }

    /// The first durable event that each module which is behind has not heard.
    ///
    /// - Parameter log: The log.
    /// - Returns: By module; none for one that has no durable event to hear.
    mutating func unheard(log: EventLog) -> [(cell: Cell, position: EventPosition)] {
        let late = modules.values.map(\.cell).compactMap { cell in
            cell.isListed ? firstUnheard(cell, log).map { (cell, $0) } : nil
        }
        let failed = failed.values.compactMap { module in
            module.spilled.first.map { (module.cell, $0) }
        }
        // Last, so that they are those that count.
        return late + failed + forfeits.map { ($0.cell, $0.first) }
    }

    mutating func noteUnheard(_ cell: Cell, _ log: EventLog) {
        guard cell.isListed else { return noteLevel(cell) }
        let position = firstForfeit(of: cell) ?? firstUnheard(cell, log)
        modules[cell.number]?.isLevel = position == nil
        note(cell, position, modules[cell.number]?.begun != nil)
    }

    private mutating func firstUnheard(_ cell: Cell, _ log: EventLog) -> EventPosition? {
        guard let module = modules[cell.number] else { return nil }
        if let begun = module.begun { return begun.position }
        if let place = module.spilled.first { return place }
        // Each event is looked at once, however often this is asked.
        var position = max(module.position, module.unheardFrom)
        defer { modules[cell.number]?.unheardFrom = position }
        while position < log.head {
            if let kept = log[position], let entry = kept.event.entry, kept.isFor(cell) != false {
                return entry.position
            }
            position += 1
        }
        return nil
    }

    /// A module has no durable event left that it has not heard, but what it gave up and what waits for it
    /// since it failed.
    func noteLevel(_ cell: Cell) {
        let first = [firstForfeit(of: cell), failed(cell)?.spilled.first].compactMap(\.self).min()
        note(cell, first, false)
    }

    private func firstForfeit(of cell: Cell) -> EventPosition? {
        forfeits.lazy.filter { $0.cell === cell }.map(\.first).min()
    }

    // MARK: Giving up

    /// Takes from a late or failed module what it is too far behind with.
    ///
    /// Until ``settle(_:dropped:log:)`` it counts as unheard all the same.
    ///
    /// - Parameters:
    ///   - place: Up to where; it need not be where an event begins.
    ///   - cell: The module's place.
    /// - Returns: What it gives up; nil for nothing.
    mutating func forfeit(before place: EventPosition, by cell: Cell) -> Forfeit? {
        guard !forfeits.contains(where: { $0.cell === cell }) else { return nil }
        if failed(cell) != nil {
            guard let dropped = failed[cell.number]?.spilled.drop(before: place) else { return nil }
            return keep(
                Forfeit(
                    cell: cell, first: dropped.places.lowerBound, begun: nil,
                    places: dropped.places, heard: dropped.heard, reason: .failed,
                    outlastsModule: true))
        }
        guard holds(cell) else { return nil }
        let begun = modules[cell.number]?.begun.flatMap {
            $0.position < place ? $0.position : nil
        }
        let dropped = modules[cell.number]?.spilled.drop(before: place)
        guard let first = begun ?? dropped?.places.lowerBound else { return nil }
        if begun != nil { modules[cell.number]?.begun = nil }
        return keep(
            Forfeit(
                cell: cell, first: first, begun: begun, places: dropped?.places,
                heard: dropped?.heard ?? [], reason: .behind))
    }

    private mutating func keep(_ forfeit: Forfeit) -> Forfeit {
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
        guard let begun = self[cell]?.begun else { return false }
        modules[cell.number]?.begun = nil
        forfeits.append(
            Forfeit(
                cell: cell, first: begun.position, begun: begun.position, places: nil, heard: [],
                reason: .event(reason), outlastsModule: true))
        return true
    }

    /// Notes where in the inbox all the durable events stand that a late module has not heard.
    mutating func spillAll(of cell: Cell, log: EventLog) {
        while let position = modules[cell.number]?.position, position < log.head {
            if let kept = log[position], let entry = kept.event.entry {
                // Whether one that is still on its way is claimed is not known yet: see ``noteClaimed(_:)``.
                modules[cell.number]?.spill(entry, isHeard: kept.isFor(cell) == false)
            }
            modules[cell.number]?.position += 1
        }
    }

    /// Notes that a range which a module gave up is put aside.
    mutating func settle(_ forfeit: Forfeit, dropped: Int, log: EventLog) {
        forfeits.removeAll { $0.cell === forfeit.cell && $0.first == forfeit.first }
        if failed(forfeit.cell) != nil {
            failed[forfeit.cell.number]?.spilled.uncount(dropped)
        }
        guard holds(forfeit.cell) else { return noteLevel(forfeit.cell) }
        modules[forfeit.cell.number]?.spilled.uncount(dropped)
        modules[forfeit.cell.number]?.missed += dropped
        noteUnheard(forfeit.cell, log)
    }
}

/// Durable events that a module gave up.
struct Forfeit: Sendable {
    /// The reason.
    enum Reason: Hashable, Sendable {
        /// It is too far behind.
        case behind
        /// It has failed, and too much waits for it.
        case failed
        /// It cannot hear that one, for the reason in words.
        case event(String)
    }

    let cell: Cell
    /// The first of them; no other forfeit of the module begins there.
    let first: EventPosition
    /// The one that the module is at work on.
    let begun: EventPosition?
    /// The places of the others.
    let places: Range<EventPosition>?
    /// Those among them that it was not to hear.
    let heard: Set<EventPosition>
    let reason: Reason
    /// Whether they are to be reported, although the module is gone.
    var outlastsModule = false
}
