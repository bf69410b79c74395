import EventStreams

/// The proof that no other bridge uses the files of a state directory.
public final class StateLock: Sendable {
    private let lock: FileLock

    /// Takes the lock `redis-bridge.lock`; it is released with the object, and by the death of the process.
    ///
    /// - Parameter folder: The state directory.
    /// - Throws: An error that says what to do, if another process or object has the lock.
    public init(folder: String) throws {
        let path = folder + "/redis-bridge.lock"
        guard let lock = try FileLock(path) else {
            throw DurableFileError(
                "another bridge uses \(quoted(folder)): a host has one, and its entry must have \"replace\": \"stop-first\""
            )
        }
        self.lock = lock
    }
}
