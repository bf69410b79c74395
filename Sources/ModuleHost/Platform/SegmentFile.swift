import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// One file of a log that several processes append to, in turn.
///
/// Nothing here takes a lock: a caller that appends or truncates has the log's own.
final class SegmentFile {
    /// The state of a file at one moment.
    struct State: Hashable {
        /// The size in bytes.
        let size: Int
        /// Whether the file still has a name.
        let isLinked: Bool
    }

    let path: String
    let number: UInt32
    private let file: Descriptor

    /// Opens a segment that exists; no link is followed.
    ///
    /// - Parameter isWritable: Whether it is to be appended to.
    /// - Throws: ``FileError``, also where it is not a regular file.
    init(opening path: String, number: UInt32, isWritable: Bool) throws(FileError) {
        self.path = path
        self.number = number
        let flags = isWritable ? O_RDWR | O_APPEND : O_RDONLY
        // Without O_NONBLOCK, opening a named pipe would wait.
        file = try Descriptor(opening: path, flags | O_NONBLOCK, links: .refused)
        do throws(SystemError) {
            guard try file.status().st_mode & S_IFMT == S_IFREG else { throw .invalid }
        } catch {
            throw FileError("open", path, error)
        }
    }

    /// Creates a segment, which must not exist, for this user alone (0600).
    ///
    /// Its name is on the disk only when the folder is synchronized.
    ///
    /// - Throws: ``FileError``; ``SystemError/alreadyExists`` where it exists.
    init(creating path: String, number: UInt32) throws(FileError) {
        self.path = path
        self.number = number
        do throws(SystemError) {
            file = try Descriptor(
                opening: path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        } catch {
            throw FileError("create", path, error)
        }
    }

    /// Returns the current state of the file.
    func state() throws(FileError) -> State {
        do throws(SystemError) {
            let status = try file.status()
            return State(size: Int(status.st_size), isLinked: status.st_nlink > 0)
        } catch {
            throw FileError("look at", path, error)
        }
    }

    /// Appends `bytes` in one write.
    ///
    /// A part that a full disk took is cut off again.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to append.
    ///   - size: The file's size, to which it is cut back.
    /// - Returns: The offset of the bytes in the file.
    func append(_ bytes: [UInt8], size: Int) throws(FileError) -> Int {
        do throws(SystemError) {
            do throws(SystemError) {
                try file.writeAll(bytes)
            } catch {
                if let now = try? file.status().st_size, now > size {
                    // Where this fails too, the newline before the next record ends the partial record.
                    try? file.truncate(to: size)
                }
                throw error
            }
            return try file.position - bytes.count
        } catch {
            throw FileError("write", path, error)
        }
    }

    /// Cuts the file to `size` bytes.
    func truncate(to size: Int) throws(FileError) {
        do throws(SystemError) { try file.truncate(to: size) } catch {
            throw FileError("truncate", path, error)
        }
    }

    /// Waits until the content is on the disk (`fdatasync`).
    func synchronize() throws(FileError) {
        do throws(SystemError) { try file.synchronize() } catch {
            throw FileError("synchronize", path, error)
        }
    }

    /// Reads up to `count` bytes from `offset` on; fewer at the end of the file.
    func read(at offset: Int, upTo count: Int) throws(FileError) -> [UInt8] {
        do throws(SystemError) { return try file.read(count, at: offset) } catch {
            throw FileError("read", path, error)
        }
    }
}
