import Synchronization

/// The durable events that overdue modules have not received.
extension OverdueModules {
    /// Durable events that a module has not received and that are no longer in memory.
    struct InboxBacklog {
        /// The range of their places in the inbox: from the first one to the end of the last.
        private var places: Range<EventPosition>?
        /// Those among them that the module is not to receive: another one claimed them.
        private var excluded: Set<EventPosition> = []

        /// The number of events among them that are for the module.
        private(set) var count = 0

        var first: EventPosition? { places?.lowerBound }

        /// - Parameters:
        ///   - entry: An event that stands after all others.
        ///   - isExcluded: Whether the module is not to receive it.
        ///   - isFollowing: Whether an earlier event may yet be put back in front of it.
        mutating func append(_ entry: InboxEntry, isExcluded: Bool, isFollowing: Bool = false) {
            // Nothing before the first one is of interest.
            if places == nil, isExcluded, !isFollowing { return }
            places = (places?.lowerBound ?? entry.position)..<entry.end
            if isExcluded { excluded.insert(entry.position) } else { count += 1 }
        }

        /// Puts an event in front of the others, which the module was at work on.
        mutating func putBack(_ entry: InboxEntry) {
            places = entry.position..<max(entry.end, places?.upperBound ?? entry.end)
            count += 1
        }

        /// The module is not to receive an event, which may be one of these.
        mutating func exclude(_ entry: InboxEntry) {
            guard let all = places, all.contains(entry.position),
                excluded.insert(entry.position).inserted
            else { return }
            count = max(0, count - 1)
            // The only one: nothing is left to wait for.
            if all.lowerBound == entry.position, all.upperBound == entry.end {
                self = InboxBacklog()
            }
        }

        /// Takes what was read at the first place.
        ///
        /// - Returns: Whether the module is to receive it.
        mutating func take(_ entry: InboxEntry) -> Bool {
            guard let all = places, entry.position < all.upperBound else {
                self = InboxBacklog()
                return false
            }
            // Given up while it was read: another one puts it aside.
            guard entry.position >= all.lowerBound else { return false }
            places = entry.end < all.upperBound ? entry.end..<all.upperBound : nil
            let isExcluded = excluded.remove(entry.position) != nil
            if !isExcluded { count -= 1 }
            if places == nil { self = InboxBacklog() }
            return !isExcluded
        }

        /// Releases those before a place, which need not be where one begins; of all where there is none.
        ///
        /// - Returns: Where they stand, and which of them the module was not to receive; nil for none.
        mutating func drop(
            before place: EventPosition?
        ) -> (places: Range<EventPosition>, excluded: Set<EventPosition>)? {
            guard let all = places else { return nil }
            let end = min(place ?? all.upperBound, all.upperBound)
            guard all.lowerBound < end else { return nil }
            let dropped = (all.lowerBound..<end, excluded.filter { $0 < end })
            excluded.subtract(dropped.1)
            places = end < all.upperBound ? end..<all.upperBound : nil
            if places == nil { self = InboxBacklog() }
            return dropped
        }

        /// So many of those dropped were to be delivered.
        mutating func uncount(_ dropped: Int) { count = max(0, count - dropped) }
    }

    /// A durable event was accepted: who is behind is behind on it, too.
    mutating func noteAccepted(log: EventLog) {
        for module in modules.values where module.isLevel && module.slot.isListed {
            noteUndelivered(module.slot, log)
        }
    }

    // MARK: Reading on in the inbox

    /// Takes an event that was read from the inbox for an overdue module.
    ///
    /// - Parameters:
    ///   - entry: Where it stands; nil where there is nothing more to read.
    ///   - event: The event; nil where the entry is none.
    ///   - slot: The module's place.
    ///   - thread: Its thread.
    ///   - log: The log.
    /// - Returns: Whether the module is to receive it.
    mutating func take(
        _ entry: InboxEntry?, _ event: LifecycleEvent?, for slot: ModuleSlot, on thread: LaneThread,
        log: EventLog
    ) -> Bool {
        guard self[slot]?.thread === thread else { return false }
        guard let entry else {
            modules[slot.number]?.inboxBacklog = InboxBacklog()
            return false
        }
        let isWanted = modules[slot.number]?.inboxBacklog.take(entry) == true
        guard isWanted, let event, event.isFor(slot.id) else {
            noteUndelivered(slot, log)
            return false
        }
        modules[slot.number]?.event = event
        modules[slot.number]?.begun = entry
        noteUndelivered(slot, log)
        return true
    }

    /// The first durable event that each module which is behind has not received.
    ///
    /// - Parameter log: The log.
    /// - Returns: By module; none for one that has no durable event to receive.
    mutating func undelivered(log: EventLog) -> [(slot: ModuleSlot, position: EventPosition)] {
        let overdue = modules.values.map(\.slot).compactMap { slot in
            slot.isListed ? firstUndelivered(slot, log).map { (slot, $0) } : nil
        }
        let failed = failed.values.compactMap { module in
            module.inboxBacklog.first.map { (module.slot, $0) }
        }
        // Last, so that they are those that count.
        return overdue + failed + droppedRanges.map { ($0.slot, $0.first) }
    }

    mutating func noteUndelivered(_ slot: ModuleSlot, _ log: EventLog) {
        guard slot.isListed else { return noteLevel(slot) }
        let position = firstDropped(of: slot) ?? firstUndelivered(slot, log)
        modules[slot.number]?.isLevel = position == nil
        note(slot, position, modules[slot.number]?.begun != nil)
    }

