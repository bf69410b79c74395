import AppService

/// The events that the lane has passed and that modules have yet to answer, with their results so far.
///
/// A value without lane and log: ``answer(_:to:by:)`` and ``leave(_:)`` return what is finished.
struct OpenEvents {
    struct Entry {
        let event: LifecycleEvent
        fileprivate(set) var tally: EventTally
        /// The instant at which its delivery began.
        let began: ContinuousClock.Instant
        /// The instant at which all modules were notified.
        let passed: ContinuousClock.Instant
        /// The modules that have yet to answer.
        fileprivate var waiting: Set<UInt16>
    }

    private var entries: [UInt64: Entry] = [:]
    /// The last answers of the modules that have one event at a time: the next one began then at the earliest.
    private var answered: [UInt16: ContinuousClock.Instant] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// Adds an event that at least one module has yet to answer.
    mutating func add(
        _ event: LifecycleEvent, _ tally: EventTally,
        since began: ContinuousClock.Instant, passed: ContinuousClock.Instant,
        waitingFor slots: [ModuleSlot]
    ) {
        entries[event.sequence] = Entry(
            event: event, tally: tally, began: began, passed: passed,
            waiting: Set(slots.map(\.number)))
    }

    /// Returns whether a module is yet to answer an event.
    func isAwaited(_ event: LifecycleEvent, by slot: ModuleSlot) -> Bool {
        entries[event.sequence]?.waiting.contains(slot.number) == true
    }

    /// The instant at which all modules were notified of an event; nil for one that has all answers.
    func passed(_ event: LifecycleEvent) -> ContinuousClock.Instant? {
        entries[event.sequence]?.passed
    }

    /// Takes the answer of a module.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - event: The event.
    ///   - slot: The slot of the module.
    ///   - now: The instant.
    /// - Returns: The event, where this is the last answer; nil also where the answer is too late.
    mutating func answer(
        _ answer: EventAnswer, to event: LifecycleEvent, by slot: ModuleSlot,
        at now: ContinuousClock.Instant
    ) -> Entry? {
        guard var entry = entries[event.sequence], entry.waiting.remove(slot.number) != nil else {
            return nil
        }
        entry.tally.take(answer, from: slot, of: event.kind)
        if answer.isOfHandler {
            let began = max(entry.passed, answered[slot.number] ?? entry.passed)
            entry.tally.note(began.duration(to: now), of: slot)
        }
        if slot.window == 1 { answered[slot.number] = now }
        entries[event.sequence] = entry.waiting.isEmpty ? nil : entry
        return entry.waiting.isEmpty ? entry : nil
    }

    /// Gives the same answer of a module to all events that it has yet to answer: it is unresponsive, or wants them later.
    ///
    /// - Returns: The events for which it was the last one, in order.
    mutating func leave(
        _ slot: ModuleSlot, as answer: EventAnswer = .none, at now: ContinuousClock.Instant,
        where isMeant: (LifecycleEvent) -> Bool = { _ in true }
    ) -> [Entry] {
        let left = entries.values.filter { $0.waiting.contains(slot.number) }.map(\.event)
            .filter(isMeant)
            .sorted { $0.sequence < $1.sequence }
        return left.compactMap { self.answer(answer, to: $0, by: slot, at: now) }
    }
}

extension EventAnswer {
    /// Whether a handler has taken the time until now, also one that has not answered.
    fileprivate var isOfHandler: Bool {
        switch self {
        case .reply(.notConcerned), .reply(.open), .later: false
        case .reply, .failed, .none: true
        }
    }
}

extension EventTally {
    fileprivate mutating func take(
        _ answer: EventAnswer, from slot: ModuleSlot, of kind: EventKind
    ) {
        switch answer {
        case .reply(.notConcerned): break
        case .reply(let reply):
            delivered += 1
            _ = take(reply, from: slot)
        case .failed:
            failed += 1
            if kind.wantsFetchResult { _ = take(.fetch(.failed), from: slot) }
        case .none:
            overdue += 1
            _ = takeOverdue(from: slot, of: kind)
        case .later: takeLater(from: slot, of: kind)
        }
    }
}
