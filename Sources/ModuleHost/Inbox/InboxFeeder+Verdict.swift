/// Deciding how to treat a line of the log.
extension InboxFeeder {
    enum Verdict {
        case deliver(LifecycleEvent)
        /// The event is not to be delivered any more.
        case done
        /// An earlier event has the same id and the same contents.
        case duplicate
        case reject(DeadLetter)
        /// The line is among the dead letters already, for this reason.
        case rejectedBefore(String)

        var rejection: DeadLetter? {
            if case .reject(let rejection) = self { rejection } else { nil }
        }
    }

    mutating func verdict(on item: InboxItem, _ reader: InboxReader) throws(InboxError) -> Verdict {
        let record: InboxRecord
        do throws(InboxRecordError) {
            if let own = unread.take(for: item) {
                record = own
            } else {
                record = try InboxRecord(item)
            }
        } catch {
            // An event that lies beyond the reach of positions can be retried by its id.
            let isEvent = error.reasons == [.beyondReach]
            let id = isEvent ? (try? InboxRecord(parsing: item.bytes))?.id : nil
            return try reject(rejection(of: item, id: id, for: nil, "\(error)"))
        }
        if let id = record.id {
            let original = try known.insert(id, at: item.position, comparingIn: reader)
            if let original, !record.isRetried {
                let conflict = IDConflict(
                    id, of: record, and: original.record, at: original.position)
                guard let conflict else { return .duplicate }
                known.remove(id, at: item.position)
                return try reject(rejection(of: item, id: id, for: nil, "\(conflict)"))
            }
        }
        let left = start.only(at: item.position)
        let meant = record.modules.map(Set.init)
        let only = left.map { left in meant.map(left.intersection) ?? left } ?? meant
        if only?.isEmpty == true { return .done }
        let begun = start.attempts[item.position] ?? 0
        if begun >= inbox.limits.attempts {
            return try reject(
                rejection(
                    of: item, id: record.id, attempt: begun, for: only,
                    "the host died \(begun) times while this event was delivered"))
        }
        return .deliver(
            record.event.standing(
                at: InboxEntry(
                    position: item.position, end: item.end, id: record.id,
                    source: record.source, attempt: begun + 1,
                    // A module that is behind may have been asked before whether it claims this.
                    isRepeated: start.isUncertain(at: item.position)
                        || left != nil && record.event.kind.isClaimed, only: only)))
    }

    /// Rejects those of the prepared events that are for modules which the app does not have, such as a dead letter that is retried while its
    /// module is disabled.
    ///
    /// One that is for other modules, too, is rejected for all of them: then it can be retried for all.
    mutating func putAsideWithoutModule(_ host: any InboxHost) {
        for (index, verdict) in verdicts.enumerated() {
            // An event that the last host has left is in the dead letters when its module is not there any more.
            guard case .deliver(let event) = verdict, let entry = event.entry,
                let only = entry.only, start.only(at: entry.position) == nil
            else { continue }
            let missing = only.subtracting(host.enabledModules).sortedByText(\.text)
            guard let first = missing.first else { continue }
            verdicts[index] = .reject(
                rejection(
                    of: next[index], id: entry.id,
                    attempt: entry.attempt > 1 ? entry.attempt - 1 : nil,
                    for: only,
                    "module '\(first)' is disabled, or not in the slatefile: retry the event when it is there"
                ))
        }
    }

    /// Rejects an event, unless the last host did so and died before it had noted that position.
    private mutating func reject(_ event: DeadLetter) throws(InboxError) -> Verdict {
        guard event.modules == nil else { return .reject(event) }
        let known: Set<DeadLetterPlace>
        if let rejectedBefore {
            known = rejectedBefore
        } else {
            known = try DeadLetters(inbox.folder).recentPlaces()
            rejectedBefore = known
        }
        return known.contains(DeadLetterPlace(event))
            ? .rejectedBefore(event.reason) : .reject(event)
    }

    func rejection(
        of item: InboxItem, id: String? = nil, attempt: Int? = nil,
        for modules: Set<ModuleID>?, _ reason: String
    ) -> DeadLetter {
        DeadLetter(
            time: .now(), reason: reason, position: item.position,
            offset: item.offset < inbox.folder.limits.reach ? nil : item.offset, id: id,
            attempt: attempt, modules: modules?.sortedByText(\.text),
            line: Array(item.bytes))
    }
}
