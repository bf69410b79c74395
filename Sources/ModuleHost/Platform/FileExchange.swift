import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// Returns the path of the file that `path` leads to, symbolic links followed.
///
/// - Throws: ``FileError``.
package func resolvedPath(_ path: String) throws(FileError) -> String {
    guard let resolved = realpath(path, nil) else { throw FileError("find", path, .last) }
    defer { free(resolved) }
    return String(cString: resolved)
}

/// Returns the permissions of a file.
///
/// - Throws: ``FileError``.
func fileMode(_ path: String) throws(FileError) -> UInt32 {
    var status = stat()
    guard stat(path, &status) == 0 else { throw FileError("look at", path, .last) }
    return status.st_mode & 0o7777
}

/// Gives a file a second name, and atomically replaces any file of that name.
///
/// - Parameters:
///   - path: The file.
///   - other: Its second name, in the same file system.
/// - Throws: ``FileError``.
func linkFile(_ path: String, to other: String) throws(FileError) {
    let temporary = "\(other).\(getpid()).tmp"
    unlink(temporary)
    guard link(path, temporary) == 0 else { throw FileError("link", path, .last) }
    // Where both names already belong to the same file, this does nothing, and leaves the first.
    let isRenamed = rename(temporary, other) == 0
    let reason = SystemError.last
    unlink(temporary)
    if !isRenamed { throw FileError("write", other, reason) }
}

/// Renames a file, and atomically replaces any file of that name.
///
/// - Throws: ``FileError``.
package func renameFile(_ path: String, to other: String) throws(FileError) {
    guard rename(path, other) == 0 else { throw FileError("rename", path, .last) }
}
