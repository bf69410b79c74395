/// The pending events of an inbox, read from its files alone, without a running host.
///
/// Uses the cursor, and where a host runs or was killed, its black box, which has the progress exact to the
/// event.
package struct InboxFilesListing: Sendable {
    /// A line of the log that is not done.
    package struct Event: Sendable {
        package var position: EventPosition
        /// The kind of event; nil if the line is not a record.
        package var kind: EventKind?
        package var id: String?
        /// The time of the event, as its sender gives it.
        package var time: String?
        /// The source of the event, in its sender's words.
        package var source: String?
        /// The modules that have yet to receive it; nil for all.
        package var modules: [ModuleID]?
        /// The reason why it will be rejected, if that is known.
        package var error: String?
    }

    /// The number of pending events; those that repeat the id of another count until their turn.
    package private(set) var count = 0
    /// The first pending events, in order.
    package private(set) var first: [Event] = []
    /// The position from which every module has yet to receive the events; nil for the start of the log.
    package let next: EventPosition?
    /// The modules that are behind the others, such as those that have failed, with the first event that each
    /// has not received.
    package let behind: [ModuleID: EventPosition]
    /// The problems of the cursor or the log, in words.
    package private(set) var notices: [String]

    /// Reads the log from the first event that is not done to its end.
    ///
    /// Events beyond `limit` are only counted, so that even many take little time.
    ///
    /// - Parameters:
    ///   - directory: The state directory, in which there is an inbox.
    ///   - limit: The number of events to describe.
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
        do throws(InboxRecordError) {
            let record = try InboxRecord(item)
            event.kind = record.event.kind
            event.id = record.id
            event.time = record.time
            event.source = record.source
            event.modules = record.modules
            if let left {
                event.modules =
                    record.modules?.filter(left.contains) ?? left.sortedByText(\.text)
            }
        } catch {
            event.error = "\(error)"
        }
        // An event that all but some modules have passed is done where it is not for those modules, and
        // rejected where it is not a record.
        if left != nil, event.error != nil || event.modules?.isEmpty == true { return }
        count += 1
        if first.count < limit { first.append(event) }
    }
}
