import AppService
import Synchronization

/// The counts of an event that is being delivered.
///
/// Belongs to the thread that owns the lane.
class EventProgress {
    final var tally = EventTally()
    /// The modules whose replies come later.
    final var open: [ModuleSlot] = []
    /// The number of responders notified so far, with any result.
    ///
    /// Separate from the tally, and atomic: it is counted inside the call of a responder, when the lane can
    /// be lost between one instruction and the next. Then it may be one off.
    private final let notified = Atomic(0)
    /// The reading of the clock when the last responder returned: the end of one is the beginning of the next.
    ///
    /// Atomic as ``notified``: a thread that has lost the lane may write it, and one time is too short then.
    private final let lastReturn = Atomic(0)
    /// The longest times of responders so far in nanoseconds, each with the number of its slot in the lowest 16 bits; 0
    /// for none.
    private final let longest = InlineArray<8, Atomic<UInt64>> { _ in Atomic(0) }

    final var notifiedCount: Int { notified.load(ordering: .relaxed) }

    final func countNotified(_ number: Int = 1) {
        notified.store(notified.load(ordering: .relaxed) + number, ordering: .relaxed)
    }

    /// Whether the times of responders are taken.
    final var takesTimes = false

    /// Begins to take the times of responders.
    final func startTimes(at now: Int) { lastReturn.store(now, ordering: .relaxed) }

    /// Notes that a responder has returned or thrown.
    ///
    /// - Parameters:
    ///   - slot: The number of its module's slot.
    ///   - now: The reading of the clock, in nanoseconds.
    ///   - counts: The counts to which its time is added; nil where that is yet to end.
    ///   - isOwner: Returns whether the calling thread owns the lane.
    /// - Returns: The time; negative on a thread that has lost the lane, since the clock belongs to the next one.
    @inline(__always) @discardableResult
    final func noteReturn(
        of slot: UInt16, at now: Int, in counts: @autoclosure () -> DeliveryCounts.Address?,
        isOwner: () -> Bool
    ) -> Int {
        let time = now - lastReturn.load(ordering: .relaxed)
        // Nearly always: the clock moves once in some milliseconds.
        guard time > 0 else { return 0 }
        guard isOwner() else { return -1 }
        lastReturn.store(now, ordering: .relaxed)
        counts()?.add(time, of: slot)
        if time >= Self.named { noteSlow(slot, time) }
        return time
    }

    /// Notes a long time of a responder, in place of the shortest one where there are too many.
    @inline(never)
    private final func noteSlow(_ slot: UInt16, _ time: Int) {
        var place = 0
        for index in longest.indices {
            let (word, least) = (
                longest[index].load(ordering: .relaxed), longest[place].load(ordering: .relaxed)
            )
            if word >> 16 < least >> 16 { place = index }
        }
        let word = UInt64(min(time, 1 << 47)) << 16 | UInt64(slot)
        guard word >> 16 > longest[place].load(ordering: .relaxed) >> 16 else { return }
        longest[place].store(word, ordering: .relaxed)
    }

    private static let named = EventTally.named.wholeNanoseconds

    /// Notes that the lane goes on without a responder, which has not returned and has taken longest as a rule.
    final func noteOverdue(_ slot: UInt16, in lane: Lane) {
        guard takesTimes else { return }
        let now = lane.watchdog.time.coarseNanoseconds()
        // It counts when it returns.
        noteReturn(of: slot, at: now, in: lane.counts.address) { true }
    }

    /// Adds the modules that have taken long to the tally, in order of response; each time is right to one tick of the
    /// kernel.
    final func takeSlow(in lane: Lane) {
        guard longest[0].load(ordering: .relaxed) != 0 else { return }
        let all = longest.indices.compactMap { index -> (slot: ModuleSlot, time: Duration)? in
            let word = longest[index].load(ordering: .relaxed)
            guard word != 0, let slot = lane.slot(UInt16(truncatingIfNeeded: word)) else {
                return nil
            }
            return (slot, .nanoseconds(Int64(word >> 16)))
        }
        for (slot, time) in all.sorted(by: { $0.slot.rank < $1.slot.rank }) {
            tally.note(time, of: slot)
        }
    }

    final func reset() {
        tally = EventTally()
        open = []
        notified.store(0, ordering: .relaxed)
        // Each: a thread that has lost the lane may have stored one alone.
        for index in longest.indices where longest[index].load(ordering: .relaxed) != 0 {
            longest[index].store(0, ordering: .relaxed)
        }
    }

