/// The ids by which the inbox knows an event again: of all that was accepted through this host, and of all
/// that was read.
///
/// At a start the log is read through for them, from its oldest segment to its end, in steps: other work has
/// its turn in between. What other programs append after that is known when it is read for its delivery.
///
/// Belongs to the inbox's thread.
struct KnownIDs {
    private enum Step {
        /// Some hundred microseconds of work.
        static let lines = 1024
        static let bytes = 256 << 10
    }

    private var ids = RetainedIDs()
    private var reader: InboxReader?
    private var end: EventPosition?
    /// Whether all that the log had at the start is known.
    private(set) var isComplete = false

    /// Reads on through the log that was there at the start; not when all of it was.
    ///
    /// - Parameters:
    ///   - folder: The inbox.
    ///   - segments: Its segments.
    /// - Throws: ``InboxError``; the next step begins where this one did.
    mutating func scan(_ folder: InboxFolder, _ segments: SegmentList) throws(InboxError) {
        let reader = try open(folder, segments)
        let items = try reader.next(
            atMost: Step.lines, bytes: Step.bytes, step: folder.limits.step)
        ids.insert(from: items)
        // No further: a fast writer would keep it at it for ever.
        let isOver = items.isEmpty && !reader.isPaused
        isComplete = isOver || end.map { reader.position >= $0 } == true
        // What it has in memory is not needed to look at single records.
        if isComplete { self.reader = try InboxReader(folder, segments, from: reader.position) }
    }

    private mutating func open(
        _ folder: InboxFolder, _ segments: SegmentList
    ) throws(InboxError) -> InboxReader {
        if let reader { return reader }
        let new = try InboxReader(folder, segments, from: nil)
        end = try new.end()
        reader = new
        return new
    }

    /// Up to where it has read, in words.
    var position: String { reader?.position.description ?? "its start" }

    /// Returns whether all ids before a position are known.
    func isComplete(before place: EventPosition) -> Bool {
        isComplete || reader.map { $0.position >= place } == true
    }

    /// Returns whether an event of this id is known; to be asked when all ids of the log are.
    ///
    /// - Throws: ``InboxError`` where the log cannot be asked.
    mutating func contains(_ id: String) throws(InboxError) -> Bool {
        guard let reader else { return false }
        return try ids.original(of: id, before: nil, in: reader) != nil
    }

    /// Notes that the record at `position` has the id.
    mutating func insert(_ id: String, at position: EventPosition) {
        ids.insert(id, at: position)
    }

    /// Returns whether an earlier record than the one at `position` has the same id.
    ///
    /// - Throws: ``InboxError``.
    mutating func contains(
        _ id: String, before position: EventPosition, in reader: InboxReader
    ) throws(InboxError) -> Bool {
        try ids.original(of: id, before: position, in: reader) != nil
    }

    /// Forgets what the segments below `number` had, which are being removed.
    mutating func removeSegments(below number: UInt32) { ids.removeSegments(below: number) }
}
