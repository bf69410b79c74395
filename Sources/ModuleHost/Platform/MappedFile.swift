import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// A file of a fixed size, mapped for reading and writing.
///
/// Stored bytes are in the system's page cache at once: they outlive the process, however it ends, and only a
/// crash of the machine can lose them. The disk space is allocated beforehand; a store into a hole of the
/// file on a full disk would be a SIGBUS.
///
/// `@unchecked Sendable`: address and size never change, and the mapping lasts as long as the object. Its
/// users share the content through atomics alone, as ``BlackBox`` does, or under a lock, as ``RecordRing`` does.
final class MappedFile: @unchecked Sendable {
    let path: String
    let base: UnsafeMutableRawPointer
    let size: Int
    /// The number of the file in its file system, which a copy does not have.
    let number: UInt64

    /// Creates a file for this user alone (0600), all zeros, and replaces any file of the name.
    ///
    /// - Parameter size: Its size in bytes.
    /// - Throws: ``FileError``; nothing is left behind then.
    init(creating path: String, size: Int) throws(FileError) {
        unlink(path)
        do throws(SystemError) {
            let file = try Descriptor(
                opening: path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            do throws(SystemError) {
                number = UInt64(try file.status().st_ino)
                base = try Self.map(file, size)
            } catch {
                unlink(path)
                throw error
            }
        } catch {
            throw FileError("create", path, error)
        }
        self.path = path
        self.size = size
    }

    /// Maps a file of this user that was created before.
    ///
    /// - Parameter size: Its size in bytes, which it has to have.
    /// - Throws: ``FileError``, also where it is a link or not a regular file, or others may write or read it.
    init(opening path: String, size: Int) throws(FileError) {
        do throws(SystemError) {
            let file = try Descriptor(opening: path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
            let status = try file.status()
            guard status.st_mode & (S_IFMT | 0o077) == S_IFREG, status.st_uid == geteuid(),
                status.st_nlink == 1, Int(status.st_size) == size
            else {
                throw SystemError(code: EINVAL)
            }
            number = UInt64(status.st_ino)
            base = try Self.map(file, size)
        } catch {
            throw FileError("map", path, error)
        }
        self.path = path
        self.size = size
    }

    /// Reserves memory without a file.
    ///
    /// - Throws: ``FileError``.
    init(inMemory size: Int) throws(FileError) {
        let base = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let base, base != MAP_FAILED else { throw FileError("map", "memory", .last) }
        self.base = base
        (path, number, self.size) = ("", 0, size)
    }

    deinit { munmap(base, size) }

    /// Atomically takes the place of another file; the mapping stays.
    ///
    /// - Throws: ``FileError``, also where a folder has that name.
    func take(placeOf other: String) throws(FileError) {
        guard rename(path, other) == 0 else { throw FileError("replace", other, .last) }
    }

    private static func map(
        _ file: borrowing Descriptor, _ size: Int
    ) throws(SystemError) -> UnsafeMutableRawPointer {
        var code: Int32
        repeat { code = posix_fallocate(file.number, 0, off_t(size)) } while code == EINTR
        guard code == 0 else { throw SystemError(code: code) }
        let base = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
        guard let base, base != MAP_FAILED else { throw .last }
        return base
    }

    /// Removes a file or a link, if there is one.
    static func remove(_ path: String) { unlink(path) }
}
