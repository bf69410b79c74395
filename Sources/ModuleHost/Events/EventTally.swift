/// The result of an event so far.
struct EventTally {
    /// The number of responders that were notified and returned; known at the end.
    var delivered = 0
    /// The number of responders that were notified and threw.
    var failed = 0
    /// The number of late modules; the event waits for them.
    var late = 0
    /// The number of modules that became late in this very event.
    var lateInIt = 0
    /// The replies so far as one, where the event wants one.
    var fetch: FetchResult?
    /// The module that claimed the event.
    var claimedBy: Cell?
    /// The module at which a search for who claims the event ended; nil where it went round.
    var lastAsked: Cell?

    /// One that was told became late in it.
    ///
    /// - Returns: Whether the others are to be asked too.
    mutating func toldLate(_ cell: Cell?, of kind: EventKind) -> FanStep {
        late += 1
        lateInIt += 1
        return takeLate(from: cell, of: kind)
    }

    /// Counts a late module: as a failed fetch, and as the end of a search, since going on could act twice.
    mutating func takeLate(from cell: Cell?, of kind: EventKind) -> FanStep {
        if kind.isClaimed {
            lastAsked = cell
            return .end
        }
        return kind.wantsFetchResult ? take(.fetch(.failed), from: cell) : .next
    }

    /// Takes a reply in.
    ///
    /// - Returns: Whether the others are to be asked too.
    mutating func take(_ reply: EventReply, from cell: Cell?) -> FanStep {
        switch reply {
        case .heard, .notConcerned, .claim(false): return .next
        case .fetch(let result):
            fetch = fetch?.joined(with: result) ?? result
            return .next
        case .claim(true):
            claimedBy = cell
            lastAsked = cell
            return .end
        }
    }
}
