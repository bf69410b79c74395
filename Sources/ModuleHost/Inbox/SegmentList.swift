/// The segments in the folder of an inbox.
///
/// A thread that reads or appends has to know under the lock which segment is the newest, since another program
/// may have begun one with any higher number. Where the folder is watched, the system tells of new files
/// before the one who made them gives the lock back, and the folder is listed only when it has told of one;
/// else it is listed each time.
///
/// Belongs to one thread.
final class SegmentList {
    private let folder: InboxFolder
    private let watch: FolderWatch?
    /// The highest number that was listed, or that the system has told of since.
    private var highest = UInt32.max
    /// Whether the system has told of a change since this was last set to false.
    ///
    /// A caller that asks for the numbers takes what the system has told, so that the descriptor is quiet: a thread that
    /// sleeps on that has to look here first.
    var hasChanged = false

    /// A list that asks the folder each time.
    init(_ folder: InboxFolder) {
        self.folder = folder
        watch = nil
    }

    /// A list that watches the folder.
    ///
    /// - Throws: ``FileError`` where the system can watch no more.
    init(watching folder: InboxFolder) throws(FileError) {
        self.folder = folder
        watch = try FolderWatch(folder.path, in: folder.statePath)
    }

    /// Can be read from when something has happened in the folder; nil where it is not watched.
    var descriptor: Int32? { watch?.descriptor }

    /// The numbers of the segments, growing.
    ///
    /// - Throws: ``InboxError``.
    func numbers() throws(InboxError) -> [UInt32] {
        // First: what comes while the folder is listed is reported once more.
        takeChanges()
        let numbers = try folder.segments()
        highest = numbers.last ?? 0
        return numbers
    }

    /// Returns whether a segment that was the newest, and still has its name, is the newest.
    ///
    /// Called under the lock.
    ///
    /// - Throws: ``InboxError``.
    func isNewest(_ number: UInt32) throws(InboxError) -> Bool {
        guard watch != nil else { return try folder.segments().last == number }
        takeChanges()
        return highest <= number
    }

    /// Takes what the system has told since the last time; never waits.
    func takeChanges() {
        guard let changes = watch?.takeChanges(), !changes.isEmpty else { return }
        hasChanged = true
        for name in changes.names {
            if let number = InboxFolder.segmentNumber(name) { highest = max(highest, number) }
        }
        // More happened than was kept: the folder has to be listed.
        if changes.isIncomplete { highest = .max }
    }
}
