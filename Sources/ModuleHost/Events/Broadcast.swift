import Synchronization

/// The delivery of one event to all modules, on the lane.
struct Broadcast {
    let center: CommunicationCenter
    let gate: Gate
    let thread: LaneThread
    /// The counts, updated while the thread owns the lane.
    let progress: EventProgress
    /// The rank after which to begin.
    let after: UInt16
    /// Called with a responder that threw; returns whether the others are to be notified.
    let onFailure: (ModuleSlot, any Error) -> FanStep
    /// Whether the lane was lost in between: another thread goes on, and the counts belong to it.
    var isLost = false
}

/// The counts of an event that is being delivered.
///
/// Belongs to the thread that owns the lane.
class EventProgress {
    final var tally = EventTally()
    /// The number of responders notified so far, with any result.
    ///
    /// Separate from the tally, and atomic: it is counted inside the call of a responder, when the lane can
    /// be lost between one instruction and the next. Then it may be one off.
    private final let notified = Atomic(0)

    final var notifiedCount: Int { notified.load(ordering: .relaxed) }

    final func countNotified(_ number: Int = 1) {
        notified.store(notified.load(ordering: .relaxed) + number, ordering: .relaxed)
    }

    final func reset() {
        tally = EventTally()
        notified.store(0, ordering: .relaxed)
    }
}

extension EventDefinition {
    @inline(__always)
    static func send(_ event: LifecycleEvent, by broadcast: inout Broadcast) {
        guard let content = content(of: event) else { return }
        let (gate, thread, progress) = (broadcast.gate, broadcast.thread, broadcast.progress)
        let onFailure = broadcast.onFailure
        let end = gate.fanOut(
            to: broadcast.center.listeners(of: Self.self, for: event), on: thread,
            after: broadcast.after, at: event.sequence,
            overdue: { slot in
                progress.tally.overdue += 1
                return progress.tally.takeOverdue(from: slot, of: event.kind)
            },
            failure: { slot, error in
                progress.tally.failed += 1
                if event.kind.wantsFetchResult {
                    _ = progress.tally.take(.fetch(.failed), from: slot)
                }
                return onFailure(slot, error)
            },
            alone: { list, index in _ = try notify(list, index, event, content) },
            { list, index, entry in
                progress.countNotified()
                let reply = try notify(list, index, event, content)
                switch reply {
                case .received: return .next
                case .notConcerned:
                    // A module that has lost the lane counts as overdue, whatever its result.
                    if gate.lane.owns(thread) { progress.countNotified(-1) }
                    return .next
                case .fetch, .claim:
                    guard entry.settle() else { throw LaneLost() }
                    return progress.tally.take(reply, from: list[index].slot)
                }
            })
        if case .lost = end { broadcast.isLost = true }
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
        if let known = lists[key] {
            return unsafeDowncast(known, to: ResponderList<EventListener<Event.Responder>>.self)
        }
        let list = fill(definition.list(of: kind))
        lists[key] = list
        return list
    }
}
