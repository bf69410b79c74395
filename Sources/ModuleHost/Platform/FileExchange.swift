import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// The path of the file itself that `path` leads to, symbolic links followed.
///
/// - Throws: ``FileError``.
func resolvedPath(_ path: String) throws(FileError) -> String {
    guard let resolved = realpath(path, nil) else { throw FileError("find", path, .last) }
    defer { free(resolved) }
    return String(cString: resolved)
}

/// The permissions of a file.
///
/// - Throws: ``FileError``.
func fileMode(_ path: String) throws(FileError) -> UInt32 {
    var status = stat()
    guard stat(path, &status) == 0 else { throw FileError("look at", path, .last) }
    return status.st_mode & 0o7777
}

/// Gives a file a second name, in the place of what has that name, at one instant.
///
/// - Parameters:
///   - path: The file.
///   - other: Its second name, in the same file system.
/// - Throws: ``FileError``.
func linkFile(_ path: String, to other: String) throws(FileError) {
    let temporary = "\(other).\(getpid()).tmp"
    unlink(temporary)
    guard link(path, temporary) == 0 else { throw FileError("link", path, .last) }
    // Where both names are the same file's already, this does nothing, and leaves the first.
    let isRenamed = rename(temporary, other) == 0
    let reason = SystemError.last
    unlink(temporary)
    if !isRenamed { throw FileError("write", other, reason) }
}

/// Gives a file another name, in the place of what has that name, at one instant.
///
/// - Throws: ``FileError``.
func renameFile(_ path: String, to other: String) throws(FileError) {
    guard rename(path, other) == 0 else { throw FileError("rename", path, .last) }
}
