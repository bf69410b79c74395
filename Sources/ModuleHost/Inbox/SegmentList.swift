/// The segments in the folder of an inbox.
///
/// A thread that reads or appends has to know under the lock which segment is the newest, since another
/// program may have begun one with any higher number. Where the folder is watched, the system reports new
/// files before their creator releases the lock, and the folder is listed only after such a report; otherwise
/// it is listed each time.
///
/// Belongs to one thread.
final class SegmentList {
    private let folder: InboxFolder
    private var watch: FolderWatch?
    /// The watch that was ended; kept, since its release may have to wait for the system.
    private var endedWatch: FolderWatch?
    /// The highest number that was listed, or that the system has reported since.
    private var highest = UInt32.max
    /// A number that grows with each change of the segments that is known, to compare with an earlier one.
    ///
    /// Each call here may take reports, so that the descriptor is quiet: a thread that sleeps on it has to
    /// compare this first.
    private(set) var changeCount = 0
    /// A number that grows with each change after which there may be more segments than before.
    private(set) var listChangeCount = 0
    /// The end of the log as this host's writer has left it under the lock; nil where a change has been
    /// reported since.
    private(set) var ownEnd: End?

    /// The end of the newest segment.
    struct End: Hashable {
        let segment: UInt32
        let size: Int
    }

    /// Whether the system reports changes in the folder.
    var isWatched: Bool { watch != nil }

    /// Creates a list that reads the folder each time.
    init(_ folder: InboxFolder) {
        self.folder = folder
        watch = nil
    }

    /// Creates a list that watches the folder.
    ///
    /// - Throws: ``FileError`` where the system has no watches left.
    init(watching folder: InboxFolder) throws(FileError) {
        self.folder = folder
        let watch = try FolderWatch(folder.path, in: folder.statePath)
        // Where another folder has been put in its place, that one is watched, and reports nothing of this one.
        self.watch = folder.isInPlace ? watch : nil
    }

    /// Ends the watch, so that the process does not wait for that when it ends: from now on the folder is listed each time.
    func endWatch() {
        watch?.end()
        endedWatch = watch.take() ?? endedWatch
        ownEnd = nil
    }

    /// The descriptor that is readable when something has changed in the folder; nil where it is not watched.
    var descriptor: Int32? { watch?.descriptor }

    /// Returns the numbers of the segments, in ascending order.
    func numbers() throws(InboxError) -> [UInt32] {
        // First: a change while the folder is listed is reported once more.
        takeChanges()
        let numbers = try folder.segments()
        highest = numbers.last ?? 0
        return numbers
    }

    /// Returns whether a segment that was the newest, and still has its name, is the newest.
    ///
    /// Called under the lock.
    func isNewest(_ number: UInt32) throws(InboxError) -> Bool {
        guard watch != nil else { return try folder.segments().last == number }
        takeChanges()
        return highest <= number
    }

    /// Takes the reports of the system since the last call; never waits.
    func takeChanges() {
        guard let changes = watch?.takeChanges(), !changes.isEmpty else { return }
        let numbers = changes.names.compactMap(InboxFolder.segmentNumber)
        guard !numbers.isEmpty || changes.isIncomplete || changes.isOver else { return }
        changeCount += 1
        ownEnd = nil
        if changes.isOver || changes.isIncomplete || numbers.contains(where: { $0 != highest }) {
            listChangeCount += 1
        }
        // There were more changes than the system kept: the folder has to be listed.
        highest = changes.isIncomplete ? .max : numbers.reduce(highest, max)
    }

    /// Notes the end that this host's writer leaves.
    ///
    /// Called under the lock. What others append later, without the lock, is reported.
    func noteOwnEnd(of segment: SegmentFile) {
        guard isWatched else { return }
        // First: what is appended after the size was read is reported once more.
        takeChanges()
        // Not left to the report.
        changeCount += 1
        guard highest <= segment.number, let state = try? segment.state(), state.isLinked else {
            return
        }
        ownEnd = End(segment: segment.number, size: state.size)
    }
}
