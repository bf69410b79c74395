/// A writer that appends events to the inbox: events whose positions it returns are on the disk.
///
/// It keeps the newest segment open between appends, and checks under the lock that it still is the newest.
/// Other writers, in this process or another, may append at the same time with writers of their own.
///
/// Not safe to share between threads: one owner.
package final class InboxWriter {
    private let folder: InboxFolder
    private let lock: InboxLock
    private let segments: SegmentList
    private let synchronize: (SegmentFile) throws(FileError) -> Void
    private var newest: SegmentFile?
    /// Whether the newest segment failed to reach the disk: the results of later writes to it are not
    /// reliable.
    private var mustRoll = false

    /// Opens the inbox, which must have been created.
    ///
    /// - Throws: ``InboxError/unusable(_:)``.
    package convenience init(_ folder: InboxFolder) throws(InboxError) {
        try self.init(folder, SegmentList(folder))
    }

    /// Opens the inbox.
    ///
    /// - Parameter synchronize: Waits for the disk: tests substitute a function that fails.
    init(
        _ folder: InboxFolder, _ segments: SegmentList,
        synchronize: @escaping (SegmentFile) throws(FileError) -> Void = {
            segment throws(FileError) in try segment.synchronize()
        }
    ) throws(InboxError) {
        self.folder = folder
        self.segments = segments
        self.synchronize = synchronize
        lock = try InboxLock(folder)
    }

    /// Appends lines in one write, and waits once until they are on the disk.
    ///
    /// Waits for the holder of the lock.
    ///
    /// - Parameter lines: The records without their newlines, as
    ///   ``InboxRecord/line(_:payload:id:time:modules:isRetried:)`` creates them.
    /// - Returns: The position of each, in ascending order.
    /// - Throws: ``InboxError``. Then no line was accepted, and no part of them is left in the log, or at
    ///   most what the disk did not free again.
    package func append(_ lines: [[UInt8]]) throws(InboxError) -> [EventPosition] {
        guard !lines.isEmpty else { return [] }
        let batch = try batch(of: lines)
        do throws(InboxError) {
            return try lock.hold(.exclusive) { () throws(InboxError) in
                let (segment, size) = try segmentToAppendTo()
                // Behind the newline with which the batch begins.
                var offset = try accept(batch, in: segment, size: size) + 1
                return lines.map { line in
                    defer { offset += line.count + 1 }
                    return EventPosition(
                        segment: segment.number, offset: UInt32(clamping: offset))
                }
            }
        } catch .unusable(let error) {
            throw .notAccepted(error)
        } catch {
            throw error
        }
    }

    /// Begins a new segment where the newest is full.
    ///
    /// An append does so itself; other programs that append need not.
    ///
    /// - Returns: Whether a segment was begun. The segment with the last possible number stays the newest.
    /// - Throws: ``InboxError``.
    @discardableResult
    package func rollWhenFull() throws(InboxError) -> Bool {
        try lock.hold(.exclusive) { () throws(InboxError) in
            let before = try newestSegment().0.number
            guard before < .max else { return false }
            return try segmentToAppendTo().0.number > before
        }
    }

    /// Begins a new segment where the newest is full, with hardly more than a check where it is not.
    func rollWhenLarge() throws(InboxError) {
        if let newest, let state = try? newest.state(), state.isLinked,
            state.size < folder.limits.segment
        {
            return
        }
        try rollWhenFull()
    }

    /// Returns the bytes of one write: a newline, which ends a line that a writer before left incomplete, and
    /// the lines.
    private func batch(of lines: [[UInt8]]) throws(InboxError) -> [UInt8] {
        let newline = UInt8(ascii: "\n")
        let count = lines.reduce(1) { $0 + $1.count + 1 }
        for line in lines {
            guard line.count <= folder.limits.line else {
                throw .lineTooLong(bytes: line.count, limit: folder.limits.line)
            }
            guard !line.isEmpty, line.firstIndex(of: newline, from: 0) == nil else {
                throw .notOneLine
            }
        }
        guard count <= folder.limits.batch else { throw .batchTooLarge(bytes: count) }
        var batch: [UInt8] = []
        batch.reserveCapacity(count)
        batch.append(newline)
        for line in lines {
            batch += line
            batch.append(newline)
        }
        return batch
    }

    /// Writes the batch and waits for the disk; called under the lock.
    private func accept(
        _ batch: [UInt8], in segment: SegmentFile, size: Int
    ) throws(InboxError) -> Int {
        do throws(FileError) {
            let start = try segment.append(batch, size: size)
            do throws(FileError) {
                try synchronize(segment)
            } catch {
                // After a failure the system may mark these pages as clean: the file is not used again.
                mustRoll = true
                try? segment.truncate(to: size)
                throw error
            }
            segments.noteOwnEnd(of: segment)
            return start
        } catch {
            if mustRoll { _ = try? roll(after: segment.number) }
            throw .notAccepted(error)
        }
    }

    // MARK: The newest segment, under the lock

    /// Returns the segment for the next batch, and its size.
    private func segmentToAppendTo() throws(InboxError) -> (SegmentFile, size: Int) {
        let (segment, size) = try newestSegment()
        if !mustRoll, size < folder.limits.segment { return (segment, size) }
        return (try roll(after: segment.number), 0)
    }

    private func newestSegment() throws(InboxError) -> (SegmentFile, size: Int) {
        if let newest {
            let state = try state(of: newest)
            if state.isLinked, try segments.isNewest(newest.number) { return (newest, state.size) }
        }
        let segment = try openNewestSegment()
        return (segment, try state(of: segment).size)
    }

    private func openNewestSegment() throws(InboxError) -> SegmentFile {
        let used = newest?.number ?? 0
        guard let number = try segments.numbers().last, number >= used else {
            // All segments were removed, or the newest was: its positions are not reused.
            let first = try folder.firstNumber()
            return try first > used ? use(folder.createSegment(first)) : roll(after: used)
        }
        guard let segment = try folder.segment(number, isWritable: true) else {
            throw .unusable(FileError("open", folder.path(ofSegment: number), .notFound))
        }
        // The process that created it may have died before its name was safe on the disk.
        do throws(FileError) { try synchronizeFolder(folder.path) } catch { throw .unusable(error) }
        return use(segment)
    }

    private func roll(after number: UInt32) throws(InboxError) -> SegmentFile {
        guard number < .max else { throw .numbersUsedUp(folder: folder.path) }
        return use(try folder.createSegment(number + 1))
    }

    private func use(_ segment: SegmentFile) -> SegmentFile {
        newest = segment
        mustRoll = false
        return segment
    }

    private func state(of segment: SegmentFile) throws(InboxError) -> SegmentFile.State {
        do throws(FileError) { return try segment.state() } catch { throw .unusable(error) }
    }
}
