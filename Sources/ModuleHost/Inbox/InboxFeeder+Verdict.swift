/// What becomes of a line of the log.
extension InboxFeeder {
    enum Verdict {
        case deliver(LifecycleEvent)
        /// Nobody is to hear it any more.
        case done
        /// An event of this id stands before it.
        case duplicate
        case reject(RejectedEvent)

        var rejection: RejectedEvent? {
            if case .reject(let rejection) = self { rejection } else { nil }
        }
    }

    mutating func verdict(on item: InboxItem, _ reader: InboxReader) throws(InboxError) -> Verdict {
        let record: InboxRecord
        do throws(InboxFault) {
            if let own = unread.take(for: item) {
                record = own
            } else {
                record = try InboxRecord(item)
            }
        } catch {
            return .reject(rejection(of: item, for: nil, "\(error)"))
        }
        if let id = record.id {
            ids.insert(id, at: item.position)
            let original = try ids.original(of: id, before: item.position, in: reader)
            if original != nil, !record.isRetried { return .duplicate }
        }
        let left = start.only(at: item.position)
        let meant = record.modules.map(Set.init)
        let only = left.map { left in meant.map(left.intersection) ?? left } ?? meant
        if only?.isEmpty == true { return .done }
        let begun = start.attempts[item.position] ?? 0
        if begun >= inbox.limits.attempts {
            return .reject(
                rejection(
                    of: item, id: record.id, attempt: begun, for: only,
                    "the host died \(begun) times while this event was delivered"))
        }
        return .deliver(
            record.event.standing(
                at: InboxEntry(
                    position: item.position, end: item.end, id: record.id, attempt: begun + 1,
                    only: only)))
    }

    func rejection(
        of item: InboxItem, id: String? = nil, attempt: Int? = nil,
        for modules: Set<ModuleID>?, _ reason: String
    ) -> RejectedEvent {
        RejectedEvent(
            time: .now(), reason: reason, position: item.position, id: id,
            attempt: attempt, modules: modules?.sorted { $0.text < $1.text },
            line: Array(item.bytes))
    }
}

extension Host {
    /// The cells of modules that are behind at the start.
    func cells(
        of places: [ModuleID: EventPosition]
    ) -> [(id: ModuleID, cell: Cell, place: EventPosition)] {
        gate.lane.allCells.compactMap { cell in
            guard let id = cell.id, let place = places[id] else { return nil }
            return (id, cell, place)
        }
    }
}
