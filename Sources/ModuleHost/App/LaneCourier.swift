/// Takes an event round a center, on the lane.
struct LaneCourier: Courier {
    let center: CommunicationCenter
    let gate: Gate
    let thread: LaneThread
    /// The job in hand, whose tally is kept while the lane is ours.
    let job: EventJob
    let event: LifecycleEvent
    /// The rank after which to begin.
    let after: UInt16
    /// Told of a responder that threw; says whether the others are to be told.
    let onFailure: (Cell, any Error) -> FanStep
    /// Whether the lane was lost on the way: another thread goes on, and the job is not ours.
    private(set) var isLost = false

    init(
        center: CommunicationCenter, gate: Gate, thread: LaneThread, job: EventJob,
        event: LifecycleEvent, after: UInt16, onFailure: @escaping (Cell, any Error) -> FanStep
    ) {
        self.center = center
        self.gate = gate
        self.thread = thread
        self.job = job
        self.event = event
        self.after = after
        self.onFailure = onFailure
    }

    @inline(__always)
    mutating func tell<Responder>(
        _ kind: Responder.Type, _ body: (ResponderList<Responder>.Entries, Int) throws -> Void
    ) {
        offer(kind) { entries, index in
            try body(entries, index)
            return true
        }
    }

    @inline(__always)
    mutating func offer<Responder>(
        _ kind: Responder.Type, _ body: (ResponderList<Responder>.Entries, Int) throws -> Bool
    ) {
        let end = gate.fanOut(
            to: list(of: kind), on: thread, after: after, at: event.sequence,
            late: { _ in
                job.tally.late += 1
                return .next
            },
            failure: { cell, error in
                job.tally.failed += 1
                return onFailure(cell, error)
            },
            alone: { entries, index in _ = try body(entries, index) },
            { entries, index, _ in
                guard entries[index].member.hears(event.kind) else { return .next }
                job.countTold()
                // Who has lost the lane counts as late, whatever it says.
                if try !body(entries, index), gate.lane.owns(thread) { job.countTold(-1) }
                return .next
            })
        if case .lost = end { isLost = true }
    }

    /// Returns the responders that receive the event: nearly always all of a kind.
    @inline(__always)
    private func list<Responder>(of kind: Responder.Type) -> ResponderList<Responder> {
        event.entry?.only == nil
            ? center.list(of: kind)
            : center.list(of: kind, where: event.isFor)
    }

    @inline(__always)
    mutating func ask<Responder>(
        _ kind: Responder.Type,
        _ body: (ResponderList<Responder>.Entries, Int) throws -> EventReply
    ) {
        let end = gate.fanOut(
            to: list(of: kind), on: thread, after: after, at: event.sequence,
            late: { cell in
                job.tally.late += 1
                return job.tally.takeLate(from: cell, of: event.kind)
            },
            failure: { cell, error in
                job.tally.failed += 1
                if event.kind.wantsFetchResult { _ = job.tally.take(.fetch(.failed), from: cell) }
                return onFailure(cell, error)
            },
            alone: { entries, index in _ = try body(entries, index) },
            { entries, index, passage in
                guard entries[index].member.hears(event.kind) else { return .next }
                job.countTold()
                let reply = try body(entries, index)
                guard passage.settle() else { throw LaneLost() }
                return job.tally.take(reply, from: entries[index].cell)
            })
        if case .lost = end { isLost = true }
    }
}
