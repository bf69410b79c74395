/// The pending events of an inbox, from its files alone: a host need not run, and is not asked.
///
/// Goes by the cursor, and where a host runs or was killed, by its black box, which knows to the event
/// how far that came.
package struct PendingEvents: Sendable {
    /// A line of the log that is not done.
    package struct Event: Sendable {
        package var position: EventPosition
        /// The kind of event; nil if the line is not a record.
        package var kind: EventKind?
        package var id: String?
        /// The time of the event, as its sender says.
        package var time: String?
        /// The modules that have yet to receive it; nil for all.
        package var modules: [ModuleID]?
        /// The reason why it will be rejected, if that is known.
        package var fault: String?
    }

    /// The number of pending events; those that repeat the id of another count until their turn comes.
    package private(set) var count = 0
    /// The first of them, in order.
    package private(set) var first: [Event] = []
    /// The position from which every module has yet to receive the events; nil for the start of the log.
    package let next: EventPosition?
    /// The modules that are behind the others, such as those that have failed: the first event that each has
    /// not received.
    package let behind: [ModuleID: EventPosition]
    /// The problems of the cursor or the log, in words.
    package private(set) var notices: [String]

    /// Reads the log from the first event that is not done to its end.
    ///
    /// Of events beyond `limit` nothing but their number is found out, so that even many take no time.
    ///
    /// - Parameters:
    ///   - directory: The state directory, in which there is an inbox.
    ///   - limit: How many events to describe.
    /// - Throws: ``InboxError/unusable(_:)``.
    package init(in directory: StateDirectory, limit: Int) throws(InboxError) {
        let folder = InboxFolder(in: directory)
        let start = InboxStart(
            InboxCursor.load(from: folder), BlackBox.Contents(in: directory),
            end: try InboxExtent(of: folder).end)
        next = start.next
        behind = start.modules
        notices = start.notices
        let reader = try InboxReader(folder, from: start.first)
        while true {
            let items = try reader.next(atMost: 4096)
            notices += reader.notices.map(\.description)
            reader.notices = []
            if items.isEmpty { return }
            for item in items { add(item, start, limit) }
        }
    }

    private mutating func add(_ item: InboxItem, _ start: InboxStart, _ limit: Int) {
        let left = start.only(at: item.position)
        guard left != nil || first.count < limit else {
            count += 1
            return
        }
        var event = Event(position: item.position)
        do throws(InboxFault) {
            let record = try InboxRecord(item)
            event.kind = record.event.kind
            event.id = record.id
            event.time = record.time
            event.modules = record.modules
            if let left {
                event.modules =
                    record.modules?.filter(left.contains) ?? left.sorted { $0.text < $1.text }
            }
        } catch {
            event.fault = "\(error)"
        }
        // What all but some have passed is done where those are not meant, and rejected where it is no
        // record.
        if left != nil, event.fault != nil || event.modules?.isEmpty == true { return }
        count += 1
        if first.count < limit { first.append(event) }
    }
}
