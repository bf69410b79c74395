/// The reason why an event is not accepted: an earlier one in the log has its id, and other contents.
///
/// Never names the contents of either: the earlier event may be another sender's.
package struct IDConflict: Error, Hashable, CustomStringConvertible {
    /// The id of both.
    package let id: String
    /// The position of the earlier event.
    package let first: EventPosition

    /// Compares an event with the first one that has its id; nil if both are the same event.
    ///
    /// - Parameters:
    ///   - record: The event; nil if it cannot be parsed.
    ///   - first: The first event with the id; nil if it cannot be parsed.
    ///   - position: The position of the first event.
    package init?(
        _ id: String, of record: InboxRecord?, and first: InboxRecord?, at position: EventPosition
    ) {
        if let record, let first, record.hasSameContents(as: first) { return nil }
        self.id = id
        self.first = position
    }

    /// One line: the problem, and the remedy.
    package var description: String {
        "the id '\(excerpt(id, limit: InboxRecord.longestID))' was used for an event with other contents, at "
            + "\(first): give each event an id of its own"
    }
}

extension InboxRecord {
    /// Returns whether both records are the same event with the same payload, as JSON values: neither the order of
    /// keys matters, nor the way in which a number is written, nor the time, nor the source.
    func hasSameContents(as other: InboxRecord) -> Bool {
        guard event.kind == other.event.kind else { return false }
        switch (payload, other.payload) {
        case (let one?, let another?): return one.hasSameContents(as: another)
        // No event has a payload that is null.
        case (let payload, nil), (nil, let payload): return payload?.isNull ?? true
        }
    }
}
