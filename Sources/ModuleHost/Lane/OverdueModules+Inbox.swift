import Synchronization

/// The durable events that overdue modules have not received.
extension OverdueModules {
    /// Durable events that a module has not received and that are no longer in memory.
    struct InboxBacklog {
        /// The range of their positions in the inbox: from the first one to the end of the last.
        private var places: Range<EventPosition>?
        /// The events among them that the module is not to receive: another one claimed them.
        private var excluded: Set<EventPosition> = []

        /// The last event that the module had begun and was to receive again.
        private var putBack: EventPosition?
        /// Whether the module was stopped in it.
        private var isGivenBack = false

        /// The number of events among them that are for the module.
        private(set) var count = 0

        var first: EventPosition? { places?.lowerBound }

        /// - Parameters:
        ///   - entry: An event that stands after all others.
        ///   - isExcluded: Whether the module is not to receive it.
        ///   - isFollowing: Whether an earlier event may yet be put back in front of it.
        mutating func append(_ entry: InboxEntry, isExcluded: Bool, isFollowing: Bool = false) {
            // An excluded event before the first one is not recorded.
            if places == nil, isExcluded, !isFollowing { return }
            places = (places?.lowerBound ?? entry.position)..<entry.end
            if isExcluded { excluded.insert(entry.position) } else { count += 1 }
        }

        /// Adds an event that the module was processing in front of the others.
        ///
        /// - Parameters:
        ///   - passed: The events behind it that the module is not to receive.
        ///   - isGivenBack: Whether it took too long for a stop or for another change of the module.
        mutating func putBack(
            _ entry: InboxEntry, passing passed: Set<EventPosition>, isGivenBack: Bool = false
        ) {
            let all = places ?? entry.position..<entry.end
            places =
                min(entry.position, all.lowerBound)..<max(entry.end, all.upperBound)
            excluded.formUnion(passed)
            (putBack, self.isGivenBack) = (entry.position, isGivenBack)
            count += 1
        }

        /// Excludes an event, which may be one of these, from those that the module is to receive.
        mutating func exclude(_ entry: InboxEntry) {
            guard let all = places, all.contains(entry.position),
                excluded.insert(entry.position).inserted
            else { return }
            count = max(0, count - 1)
            // It was the only one: nothing is left to wait for.
            if all.lowerBound == entry.position, all.upperBound == entry.end {
                self = InboxBacklog()
            }
        }

        /// The first event, if the module has begun it, and was stopped in it.
        var begun: EventPosition? { isGivenBack && first == putBack ? first : nil }

        /// Returns whether the module has received an event before, and not returned from it.
        func hasBegun(_ entry: InboxEntry) -> Bool { entry.position == putBack }

        /// Removes the event that was read at the first position.
        ///
        /// - Returns: Whether the module is to receive it.
        mutating func take(_ entry: InboxEntry) -> Bool {
            guard let all = places, entry.position < all.upperBound else {
                self = InboxBacklog()
                return false
            }
            // The event was dropped while it was read: another thread moves it to the dead letters.
            guard entry.position >= all.lowerBound else { return false }
            places = entry.end < all.upperBound ? entry.end..<all.upperBound : nil
            let isExcluded = excluded.remove(entry.position) != nil
            if !isExcluded { count -= 1 }
            if places == nil { self = InboxBacklog() }
            return !isExcluded
        }

        /// Removes the events before a position, which need not be that of an event; all events where it is
        /// nil.
        ///
        /// - Returns: Their positions, and the events among them that the module was not to receive; nil for
        ///   none.
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

        /// Subtracts the number of dropped events that were to be delivered.
        mutating func uncount(_ dropped: Int) { count = max(0, count - dropped) }
    }

    /// Notes that a durable event was accepted: modules that are behind have not received it, too.
    mutating func noteAccepted(log: EventLog) {
        for module in modules.values where module.isLevel && module.slot.isListed {
            noteUndelivered(module.slot, log)
        }
    }

    // MARK: Reading on in the inbox

