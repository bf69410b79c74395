/// The lock of the inbox: exclusive for a writer, shared for a moment by a reader of the log's end.
///
/// It is a file of its own, never the data: a lock on data that is then replaced or rolled would guard the
/// wrong file.
final class InboxLock {
    private let folder: InboxFolder
    private var file: Descriptor

    /// - Throws: ``InboxError/unusable(_:)`` where the lock's file can be neither opened nor created.
    init(_ folder: InboxFolder) throws(InboxError) {
        self.folder = folder
        try folder.requirePlace()
        file = try Self.open(folder.lockPath)
    }

    /// Runs `body` with the lock, waiting until it is free.
    ///
    /// - Throws: The error of `body`, ``InboxError/unusable(_:)`` where the lock cannot be taken, or
    ///   ``InboxError/moved(path:)`` where the folder is not in its place.
    func hold<Result>(
        _ kind: Descriptor.Lock, _ body: () throws(InboxError) -> Result
    ) throws(InboxError) -> Result {
        try lock(kind)
        defer { unlock() }
        // A lock file that was removed excludes no later program.
        while let isLinked = try? file.isLinked, !isLinked {
            // First: where no other can be opened, this lock would block a program that waits for it.
            unlock()
            try folder.requirePlace()
            file = try Self.open(folder.lockPath)
            try lock(kind)
        }
        try folder.requirePlace()
        return try body()
    }

    private func lock(_ kind: Descriptor.Lock) throws(InboxError) {
        do throws(SystemError) { try file.lock(kind) } catch {
            throw .unusable(FileError("lock", folder.lockPath, error))
        }
    }

    private func unlock() {
        // Closing the file releases the lock, too: otherwise every other descriptor, also of this process,
        // would wait for ever.
        if !file.unlock(), let other = try? Self.open(folder.lockPath) { file = other }
    }

    private static func open(_ path: String) throws(InboxError) -> Descriptor {
        do throws(FileError) { return try Descriptor(lockFile: path) } catch {
            throw .unusable(error)
        }
    }
}
