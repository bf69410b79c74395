/// The result of an event so far.
struct EventTally {
    /// The time from which on a module is named that takes as long: more than two ticks of the kernel, which measure it.
    static let named: Duration = .milliseconds(10)

    /// The instant at which the delivery began, of an event whose outcome came behind others; nil for another one.
    var began: ContinuousClock.Instant?
    /// The number of responders that were notified and returned; known at the end.
    var delivered = 0
    /// The number of those that receive every event.
    var observed = 0
    /// The number of responders that were notified and threw.
    var failed = 0
    /// The number of overdue modules; the event waits for them.
    var overdue = 0
    /// The number of modules that receive the event later, at their own wish.
    var later = 0
    /// The number of modules that became overdue in this event.
    var overdueInIt = 0
    /// The joined replies so far, where the event has a reply.
    var fetch: FetchResult?
    /// The module that claimed the event.
    var claimedBy: ModuleSlot?
    /// The modules that took ``named`` or longer, with their times; of very many, the slowest.
    ///
    /// For a module that answered later, with the time since all were notified, or since it answered the event before.
    private(set) var slow: [(slot: ModuleSlot, time: Duration)] = []
    /// The module that took longest, and its time; nil for less than ``named``.
    var slowest: (slot: ModuleSlot, time: Duration)? { slow.max { $0.time < $1.time } }
    /// The module at which a search for a claim ended; nil where all modules were called.
    var lastAsked: ModuleSlot?

    private static let mostSlow = 8

    /// Notes the time of a module, where that is long: beside a time that it had before.
    mutating func note(_ time: Duration, of slot: ModuleSlot) {
        guard time >= Self.named else { return }
        if let index = slow.firstIndex(where: { $0.slot === slot }) {
            slow[index].time += time
        } else if slow.count < Self.mostSlow {
            slow.append((slot, time))
        } else if let least = slow.indices.min(by: { slow[$0].time < slow[$1].time }),
            slow[least].time < time
        {
            slow[least] = (slot, time)
        }
    }

    /// Counts a notified module that became overdue in the event.
    ///
    /// - Returns: Whether the others are to be notified too.
    mutating func notifiedOverdue(_ slot: ModuleSlot?, of kind: EventKind) -> FanStep {
        overdue += 1
        overdueInIt += 1
        return takeOverdue(from: slot, of: kind)
    }

    /// Counts an overdue module: as a failed fetch, and as the end of a search, since continuing could act
    /// twice.
    mutating func takeOverdue(from slot: ModuleSlot?, of kind: EventKind) -> FanStep {
        if kind.isClaimed {
            lastAsked = slot
            return .end
        }
        return kind.wantsFetchResult ? take(.fetch(.failed), from: slot) : .next
    }

    /// Counts a module that receives the event later: as a failed fetch.
    mutating func takeLater(from slot: ModuleSlot, of kind: EventKind) {
        later += 1
        if kind.wantsFetchResult { _ = take(.fetch(.failed), from: slot) }
    }

    /// Adds a reply.
    ///
    /// - Returns: Whether the others are to be notified too.
    mutating func take(_ reply: EventReply, from slot: ModuleSlot?) -> FanStep {
        switch reply {
        case .received, .notConcerned, .claim(false), .open: return .next
        case .fetch(let result):
            fetch = fetch?.joined(with: result) ?? result
            return .next
        case .observed(let result):
            observed += 1
            return result.map { take(.fetch($0), from: slot) } ?? .next
        case .claim(true):
            claimedBy = slot
            lastAsked = slot
            return .end
        }
    }
}