    /// Takes an event that was read from the inbox for an overdue module.
    ///
    /// - Parameters:
    ///   - entry: The entry of the event; nil where there is nothing more to read.
    ///   - event: The event; nil where the entry is not an event.
    ///   - slot: The module's slot.
    ///   - thread: The module's thread.
    ///   - log: The log.
    /// - Returns: The event that the module is to receive; nil for none.
    mutating func take(
        _ entry: InboxEntry?, _ event: LifecycleEvent?, for slot: ModuleSlot, on thread: LaneThread,
        log: EventLog
    ) -> LifecycleEvent? {
        guard self[slot]?.thread === thread else { return nil }
        guard let entry else {
            modules[slot.number]?.inboxBacklog = InboxBacklog()
            return nil
        }
        let isRepeated = modules[slot.number]?.inboxBacklog.hasBegun(entry) == true
        let isWanted = modules[slot.number]?.inboxBacklog.take(entry) == true
        guard isWanted, var event, event.isFor(slot.id) else {
            noteUndelivered(slot, log)
            return nil
        }
        if isRepeated { event = event.standing(at: entry.repeated) }
        modules[slot.number]?.event = event
        modules[slot.number]?.begun = entry
        noteUndelivered(slot, log)
        return event
    }

    /// Returns the first durable event that each module that is behind has not received.
    ///
    /// - Parameter log: The log.
    /// - Returns: The positions by module; none for a module that has no durable event to receive.
    mutating func undelivered(log: EventLog) -> [(slot: ModuleSlot, position: EventPosition)] {
        let overdue = modules.values.map(\.slot).compactMap { slot in
            slot.isListed ? firstUndelivered(slot, log).map { (slot, $0) } : nil
        }
        let failed = failed.values.compactMap { module in
            module.inboxBacklog.first.map { (module.slot, $0) }
        }
        // The dropped ranges last, so that their positions take precedence.
        return overdue + failed + droppedRanges.map { ($0.slot, $0.first) }
    }

    mutating func noteUndelivered(_ slot: ModuleSlot, _ log: EventLog) {
        guard slot.isListed else { return noteLevel(slot) }
        let own = firstDropped(of: slot) ?? firstUndelivered(slot, log)
        modules[slot.number]?.isLevel = own == nil
        // What a stop leaves to the next host, or waits since it failed, is older or newer.
        let first = [own, failed(slot)?.inboxBacklog.first].compactMap(\.self).min()
        let module = modules[slot.number]
        let begun = [
            module?.begun?.position, module?.inboxBacklog.begun, failed(slot)?.inboxBacklog.begun,
        ]
        note(slot, first, first != nil && begun.contains(first))
    }

    private mutating func firstUndelivered(_ slot: ModuleSlot, _ log: EventLog) -> EventPosition? {
        guard let module = modules[slot.number] else { return nil }
        if let begun = module.begun { return begun.position }
        if let place = module.inboxBacklog.first { return place }
        // Each event is checked once, however often this is called.
        var position = max(module.position, module.undeliveredFrom)
        defer { modules[slot.number]?.undeliveredFrom = position }
        while position < log.head {
            if let kept = log[position], let entry = kept.event.entry, kept.isFor(slot) != false,
                !module.asked.contains(position)
            {
                return entry.position
            }
            position += 1
        }
        return nil
    }

    /// Notes that a module has received all durable events, except those that were dropped for it and those
    /// that wait for it since it failed.
    func noteLevel(_ slot: ModuleSlot) {
        let first = [firstDropped(of: slot), failed(slot)?.inboxBacklog.first].compactMap(\.self)
            .min()
        note(slot, first, first != nil && first == failed(slot)?.inboxBacklog.begun)
    }

    private func firstDropped(of slot: ModuleSlot) -> EventPosition? {
        droppedRanges.lazy.filter { $0.slot === slot }.map(\.first).min()
    }

    // MARK: Dropping

    /// Drops the events with which an overdue or failed module is too far behind.
    ///
    /// Until ``settle(_:dropped:log:)`` they still count as undelivered.
    ///
    /// - Parameters:
    ///   - place: The end of the range; it need not be the position of an event.
    ///   - slot: The module's slot.
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

