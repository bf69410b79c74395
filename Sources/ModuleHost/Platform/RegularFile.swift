import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// A regular file, of which parts are read.
final class RegularFile: Sendable {
    let size: Int
    /// The number of the file in its file system, which a copy does not have.
    let number: UInt64
    private let file: Descriptor

    /// Opens a file; nil where there is none that can be read, and for a link, a folder, a pipe or a device.
    init?(reading path: String) {
        // Without O_NONBLOCK, opening a named pipe would wait for a writer.
        guard let file = try? Descriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW),
            let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        size = Int(status.st_size)
        number = UInt64(status.st_ino)
        self.file = file
    }

    /// Reads some bytes; nil where the file has fewer, or they cannot be read.
    func bytes(_ count: Int, at offset: Int) -> [UInt8]? {
        let bytes = try? file.read(count, at: offset)
        return bytes?.count == count ? bytes : nil
    }
}
