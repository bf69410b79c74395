/// The lock of the inbox: whoever appends has it alone, whoever wants to know how far the log goes
/// shares it for a moment.
///
/// It is a file of its own, never the data: a lock on data that is then replaced or rolled would
/// guard the wrong file.
final class InboxLock {
    private let path: String
    private var file: Descriptor

    /// - Throws: ``InboxError/unusable(_:)`` where the lock's file can be neither opened nor made.
    init(_ folder: InboxFolder) throws(InboxError) {
        path = folder.lockPath
        file = try Self.open(path)
    }

    /// Runs `body` with the lock, waiting until nobody is in the way.
    ///
    /// - Throws: What `body` throws, or ``InboxError/unusable(_:)``.
    func hold<Result>(
        _ kind: Descriptor.Lock, _ body: () throws(InboxError) -> Result
    ) throws(InboxError) -> Result {
        file.lock(kind)
        // A lock that was removed excludes nobody who comes later.
        while let isLinked = try? file.isLinked, !isLinked {
            // First: where no other can be had, this one is in the way of who waits for it.
            file.unlock()
            file = try Self.open(path)
            file.lock(kind)
        }
        defer { file.unlock() }
        return try body()
    }

    private static func open(_ path: String) throws(InboxError) -> Descriptor {
        do throws(FileError) { return try Descriptor(lockFile: path) } catch {
            throw .unusable(error)
        }
    }
}