    /// Counts modules that have become overdue as that, and not as those whose replies come later.
    final func leave(_ slots: [ModuleSlot], of kind: EventKind) {
        for slot in open where slots.contains(where: { $0 === slot }) {
            tally.overdue += 1
            _ = tally.takeOverdue(from: slot, of: kind)
        }
        open.removeAll { slot in slots.contains { $0 === slot } }
    }

    /// Reports a responder that threw.
    ///
    /// - Returns: Whether the others are to be notified.
    func failed(
        _ slot: ModuleSlot, in event: LifecycleEvent, _ error: any Error, on thread: LaneThread
    ) -> FanStep { .next }
}

extension EventDefinition {
    @inline(__always)
    static func send(
        _ event: LifecycleEvent, from center: CommunicationCenter, through gate: Gate,
        on thread: LaneThread, after rank: UInt16, counting progress: EventProgress
    ) -> Bool {
        guard let content = content(of: event) else { return true }
        let (time, takesTimes) = (gate.lane.watchdog.time, progress.takesTimes)
        let counts = gate.lane.counts.address
        if takesTimes { progress.startTimes(at: time.coarseNanoseconds()) }
        let end = gate.fanOut(
            to: center.listeners(of: Self.self, for: event), on: thread,
            after: rank, at: event.sequence,
            overdue: { list, index in
                let slot = list[index].slot
                if gate.lane.isCatchingUp(slot) {
                    guard concerns(list[index].responder, list[index].member, content) else {
                        return .next
                    }
                    gate.lane.put(event, for: slot)
                    if !event.kind.isClaimed {
                        progress.open.append(slot)
                        return .next
                    }
                }
                progress.tally.overdue += 1
                return progress.tally.takeOverdue(from: slot, of: event.kind)
            },
            failure: { slot, error in
                if takesTimes {
                    let time = progress.noteReturn(
                        of: slot.number, at: time.coarseNanoseconds(), in: counts
                    ) { true }
                    if time > 0 { counts.noteLength(time, of: slot.number) }
                }
                progress.tally.failed += 1
                if event.kind.wantsFetchResult {
                    _ = progress.tally.take(.fetch(.failed), from: slot)
                }
                return progress.failed(slot, in: event, error, on: thread)
            },
            alone: { list, index in _ = try notify(list, index, event, content) },
            { list, index, entry in
                progress.countNotified()
                let reply = try notify(list, index, event, content)
                var taken = 0
                if takesTimes {
                    taken = progress.noteReturn(
                        of: list[index].number, at: time.coarseNanoseconds(),
                        in: reply.isOpen ? nil : counts
                    ) { gate.lane.owns(thread) }
                    // It was overdue: it has taken as long as it may, or longer.
                    if taken < 0 { taken = gate.lane.watchdog.limits.event.wholeNanoseconds }
                }
                switch reply {
                case .received:
                    counts.countDelivery(to: list[index].number, after: taken)
                    return .next
                case .notConcerned:
                    // A module that has lost the lane counts as overdue, whatever its result.
                    if gate.lane.owns(thread) { progress.countNotified(-1) }
                    if gate.lane.isCatchingUp(list[index].slot) {
                        gate.lane.withdraw(event, from: list[index].slot)
                    }
                    return .next
                case .fetch, .claim, .observed:
                    counts.countDelivery(to: list[index].number, after: taken)
                    guard entry.settle() else { throw LaneLost() }
                    return progress.tally.take(reply, from: list[index].slot)
                case .open:
                    guard entry.settle() else { throw LaneLost() }
                    progress.countNotified(-1)
                    progress.open.append(list[index].slot)
                    return .next
                }
            })
        if case .lost = end { return false }
        return true
    }
}

extension CommunicationCenter {
    /// Returns the listeners of an event, in order: nearly always all listeners of its kind.
    @inline(__always)
    func listeners<Event: EventDefinition>(
        of definition: Event.Type, for event: LifecycleEvent
    ) -> ResponderList<EventListener<Event.Responder>> {
        event.entry?.only == nil
            ? listeners(of: definition, event.kind)
            : fill(definition.list(of: event.kind), where: event.isFor)
    }

    /// Returns the listeners of a kind of event, looked up at the first one.
    @inline(__always)
    func listeners<Event: EventDefinition>(
        of definition: Event.Type, _ kind: EventKind
    ) -> ResponderList<EventListener<Event.Responder>> {
        let key = ObjectIdentifier(definition)
        if let known = lists.find(key) {
            return unsafeDowncast(known, to: ResponderList<EventListener<Event.Responder>>.self)
        }
        let list = fill(definition.list(of: kind))
        lists.set(list, for: key)
        return list
    }
}
