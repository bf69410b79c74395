import Synchronization

/// The durable events that modules have not received: what the inbox and the black box know of them.
extension Mailboxes {
    /// Returns the first durable event that each module has not received.
    ///
    /// - Returns: The positions by module; none for a module that has no durable event to receive.
    var undelivered: [(slot: ModuleSlot, position: EventPosition)] {
        let waiting = entries.values.compactMap { entry in
            entry.counts ? entry.mail.first.map { (entry.slot, $0) } : nil
        }
        // The dropped ranges last, so that their positions take precedence.
        return waiting + droppedRanges.map { ($0.slot, $0.first) }
    }

    /// Returns the durable events that the lane has passed, and that a module has yet to receive.
    ///
    /// - Returns: Their number, which is that of the module with the most of them, and the position of the first; nil for
    ///   none.
    var pending: (count: Int, first: EventPosition)? {
        let counted = entries.values.filter(\.counts)
        guard let first = counted.compactMap(\.mail.first).min() else { return nil }
        return (counted.map(\.mail.durableCount).max() ?? 0, first)
    }

    /// Notes the first durable event that a module has not received, dropped ones among them.
    func noteUndelivered(_ slot: ModuleSlot) {
        let entry = self[slot].flatMap { $0.counts ? $0 : nil }
        let dropped = droppedRanges.lazy.filter { $0.slot === slot }.map(\.first).min()
        let own = entry?.mail.first
        let first = [dropped, own].compactMap(\.self).min()
        note(
            slot,
            first.map {
                let isBegun =
                    $0 == own && !slot.limits.hasProcess && entry?.mail.isFirstBegun == true
                return UndeliveredEvents(
                    first: $0, isBegun: isBegun, notified: entry?.mail.notified)
            })
    }

    // MARK: Dropping

    /// Drops the events with which an overdue or failed module is too far behind.
    ///
    /// Until ``settle(_:dropped:)`` they still count as undelivered.
    ///
    /// - Parameters:
    ///   - place: The end of the range; it need not be the position of an event.
    ///   - slot: The module's slot.
    /// - Returns: The dropped range; nil for none.
    mutating func drop(before place: EventPosition, by slot: ModuleSlot) -> DroppedRange? {
        guard let entry = self[slot], !droppedRanges.contains(where: { $0.slot === slot }) else {
            return nil
        }
        let begun = entry.isHeld ? [] : entries[slot.number]?.mail.dropBegun(before: place) ?? []
        entries[slot.number]?.mail.spill(before: place)
        let dropped = entries[slot.number]?.mail.backlog.drop(before: place)
        let firsts = [begun.first, dropped?.places.lowerBound].compactMap(\.self)
        guard let first = firsts.min() else { return nil }
        let range = DroppedRange(
            slot: slot, first: first, begun: begun, places: dropped?.places,
            excluded: dropped?.passed ?? [], reason: entry.isHeld ? .failed : .behind,
            outlastsModule: entry.isHeld)
        droppedRanges.append(range)
        return range
    }

    /// Drops all durable events that a module has not received, since it is removed.
    ///
    /// - Parameters:
    ///   - slot: The module's slot, which is still registered.
    ///   - rest: The events for the module that the lane has not reached; nil for none.
    /// - Returns: The number of dropped events, except those of `rest`.
    mutating func dropAll(of slot: ModuleSlot, and rest: Range<EventPosition>?) -> Int {
        for index in droppedRanges.indices where droppedRanges[index].slot === slot {
            droppedRanges[index].outlastsModule = true
        }
        let state =
            self[slot].map { $0.isHeld ? "had failed" : "was unresponsive" }
            ?? "had not received it"
        entries[slot.number]?.mail.spillAll()
        let count = self[slot]?.mail.durableCount ?? 0
        let begun = entries[slot.number]?.mail.dropBegun(before: nil) ?? []
        let dropped = entries[slot.number]?.mail.backlog.drop(before: nil)
        let places = dropped.map {
            $0.places.lowerBound..<(rest?.upperBound ?? $0.places.upperBound)
        }
        let firsts = [begun.first, (places ?? rest)?.lowerBound].compactMap(\.self)
        if let first = firsts.min() {
            droppedRanges.append(
                DroppedRange(
                    slot: slot, first: first, begun: begun, places: places ?? rest,
                    excluded: dropped?.passed ?? [], reason: .removed(state),
                    outlastsModule: true))
        }
        if self[slot]?.isHeld == true { release(slot) } else { noteUndelivered(slot) }
        return count
    }

    /// Drops a durable event that a module is processing.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - slot: The module's slot.
    ///   - reason: The reason.
    /// - Returns: False where it is not processing it.
    mutating func drop(
        _ event: LifecycleEvent, of slot: ModuleSlot, because reason: String
    ) -> Bool {
        guard let entry = event.entry, self[slot] != nil,
            entries[slot.number]?.mail.drop(entry) == true
        else { return false }
        droppedRanges.append(
            DroppedRange(
                slot: slot, first: entry.position, begun: [entry.position], places: nil,
                excluded: [],
                reason: .event(reason), outlastsModule: true))
        return true
    }

    /// Notes that a dropped range is in the dead letters.
    mutating func settle(_ range: DroppedRange, dropped: Int) {
        droppedRanges.removeAll { $0.slot === range.slot && $0.first == range.first }
        if self[range.slot] != nil {
            entries[range.slot.number]?.mail.backlog.uncount(dropped)
            // All others are reported by themselves.
            if case .behind = range.reason {
                entries[range.slot.number]?.mail.countMissed(dropped)
            }
        }
        noteUndelivered(range.slot)
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
    /// The positions of the events that the module is processing, in order.
    let begun: [EventPosition]
    /// The positions of the other events.
    let places: Range<EventPosition>?
    /// The events among them that the module was not to receive.
    let excluded: Set<EventPosition>
    let reason: Reason
    /// Whether the events are to be reported even if the module is unloaded.
    var outlastsModule = false
}
