import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// The file of a program, as it was when a process was started from it.
struct ProgramFile: Hashable, Sendable {
    /// The path.
    let path: String
    /// The time at which the contents were written.
    let written: WallTime
    /// The time at which the file was put there, which no tool can set.
    private let placed: WallTime
    private let device: UInt
    private let number: UInt

    /// Examines a file; nil unless it is a regular file.
    ///
    /// - Parameter link: The path by which the file is found; nil for `path`.
    init?(_ path: String, foundBy link: String? = nil) {
        var status = stat()
        guard stat(link ?? path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        self.path = path
        written = WallTime(seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        placed = WallTime(seconds: status.st_ctim.tv_sec, nanoseconds: status.st_ctim.tv_nsec)
        device = UInt(status.st_dev)
        number = UInt(status.st_ino)
    }

    /// Whether another file, or other contents, are at the path now; false while there is no file.
    var isReplaced: Bool {
        guard let now = ProgramFile(path) else { return false }
        return (now.device, now.number, now.written) != (device, number, written)
    }

    /// Returns whether the file was put there after an instant.
    func isPlaced(after time: WallTime) -> Bool {
        (placed.seconds, placed.nanoseconds) > (time.seconds, time.nanoseconds)
    }
}
