import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// A file that only grows, such as a journal, and that can be reopened after it was moved.
///
/// Not safe to share between threads; a module opens its own.
public final class AppendFile {
    /// The absolute path of the file.
    public let path: String
    private let name: String
    private let folder: String?
    private let mode: UInt32
    private let links: LinkPolicy
    private var file: Descriptor

    /// Opens the file, creating it where it is missing.
    ///
    /// - Parameters:
    ///   - path: The file's path; its folder must exist.
    ///   - folder: The folder that a relative `path` begins in; nil for the current one.
    ///   - mode: The permissions of a file that this creates, before the umask.
    ///   - links: How a symbolic link in the place of the file is treated; with `folder`, each link below
    ///     that.
    /// - Throws: ``FileError``.
    public init(
        path: String, below folder: String? = nil, mode: UInt32 = 0o600, links: LinkPolicy = .own
    ) throws(FileError) {
        let isBelow = folder != nil && !path.hasPrefix("/")
        self.path = isBelow ? "\(folder ?? ".")/\(path)" : path
        name = path
        self.folder = folder
        self.mode = mode
        self.links = links
        file = try Self.open(path, folder, mode, links)
    }

    /// Appends `bytes`, in one write where the system takes them at once.
    ///
    /// - Throws: ``FileError``. Where only a part was written (a full disk), that part is removed again, if
    ///   nothing was appended after it.
    public func append(_ bytes: [UInt8]) throws(FileError) {
        var written = 0
        // Where the part begins, as soon as there is one; nil for a file without positions, such as a pipe.
        var start: Int?
        do throws(SystemError) {
            while written < bytes.count {
                let count = try file.write(bytes[written...])
                if written == 0, count < bytes.count {
                    start = (try? file.position).map { $0 - count }
                }
                written += count
            }
        } catch {
            if let start, (try? file.size) == start + written { try? file.truncate(to: start) }
            throw FileError("write", path, error)
        }
    }

    /// Returns whether the file ends inside a line: the last writer was cut off.
    ///
    /// False for a file without an end to read, such as a device.
    ///
    /// - Throws: ``FileError``.
    public func endsInsideLine() throws(FileError) -> Bool {
        do throws(SystemError) {
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return false }
            var last = UInt8(ascii: "\n")
            let result = retryingInterrupted { pread(file.number, &last, 1, status.st_size - 1) }
            guard result >= 0 else { throw .last }
            return last != UInt8(ascii: "\n")
        } catch {
            throw FileError("read", path, error)
        }
    }

    /// Waits until everything appended is on the disk.
    public func synchronize() throws(FileError) {
        do throws(SystemError) { try file.synchronize() } catch {
            throw FileError("write", path, error)
        }
    }

    /// Opens the path again, as after a log rotation.
    ///
    /// Where that fails the old file stays open.
    public func reopen() throws(FileError) {
        file = try Self.open(name, folder, mode, links)
    }

    private static func open(
        _ path: String, _ folder: String?, _ mode: UInt32, _ links: LinkPolicy
    ) throws(FileError) -> Descriptor {
        // Readable too, to read the last byte.
        try Descriptor(
            opening: path, below: folder, O_RDWR | O_APPEND | O_CREAT, mode: mode, links: links)
    }
}
