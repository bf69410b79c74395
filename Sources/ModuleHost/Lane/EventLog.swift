/// The ordered log of all events; a part of it is kept in memory.
///
/// An event's position is its number, from 0, in the order of acceptance. The log keeps an event only while a
/// module is behind it; everything else is a counter.
struct EventLog {
    /// An event that a module has not received yet.
    struct Kept: Sendable {
        let event: LifecycleEvent
        /// The numbers of the overdue modules that are not to receive the event; nil while that is not known,
        /// because the search for a module that claims the event continues.
        var unreached: Set<UInt16>?
        /// The bytes of all events that were kept before this one.
        fileprivate var bytesBefore = 0

        /// Returns whether a module that is behind receives the event; nil while that is not known.
        func isFor(_ slot: ModuleSlot) -> Bool? {
            unreached.map { !$0.contains(slot.number) && event.isFor(slot.id) }
        }

        init(_ event: LifecycleEvent) {
            self.event = event
            unreached = event.kind.isClaimed ? nil : []
        }
    }

    /// The bytes of payloads that a module may be behind in memory.
    static let byteLimit = 16 << 20

    /// The position that the next event gets.
    private(set) var head: UInt64 = 0
    /// The events kept, the last of which stands at `head - 1`.
    private var kept = Deque<Kept>()
    /// The bytes of all events that were ever kept.
    private var bytes = 0

    /// The number of events that are kept.
    var count: Int { kept.count }

    /// Assigns its position to `event`.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - keeping: Whether a module is behind, so that the event must be kept.
    mutating func append(_ event: inout LifecycleEvent, keeping: Bool) {
        event.sequence = head
        head += 1
        if keeping {
            keepNow(event)
        } else if !kept.isEmpty {
            kept = Deque()
        }
    }

    /// Keeps the newest event, which was not kept at first: a module became overdue while it was being
    /// delivered.
    mutating func keep(_ event: LifecycleEvent) {
        guard count == 0, event.sequence + 1 == head else { return }
        keepNow(event)
    }

    private mutating func keepNow(_ event: LifecycleEvent) {
        var event = Kept(event)
        event.bytesBefore = bytes
        kept.append(event)
        bytes += event.event.footprint
    }

    /// Returns the bytes of the payloads of all kept events from `position` on.
    func bytes(from position: UInt64) -> Int {
        self[max(position, head - UInt64(count))].map { bytes - $0.bytesBefore } ?? 0
    }

    /// The event at `position`, or nil where it is not kept.
    subscript(position: UInt64) -> Kept? { index(of: position).flatMap { kept[$0] } }

    /// Notes that the search for a module that claims the event at `position` has ended before it reached
    /// these overdue modules.
    mutating func endSearch(at position: UInt64, before unreached: [ModuleSlot]) {
        guard let index = index(of: position) else { return }
        // By number, and not by rank: the order may change while they are overdue.
        kept[index]?.unreached = Set(unreached.map(\.number))
    }

    private func index(of position: UInt64) -> Int? {
        let first = head - UInt64(count)
        guard position >= first, position < head else { return nil }
        return Int(position - first)
    }

    /// Releases everything before `position`; no module is behind it any more.
    mutating func trim(before position: UInt64) {
        let first = head - UInt64(count)
        guard position > first else { return }
        for _ in 0..<min(Int(position - first), count) { _ = kept.popFirst() }
    }
}
