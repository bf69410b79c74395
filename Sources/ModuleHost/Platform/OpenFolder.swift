import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// A folder that was opened, and whether its path still leads to it.
///
/// It is kept open, so that no other folder can get its inode.
final class OpenFolder: Sendable {
    let path: String
    private let folder: Descriptor

    /// Opens a folder that exists.
    init(_ path: String, links: LinkPolicy) throws(FileError) {
        self.path = path
        folder = try Descriptor(opening: path, O_RDONLY | O_DIRECTORY, links: links)
    }

    /// Whether the path leads to this folder: neither it nor a folder above it was moved, removed or
    /// replaced.
    var isInPlace: Bool {
        var found = stat()
        guard stat(path, &found) == 0, let status = try? folder.status() else { return false }
        return found.st_dev == status.st_dev && found.st_ino == status.st_ino
    }
}