    /// Drops all durable events that a module has not received, since it is removed.
    ///
    /// - Parameters:
    ///   - slot: The module's slot, which is still registered.
    ///   - rest: The events for the module that the lane has not reached; nil for none.
    ///   - log: The log.
    /// - Returns: The number of dropped events, except those of `rest`.
    mutating func dropAll(
        of slot: ModuleSlot, and rest: Range<EventPosition>?, log: EventLog
    ) -> Int {
        for index in droppedRanges.indices where droppedRanges[index].slot === slot {
            droppedRanges[index].outlastsModule = true
        }
        var state = "had not received it"
        var backlog = InboxBacklog()
        var begun: InboxEntry?
        if let failed = failed(slot) {
            (state, backlog) = ("had failed", failed.inboxBacklog)
            self.failed[slot.number] = nil
            slot.isAwaited.store(false, ordering: .relaxed)
        } else if holds(slot) {
            moveToInboxBacklog(of: slot, log: log)
            state = "was unresponsive"
            backlog = modules[slot.number]?.inboxBacklog ?? backlog
            begun = modules[slot.number]?.begun
            modules[slot.number]?.inboxBacklog = InboxBacklog()
            modules[slot.number]?.begun = nil
        }
        let count = backlog.count + (begun == nil ? 0 : 1)
        let dropped = backlog.drop(before: nil)
        let places = dropped.map {
            $0.places.lowerBound..<(rest?.upperBound ?? $0.places.upperBound)
        }
        if let first = begun?.position ?? (places ?? rest)?.lowerBound {
            droppedRanges.append(
                DroppedRange(
                    slot: slot, first: first, begun: begun?.position, places: places ?? rest,
                    excluded: dropped?.excluded ?? [], reason: .removed(state),
                    outlastsModule: true))
        }
        noteLevel(slot)
        return count
    }

    /// Drops the durable event that an overdue module is processing.
    ///
    /// - Parameters:
    ///   - slot: The module's slot.
    ///   - reason: The reason.
    /// - Returns: False where it is not processing one.
    mutating func dropCurrentEvent(of slot: ModuleSlot, because reason: String) -> Bool {
        guard let begun = self[slot]?.begun else { return false }
        modules[slot.number]?.begun = nil
        droppedRanges.append(
            DroppedRange(
                slot: slot, first: begun.position, begun: begun.position, places: nil, excluded: [],
                reason: .event(reason), outlastsModule: true))
        return true
    }

    /// Notes the positions in the inbox of all durable events that an overdue module has not received.
    mutating func moveToInboxBacklog(of slot: ModuleSlot, log: EventLog) {
        while let position = modules[slot.number]?.position, position < log.head {
            if let kept = log[position], let entry = kept.event.entry {
                // Whether an event that is still being delivered is claimed is not known yet: see
                // ``noteClaimed(_:)``.
                let isAsked = modules[slot.number]?.asked.contains(position) == true
                modules[slot.number]?.addToInboxBacklog(
                    entry, isExcluded: isAsked || kept.isFor(slot) == false)
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
        // An event that it has begun is reported by itself.
        if case .event = range.reason {} else { modules[range.slot.number]?.missed += dropped }
        noteUndelivered(range.slot, log)
    }
}

extension Lane {
    /// Drops all durable events that a module has not received, since it is removed.
    ///
    /// - Parameters:
    ///   - slot: The module's slot, which is still registered.
    ///   - rest: The events for the module that the lane has not reached; nil for none.
    /// - Returns: The number of dropped events, except those of `rest`.
    func dropAll(of slot: ModuleSlot, and rest: Range<EventPosition>?) -> Int {
        state.withLock { $0.overdue.dropAll(of: slot, and: rest, log: $0.log) }
    }
}

/// Durable events that a module is no longer to receive, on their way to the dead letters.
struct DroppedRange: Sendable {
    /// The reason.
    enum Reason: Hashable, Sendable {
        /// The module is too far behind.
        case behind
        /// The module has failed, and too many events wait for it.
        case failed
        /// The module was removed or disabled; its state at that time, in words that follow its id.
        case removed(String)
        /// The module cannot receive this event, for the reason in words.
        case event(String)
    }

    let slot: ModuleSlot
    /// The position of the first event; no other dropped range of the module begins there.
    let first: EventPosition
    /// The position of the event that the module is processing.
    let begun: EventPosition?
    /// The positions of the other events.
    let places: Range<EventPosition>?
    /// The events among them that the module was not to receive.
    let excluded: Set<EventPosition>
    let reason: Reason
    /// Whether the events are to be reported even if the module is unloaded.
    var outlastsModule = false
}
