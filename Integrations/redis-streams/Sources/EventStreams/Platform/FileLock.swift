import Glibc

/// A lock that no two processes have at the same time, nor two objects of one.
package final class FileLock: Sendable {
    private let file: Int32

    /// Takes the lock.
    ///
    /// - Returns: Nil if it is taken.
    /// - Throws: ``DurableFileError`` if the file cannot be opened.
    package init?(_ path: String) throws(DurableFileError) {
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw DurableFileError("open", path) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(file)
            if code == EWOULDBLOCK { return nil }
            throw DurableFileError("lock", path, code: code)
        }
    }

    // Closing the file releases the lock.
    deinit { close(file) }
}
