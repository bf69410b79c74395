/// The ids by which the inbox recognizes an event: of all that were accepted through this host, and of all
/// that were read.
///
/// At a start the log is scanned for them, from its oldest segment to its end, in steps: other work has its
/// turn in between. Ids that other programs append after that are added when the records are read for
/// delivery.
///
/// Belongs to the inbox's thread.
struct KnownIDs {
    private enum Step {
        /// The number of lines in one step: some hundred microseconds of work.
        static let lines = 1024
        static let bytes = 256 << 10
    }

    /// The size in bytes by which the ids become smaller before free memory returns to the system: that of 70 000 ids.
    private static let returnedAtOnce = 1 << 20

    private var ids = RetainedIDs()
    /// The largest size of the ids since free memory returned to the system.
    private var mostBytes = 0
    private var reader: InboxReader?
    private var end: EventPosition?
    /// Whether all ids that the log had at the start are known.
    private(set) var isComplete = false

    /// Continues the scan of the log that was there at the start; has no effect when all of it was scanned.
    ///
    /// - Throws: ``InboxError``; the next step begins where this one did.
    mutating func scan(_ folder: InboxFolder, _ segments: SegmentList) throws(InboxError) {
        let reader = try open(folder, segments)
        let items = try reader.next(
            atMost: Step.lines, bytes: Step.bytes, step: folder.limits.step)
        ids.insert(from: items)
        // No further: otherwise a fast writer would keep the scan running for ever.
        let isOver = items.isEmpty && !reader.isPaused
        isComplete = isOver || end.map { reader.position >= $0 } == true
        // The memory of the scan is not needed to read single records.
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

    /// The position that the scan has reached, in words.
    var position: String { reader?.position.description ?? "its start" }

    /// Returns whether all ids before a position are known.
    func isComplete(before place: EventPosition) -> Bool {
        isComplete || reader.map { $0.position >= place } == true
    }

    /// Returns the first event with this id; valid when all ids of the log are known.
    ///
    /// - Throws: ``InboxError`` where the log cannot be read.
    mutating func original(of id: String) throws(InboxError) -> RetainedIDs.Original? {
        guard let reader else { return nil }
        return try ids.original(of: id, before: nil, in: reader)
    }

    /// Notes that the record at `position` has the id.
    mutating func insert(_ id: String, at position: EventPosition) {
        ids.insert(id, at: position)
    }

    /// Notes that the record at `position` has the id, and returns the first earlier one that has it, too.
    ///
    /// - Throws: ``InboxError``; it is noted then.
    mutating func insert(
        _ id: String, at position: EventPosition, comparingIn reader: InboxReader
    ) throws(InboxError) -> RetainedIDs.Original? {
        try ids.insert(id, at: position, findingOriginalIn: reader)
    }

    /// Removes the id of a line that was rejected: it does not exclude a correct one.
    mutating func remove(_ id: String, at position: EventPosition) {
        ids.remove(id, at: position)
    }

    /// Removes the ids of the segments below `number`, which are being removed.
    ///
    /// Their memory returns to the system once it is ``returnedAtOnce`` or more: up to some millions of ids, the tables
    /// are too small for the allocator to return each by itself.
    mutating func removeSegments(below number: UInt32) {
        mostBytes = max(mostBytes, ids.size)
        ids.removeSegments(below: number)
        let bytes = ids.size
        guard mostBytes - bytes >= Self.returnedAtOnce else { return }
        mostBytes = bytes
        LargeMemory.returnAll()
    }
}