    private mutating func firstUndelivered(_ slot: ModuleSlot, _ log: EventLog) -> EventPosition? {
        guard let module = modules[slot.number] else { return nil }
        if let begun = module.begun { return begun.position }
        if let place = module.inboxBacklog.first { return place }
        // Each event is looked at once, however often this is asked.
        var position = max(module.position, module.undeliveredFrom)
        defer { modules[slot.number]?.undeliveredFrom = position }
        while position < log.head {
            if let kept = log[position], let entry = kept.event.entry, kept.isFor(slot) != false {
                return entry.position
            }
            position += 1
        }
        return nil
    }

    /// A module has no durable event left that it has not received, but what was dropped for it and what waits for it
    /// since it failed.
    func noteLevel(_ slot: ModuleSlot) {
        let first = [firstDropped(of: slot), failed(slot)?.inboxBacklog.first].compactMap(\.self)
            .min()
        note(slot, first, false)
    }

    private func firstDropped(of slot: ModuleSlot) -> EventPosition? {
        droppedRanges.lazy.filter { $0.slot === slot }.map(\.first).min()
    }

    // MARK: Giving up

    /// Takes from an overdue or failed module what it is too far behind with.
    ///
    /// Until ``settle(_:dropped:log:)`` it counts as undelivered all the same.
    ///
    /// - Parameters:
    ///   - place: Up to where; it need not be where an event begins.
    ///   - slot: The module's place.
    /// - Returns: The dropped range; nil for none.
    mutating func drop(before place: EventPosition, by slot: ModuleSlot) -> DroppedRange? {
        guard !droppedRanges.contains(where: { $0.slot === slot }) else { return nil }
        if failed(slot) != nil {
            guard let dropped = failed[slot.number]?.inboxBacklog.drop(before: place) else {
                return nil
            }
            return keep(
                DroppedRange(
                    slot: slot, first: dropped.places.lowerBound, begun: nil,
                    places: dropped.places, excluded: dropped.excluded, reason: .failed,
                    outlastsModule: true))
        }
        guard holds(slot) else { return nil }
        let begun = modules[slot.number]?.begun.flatMap {
            $0.position < place ? $0.position : nil
        }
        let dropped = modules[slot.number]?.inboxBacklog.drop(before: place)
        guard let first = begun ?? dropped?.places.lowerBound else { return nil }
        if begun != nil { modules[slot.number]?.begun = nil }
        return keep(
            DroppedRange(
                slot: slot, first: first, begun: begun, places: dropped?.places,
                excluded: dropped?.excluded ?? [], reason: .behind))
    }

    private mutating func keep(_ range: DroppedRange) -> DroppedRange {
        droppedRanges.append(range)
        return range
    }

    /// Takes from an overdue module the durable event that it is at work on.
    ///
    /// - Parameters:
    ///   - slot: The module's place.
    ///   - reason: Why.
    /// - Returns: False where it is at work on none.
    mutating func dropCurrentEvent(of slot: ModuleSlot, because reason: String) -> Bool {
        guard let begun = self[slot]?.begun else { return false }
        modules[slot.number]?.begun = nil
        droppedRanges.append(
            DroppedRange(
                slot: slot, first: begun.position, begun: begun.position, places: nil, excluded: [],
                reason: .event(reason), outlastsModule: true))
        return true
    }

    /// Notes where in the inbox all the durable events stand that an overdue module has not received.
    mutating func moveToInboxBacklog(of slot: ModuleSlot, log: EventLog) {
        while let position = modules[slot.number]?.position, position < log.head {
            if let kept = log[position], let entry = kept.event.entry {
                // Whether one that is still on its way is claimed is not known yet: see ``noteClaimed(_:)``.
                modules[slot.number]?.addToInboxBacklog(
                    entry, isExcluded: kept.isFor(slot) == false)
            }
            modules[slot.number]?.position += 1
        }
    }

    /// Notes that a dropped range is in the dead letters.
    mutating func settle(_ range: DroppedRange, dropped: Int, log: EventLog) {
        droppedRanges.removeAll { $0.slot === range.slot && $0.first == range.first }
        if failed(range.slot) != nil {
            failed[range.slot.number]?.inboxBacklog.uncount(dropped)
        }
        guard holds(range.slot) else { return noteLevel(range.slot) }
        modules[range.slot.number]?.inboxBacklog.uncount(dropped)
        modules[range.slot.number]?.missed += dropped
        noteUndelivered(range.slot, log)
    }
}

/// Durable events that a module is no longer to receive, on their way to the dead letters.
struct DroppedRange: Sendable {
    /// The reason.
    enum Reason: Hashable, Sendable {
        /// It is too far behind.
        case behind
        /// It has failed, and too much waits for it.
        case failed
        /// It cannot hear that one, for the reason in words.
        case event(String)
    }

    let slot: ModuleSlot
    /// The first of them; no other dropped range of the module begins there.
    let first: EventPosition
    /// The one that the module is at work on.
    let begun: EventPosition?
    /// The places of the others.
    let places: Range<EventPosition>?
    /// Those among them that it was not to receive.
    let excluded: Set<EventPosition>
    let reason: Reason
    /// Whether they are to be reported, although the module is gone.
    var outlastsModule = false
}
