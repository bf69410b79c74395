/// The extent of the log at a moment without a writer.
struct InboxExtent {
    /// The segments, in ascending order.
    let segments: [UInt32]
    /// The size of the newest segment in bytes.
    let newestSize: Int
    private let newest: SegmentFile?
    private let reach: Int

    /// Reads the extent, under the lock.
    init(of folder: InboxFolder) throws(InboxError) {
        try self.init(of: folder, folder.segments())
    }

    /// Reads the size of the newest of the segments, under the lock.
    private init(of folder: InboxFolder, _ segments: [UInt32]) throws(InboxError) {
        self.segments = segments
        reach = folder.limits.reach
        guard let number = segments.last, let file = try folder.segment(number) else {
            (newest, newestSize) = (nil, 0)
            return
        }
        do throws(FileError) {
            (newest, newestSize) = (file, try file.state().size)
        } catch {
            throw .unusable(error)
        }
    }

    private init(_ segments: [UInt32], _ newest: SegmentFile, size: Int, reach: Int) {
        (self.segments, self.newest, newestSize) = (segments, newest, size)
        self.reach = reach
    }

    /// Returns the current extent, under the lock: checks only the newest segment where that still is the
    /// newest.
    ///
    /// Older ones may have been removed meanwhile, as they may be after any check.
    func renewed(in folder: InboxFolder, _ list: SegmentList) throws(InboxError) -> InboxExtent {
        guard let newest, let state = try? newest.state(), state.isLinked,
            try list.isNewest(newest.number)
        else { return try InboxExtent(of: folder, list.numbers()) }
        return InboxExtent(segments, newest, size: state.size, reach: reach)
    }

    /// Returns the extent with the end that this host's writer has left; nil where that is in another segment.
    func with(_ end: SegmentList.End) -> InboxExtent? {
        guard let newest, newest.number == end.segment else { return nil }
        return InboxExtent(segments, newest, size: end.size, reach: reach)
    }

    /// Returns the current end of the newest segment, which need not be the newest any more; nil where it has been
    /// removed.
    func currentEnd() throws(InboxError) -> SegmentList.End? {
        guard let newest else { return nil }
        do throws(FileError) {
            let state = try newest.state()
            return state.isLinked
                ? SegmentList.End(segment: newest.number, size: state.size) : nil
        } catch {
            throw .unusable(error)
        }
    }

    /// The position of the next record, or one after it.
    var end: EventPosition {
        EventPosition(
            segment: segments.last ?? 1, offset: UInt32(clamping: min(newestSize, reach)))
    }

    /// Returns whether another extent has the same end.
    func hasSameEnd(as other: InboxExtent) -> Bool {
        segments.last == other.segments.last && newestSize == other.newestSize
    }
}
