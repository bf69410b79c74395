/// How far the log went at a moment at which nobody was writing.
struct InboxExtent {
    /// The segments, growing.
    let segments: [UInt32]
    /// How many bytes the newest one had.
    let newestSize: Int

    /// Looks, under the lock.
    ///
    /// - Throws: ``InboxError/unusable(_:)``.
    init(of folder: InboxFolder) throws(InboxError) {
        segments = try folder.segments()
        guard let newest = segments.last, let file = try folder.segment(newest) else {
            newestSize = 0
            return
        }
        do throws(FileError) { newestSize = try file.state().size } catch { throw .unusable(error) }
    }

    /// Where the next record will be written, or behind that.
    var end: EventPosition {
        EventPosition(segment: segments.last ?? 1, offset: UInt32(clamping: newestSize))
    }
}
