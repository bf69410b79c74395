import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// Removes a file, or a folder with its contents; links are removed, and not followed.
///
/// - Throws: ``FileError`` for the first that cannot be removed. That there is no such file is not an error.
func removeTree(_ path: String) throws(FileError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else { return try removeFile(path) }
    for name in try namesInFolder(path) { try removeTree("\(path)/\(name)") }
    guard rmdir(path) == 0 else { throw FileError("remove", path, .last) }
}

/// Returns whether a path names a symbolic link.
func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
}

/// Makes a path a link to `target`; replaces a link of that name, and nothing else.
///
/// - Throws: ``FileError``.
func makeLink(_ path: String, to target: String) throws(FileError) {
    if linkTarget(path) == target { return }
    if isLink(path) { try removeFile(path) }
    guard symlink(target, path) == 0 else { throw FileError("create", path, .last) }
}

/// Copies a program into a new file, which may be executed.
///
/// - Parameters:
///   - path: The program.
///   - copy: The new file; one of that name is replaced.
/// - Throws: ``FileError``.
func copyProgram(_ path: String, to copy: String) throws(FileError) {
    do throws(SystemError) {
        let source = try Descriptor(opening: path, O_RDONLY)
        try? removeFile(copy)
        let target = try Descriptor(opening: copy, O_WRONLY | O_CREAT | O_EXCL, mode: 0o755)
        while true {
            let chunk = try source.read(upTo: 1 << 20)
            if chunk.isEmpty { return }
            try target.writeAll(chunk)
        }
    } catch {
        throw FileError("copy", path, error)
    }
}

extension Descriptor {
    /// Opens a file for writing from its beginning, and empties it where it exists; a link is not followed.
    ///
    /// - Throws: ``FileError``.
    init(emptying path: String) throws(FileError) {
        self = try Descriptor(
            opening: path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644, links: .refused)
    }
}
