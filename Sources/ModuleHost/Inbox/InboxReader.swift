/// A reader of the log in order, and of single records by their positions.
///
/// It never sees a write in progress: it takes the lock for a moment to learn the end of the log, and reads
/// up to there without it. It does not take the lock where the system has reported no change, or where this
/// host has appended last. A line without a newline at the end of the log is waited for; when a line follows
/// it, it is an error like any other.
///
/// Not safe to share between threads: one owner.
package final class InboxReader {
    /// An unexpected state of the log, with the way the reader proceeds.
    package enum Notice: Hashable, Sendable {
        /// The start position lies behind the end of the log.
        case pastEnd(EventPosition, end: EventPosition)
        /// A segment lost bytes that had been read.
        case shortened(EventPosition, end: EventPosition)
        /// There are no segments with these numbers, and one behind them.
        case missing(ClosedRange<UInt32>)
    }

    private let folder: InboxFolder
    private let lock: InboxLock
    private let segments: SegmentList
    private var extent: InboxExtent
    /// The number of changes in the folder that the extent covers.
    private(set) var changeCount: Int
    private var walk: InboxWalk
    /// The walk for single records: where one ends the next may be requested.
    private var lookUps: InboxWalk
    /// Whether the last search for lines ended since it had read its limit of bytes, and there may be more.
    package private(set) var isPaused = false
    /// The notices since this was last emptied.
    package var notices: [Notice] = []

    /// Opens the inbox, which must have been created.
    ///
    /// - Parameters:
    ///   - folder: The inbox.
    ///   - position: The position to begin at; nil for the oldest segment. Inside a line, the next line
    ///     counts; in a missing segment, the next existing one; behind the end of the log, its end, each with
    ///     a notice.
    /// - Throws: ``InboxError/unusable(_:)``.
    package convenience init(
        _ folder: InboxFolder, from position: EventPosition? = nil
    ) throws(InboxError) {
        try self.init(folder, SegmentList(folder), from: position)
    }

    init(
        _ folder: InboxFolder, _ segments: SegmentList, from position: EventPosition?
    ) throws(InboxError) {
        self.folder = folder
        self.segments = segments
        lock = try InboxLock(folder)
        segments.takeChanges()
        changeCount = segments.changeCount
        let extent = try lock.hold(.shared) { () throws(InboxError) in
            try InboxExtent(of: folder)
        }
        self.extent = extent
        var start = position ?? EventPosition(segment: extent.segments.first ?? 1, offset: 0)
        if start > extent.end, !extent.segments.isEmpty {
            notices.append(.pastEnd(start, end: extent.end))
            start = extent.end
        }
        walk = InboxWalk(folder, at: start, reading: folder.limits.reading)
        lookUps = InboxWalk(folder, at: start, reading: 16 << 10, staysInReach: true)
    }

    /// The position of the next item.
    package var position: EventPosition { walk.position }

    /// Whether the position is inside a line that is too long, and not between lines.
    package var isInLongLine: Bool { walk.isInLongLine }

    /// Takes the next lines of the log.
    ///
    /// - Parameters:
    ///   - count: The maximum number of lines.
    ///   - bytes: The maximum number of bytes of all together, so that long ones do not fill the memory; one
    ///     more line may exceed it.
    ///   - step: The number of bytes that may be read to find one line, before it is ``isPaused``.
    /// - Returns: None where the whole log was taken, or the reader is paused.
    /// - Throws: ``InboxError/unusable(_:)``; nothing is lost, the next call begins at the same position.
    package func next(
        atMost count: Int, bytes: Int = 4 << 20, step: Int = .max
    ) throws(InboxError) -> [InboxItem] {
        var items: [InboxItem] = []
        var size = 0
        var left = step
        isPaused = false
        let before = walk
        do throws(InboxError) {
            while items.count < count, size < bytes {
                let item = try walk.next(in: extent, reading: &left)
                notices += walk.takeMissing().map(Notice.missing)
                if let item {
                    items.append(item)
                    size += item.bytes.count
                } else if left <= 0 {
                    isPaused = items.isEmpty
                    break
                } else if items.isEmpty, try learnMore() {
                    continue
                } else {
                    break
                }
            }
        } catch {
            walk = before
            throw error
        }
        return items
    }

    /// Returns the first line at or behind `position` that has a position of its own.
    ///
    /// Fast where it is the end of the one read last, and within one segment in any order.
    ///
    /// - Returns: Nil where the log has none.
    /// - Throws: ``InboxError/unusable(_:)``.
    package func read(at position: EventPosition) throws(InboxError) -> InboxItem? {
        if lookUps.position != position {
            lookUps = InboxWalk(folder, at: position, reading: 16 << 10, staysInReach: true)
        }
        var bytes = Int.max
        if let item = try lookUps.next(in: extent, reading: &bytes) { return item }
        guard try learnMore(reaching: position) else { return nil }
        return try lookUps.next(in: extent, reading: &bytes)
    }

    /// Returns the current end of the log.
    ///
    /// - Throws: ``InboxError/unusable(_:)``.
    package func end() throws(InboxError) -> EventPosition {
        _ = try learnMore()
        return extent.end
    }

    /// Reads the current size of the newest segment that the reader knows.
    func newestEnd() throws(InboxError) -> SegmentList.End? { try extent.currentEnd() }

    /// Reads the current extent of the log, where it may be another one.
    ///
    /// - Parameter found: The position of a record that another reader has found; nil for none. A program that
    ///   appends without the lock may have written it, and the system not have reported that yet.
    /// - Returns: Whether its end is another than before.
    /// - Throws: ``InboxError``; the next call looks again.
    private func learnMore(reaching found: EventPosition? = nil) throws(InboxError) -> Bool {
        let before = extent
        segments.takeChanges()
        let count = segments.changeCount
        let isBeyond = found.map { $0 >= extent.end } ?? false
        // Where reading failed after the log was cut, the walk is still at its former end.
        let isPastEnd = walk.position > extent.end
        guard !segments.isWatched || changeCount < count || isBeyond || isPastEnd else {
            return false
        }
        if !isBeyond, let end = segments.ownEnd, let own = extent.with(end) {
            extent = own
        } else {
            extent = try lock.hold(.shared) { () throws(InboxError) in
                try extent.renewed(in: folder, segments)
            }
        }
        changeCount = count
        if walk.position > extent.end, !extent.segments.isEmpty {
            notices.append(.shortened(walk.position, end: extent.end))
            walk = InboxWalk(folder, at: extent.end, reading: folder.limits.reading)
        }
        return !extent.hasSameEnd(as: before)
    }
}

extension InboxReader.Notice: CustomStringConvertible {
    /// One line: the state that was found, and the consequence.
    package var description: String {
        switch self {
        case .pastEnd(let position, let end):
            "position \(position) is past the end of the inbox; continuing at its end, \(end)"
        case .shortened(let position, let end):
            "inbox truncated: read up to \(position), found the end at \(end); segments were removed or "
                + "cut. Continuing at the end"
        case .missing(let numbers) where numbers.count == 1:
            "segment \(numbers.lowerBound) of the inbox is missing: a writer skipped the number, or "
                + "the segment was removed with its events"
        case .missing(let numbers):
            "segments \(numbers.lowerBound) to \(numbers.upperBound) of the inbox are missing: a writer "
                + "skipped the numbers, or the segments were removed with their events"
        }
    }
}
