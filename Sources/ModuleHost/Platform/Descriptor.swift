import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// An open file, closed when it goes out of scope.
///
/// Every descriptor this package opens is closed on `exec`: a child inherits only what it was given.
package struct Descriptor: ~Copyable, Sendable {
    /// The number that the system calls take.
    ///
    /// Valid as long as this value lives.
    package let number: Int32

    /// Takes over an open descriptor, which must have no other owner.
    package init(owning number: Int32) { self.number = number }

    deinit { close(number) }

    /// Opens `path`.
    ///
    /// - Parameter mode: The permissions of a file that this creates, before the umask.
    init(
        opening path: String, _ flags: Int32, mode: UInt32 = 0o666
    ) throws(SystemError) {
        let number = retryingInterrupted { open(path, flags | O_CLOEXEC | O_NOCTTY, mode) }
        guard number >= 0 else { throw .last }
        self.number = number
    }

    /// Opens `path` for reading.
    ///
    /// - Throws: ``SystemError``.
    package init(opening path: String) throws(SystemError) {
        try self.init(opening: path, O_RDONLY | O_NONBLOCK)
    }

    /// Opens a file that serves as a lock, creating it where it is missing, for this user alone (0600).
    ///
    /// No link is followed. Where a file of this user is open to others, as earlier versions created it,
    /// their permissions are removed: any program that can open the file could hold the lock.
    ///
    /// - Throws: ``FileError``.
    package init(lockFile path: String) throws(FileError) {
        let file = try Descriptor(
            opening: path, O_RDWR | O_CREAT | O_NONBLOCK, mode: 0o600, links: .refused)
        if let error = file.restrict() { throw FileError("restrict", path, error) }
        self = file
    }

    /// Opens a file that serves as a lock, and takes it, waiting until it is free.
    ///
    /// - Throws: ``FileError``.
    package static func locking(_ path: String) throws(FileError) -> Descriptor {
        let file = try Descriptor(lockFile: path)
        do throws(SystemError) { try file.lock(.exclusive) } catch {
            throw FileError("lock", path, error)
        }
        return file
    }

    /// Removes every permission of users other than the owner, where the owner is this user.
    private func restrict() -> SystemError? {
        guard let status = try? status(), status.st_uid == CurrentProcess.userID,
            status.st_mode & 0o077 != 0, fchmod(number, 0o600) != 0
        else { return nil }
        return .last
    }

    /// Checks that this process may open more files: opens so many, and closes them.
    ///
    /// - Parameter count: The number of files that are open at a time.
    /// - Throws: ``SystemError`` where there is no room for so many.
    static func checkRoom(for count: Int) throws(SystemError) {
        let first = try Descriptor(opening: "/", openAsPath)
        var others: [Int32] = []
        defer { for number in others { close(number) } }
        while others.count < count - 1 {
            let number = fcntl(first.number, F_DUPFD_CLOEXEC, 0)
            guard number >= 0 else { throw .last }
            others.append(number)
        }
    }

    /// Returns the status of the open file.
    func status() throws(SystemError) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .last }
        return status
    }

    /// The size of the open file in bytes.
    var size: Int {
        get throws(SystemError) { Int(try status().st_size) }
    }

    /// The position of the descriptor: after an append, behind its last byte, whichever program wrote in between.
    var position: Int {
        get throws(SystemError) {
            let position = lseek(number, 0, SEEK_CUR)
            guard position >= 0 else { throw .last }
            return Int(position)
        }
    }

    /// The device and the inode of the open file, which are unique as long as it is open.
    var identity: String {
        get throws(SystemError) {
            let status = try status()
            return "\(status.st_dev):\(status.st_ino)"
        }
    }

    /// Whether the open file still has a name in a folder.
    var isLinked: Bool {
        get throws(SystemError) { try status().st_nlink > 0 }
    }

    /// Writes as many of `bytes` as the system takes at once.
    ///
    /// - Returns: The number of bytes written.
    borrowing func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
        if FullDisks.contain(number) { throw .noSpace }
        let number = number
        let count = bytes.withUnsafeBytes { RawOutput.write($0, to: number) }
        guard count >= 0 else { throw .last }
        return count
    }

    /// Writes all of `bytes`, waiting as long as that takes.
    ///
    /// - Throws: ``SystemError`` of the first write that failed; the number of bytes written before is not
    ///   reported.
    package borrowing func writeAll(_ bytes: some Collection<UInt8>) throws(SystemError) {
        if FullDisks.contain(number) { throw .noSpace }
        try RawOutput.writeAll(bytes, to: number)
    }

    /// Waits until what was written is on the disk (`fdatasync`).
    package borrowing func synchronize() throws(SystemError) {
        guard retryingInterrupted({ fdatasync(number) }) == 0 else { throw .last }
    }

    /// Cuts the file to `size` bytes.
    borrowing func truncate(to size: Int) throws(SystemError) {
        guard retryingInterrupted({ ftruncate(number, off_t(size)) }) == 0 else { throw .last }
    }

    /// Replaces the content of the file with `bytes`.
    ///
    /// A process that dies meanwhile leaves no empty file.
    package borrowing func replaceContent(
        with bytes: some Collection<UInt8>
    ) throws(SystemError) {
        guard lseek(number, 0, SEEK_SET) == 0 else { throw .last }
        try writeAll(bytes)
        try truncate(to: bytes.count)
    }

    /// The kind of a lock: exclusive to one process, or shared by many.
    package enum Lock {
        case shared
        case exclusive
    }

    /// Takes the file's lock (`flock`) if it is free; never waits.
    ///
    /// The lock belongs to this open file: it ends with ``unlock()``, with the descriptor, or with
    /// the process, however it dies. No other descriptor's closing ends it.
    ///
    /// - Returns: False where another open file holds a lock that excludes this one.
    package borrowing func tryLock(_ lock: Lock) throws(SystemError) -> Bool {
        let operation = (lock == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB
        if retryingInterrupted({ flock(number, operation) }) == 0 { return true }
        guard errno == EWOULDBLOCK else { throw .last }
        return false
    }

    /// Takes the file's lock, waiting until it is free.
    ///
    /// - Throws: ``SystemError`` where the file, or the system, has no room for locks.
    package borrowing func lock(_ lock: Lock) throws(SystemError) {
        while flock(number, lock == .shared ? LOCK_SH : LOCK_EX) != 0 {
            if errno != EINTR { throw .last }
        }
    }

    /// Releases the file's lock.
    ///
    /// - Returns: Whether that succeeded; where it did not, closing the descriptor releases the lock.
    @discardableResult
    package borrowing func unlock() -> Bool { flock(number, LOCK_UN) == 0 }
}
