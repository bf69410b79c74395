/// Durable events that a module has not received and that are no longer in memory: a range of the inbox.
struct InboxBacklog {
    /// The range of their positions in the inbox: from the first one to the end of the last.
    private var places: Range<EventPosition>?
    /// The events, also beside the range, that the module is not to receive: another one claimed them, or it has answered them
    /// before an older one, which may be put back.
    private var passed: Set<EventPosition> = []
    /// The number of those that were left when they were last looked through.
    private var passedBefore = 0
    /// The first event, where the module was stopped in it.
    private var givenBack: EventPosition?

    /// The number of events among them that are for the module; while they are read, at least one.
    private(set) var count = 0

    var first: EventPosition? { places?.lowerBound }

    /// The first event, if the module has begun it, and was stopped in it.
    var begun: EventPosition? { givenBack == first ? givenBack : nil }

    /// Adds an event for the module that stands after all others.
    mutating func append(_ entry: InboxEntry) {
        places = (places?.lowerBound ?? entry.position)..<entry.end
        count += 1
    }

    /// Adds an event that the module was processing in front of the others.
    ///
    /// - Parameters:
    ///   - entry: The event.
    ///   - isGivenBack: Whether it took too long for a stop or for another change of the module.
    mutating func putBack(_ entry: InboxEntry, isGivenBack: Bool) {
        let all = places ?? entry.position..<entry.end
        places = min(entry.position, all.lowerBound)..<max(entry.end, all.upperBound)
        givenBack = isGivenBack ? entry.position : nil
        count += 1
    }

    /// Excludes an event from those that the module is to receive: one of these, or one that stands after all.
    mutating func pass(_ entry: InboxEntry) {
        guard passed.insert(entry.position).inserted, let all = places,
            all.contains(entry.position)
        else { return }
        count = max(1, count - 1)
        // It was the only one: nothing is left to wait for.
        if all.lowerBound == entry.position, all.upperBound == entry.end { end() }
    }

    /// Excludes an event from those that the module is to receive, which is none of them yet: it has answered it.
    mutating func exclude(_ entry: InboxEntry) { passed.insert(entry.position) }

    /// Forgets the events that the module is not to receive, up to the first one that it has not returned from; all where that is
    /// nil.
    mutating func forgetPassed(before first: EventPosition?) {
        // Not each time, which would take as many steps as there are.
        guard first == nil || passed.count > 64 + 2 * passedBefore, !passed.isEmpty else { return }
        passed = first.map { first in passed.filter { $0 >= first } } ?? []
        passedBefore = passed.count
    }

    /// Removes the event that was read at the first position.
    ///
    /// - Returns: Whether the module is to receive it.
    mutating func take(_ entry: InboxEntry) -> Bool {
        guard let all = places, entry.position < all.upperBound else {
            end()
            return false
        }
        // The event was dropped while it was read: another thread moves it to the dead letters.
        guard entry.position >= all.lowerBound else { return false }
        let isPassed = passed.contains(entry.position)
        // Between its own there are events that are none for it.
        if !isPassed { count = max(1, count - 1) }
        if entry.end < all.upperBound { places = entry.end..<all.upperBound } else { end() }
        return !isPassed
    }

    /// Removes the events before a position, which need not be that of an event; all events where it is nil.
    ///
    /// - Returns: Their positions, and the events among them that the module was not to receive; nil for none.
    mutating func drop(
        before place: EventPosition?
    ) -> (places: Range<EventPosition>, passed: Set<EventPosition>)? {
        guard let all = places else { return nil }
        let end = min(place ?? all.upperBound, all.upperBound)
        guard all.lowerBound < end else { return nil }
        let dropped = (all.lowerBound..<end, passed.filter { $0 < end })
        passed.subtract(dropped.1)
        if end < all.upperBound { places = end..<all.upperBound } else { self.end() }
        return dropped
    }

    /// Subtracts the number of dropped events that were to be delivered.
    mutating func uncount(_ dropped: Int) {
        count = places == nil ? 0 : max(1, count - dropped)
    }

    /// Removes all events.
    mutating func end() { (places, givenBack, count) = (nil, nil, 0) }
}
