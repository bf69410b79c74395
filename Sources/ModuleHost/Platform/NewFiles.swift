import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// Files that are created together: all of them, or none.
///
/// An existing file is never overwritten, not even one that appears meanwhile.
package struct NewFiles {
    /// The files and folders that were created, and are removed if another cannot be: folders before their
    /// contents.
    private var made: [(path: String, isFolder: Bool)] = []

    package init() {}

    /// Creates a file, and missing folders above it, with the permissions that the umask leaves.
    ///
    /// - Throws: ``FileError``, also where a file has this name.
    package mutating func make(_ path: String, _ text: String) throws(FileError) {
        if let folder = parentFolder(of: path) { try makeFolder(folder) }
        let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard number >= 0 else { throw FileError("create", path, SystemError(code: errno)) }
        made.append((path, false))
        let file = Descriptor(owning: number)
        do throws(SystemError) {
            try file.writeAll(text.utf8)
        } catch {
            throw FileError("write", path, error)
        }
    }

    /// Creates a link.
    ///
    /// - Throws: ``FileError``, also where a file has this name.
    package mutating func link(_ path: String, to target: String) throws(FileError) {
        guard symlink(target, path) == 0 else {
            throw FileError("create", path, SystemError(code: errno))
        }
        made.append((path, false))
    }

    private mutating func makeFolder(_ path: String) throws(FileError) {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw FileError("create folder", path, .notDirectory)
            }
            return
        }
        if let parent = parentFolder(of: path) { try makeFolder(parent) }
        guard mkdir(path, 0o777) == 0 else {
            throw FileError("create folder", path, SystemError(code: errno))
        }
        made.append((path, true))
    }

    /// Removes the created files, and the folders unless other programs have put files into them.
    package mutating func undo() {
        while let (path, isFolder) = made.popLast() { _ = isFolder ? rmdir(path) : unlink(path) }
    }

    /// Returns whether a file has this name, even a link without a target.
    package static func isTaken(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}

/// Atomically replaces a file by `text`: the file itself where links lead to it, and with its permissions.
///
/// - Throws: ``FileError``.
package func replaceFile(_ path: String, with text: [UInt8]) throws(FileError) {
    guard let resolved = realpath(path, nil) else {
        throw FileError("find", path, SystemError(code: errno))
    }
    defer { free(resolved) }
    var status = stat()
    guard stat(resolved, &status) == 0 else {
        throw FileError("look at", path, SystemError(code: errno))
    }
    try writeFile(
        text, to: String(cString: resolved), mode: status.st_mode & 0o7777, synchronized: true)
}

/// Returns the folders above the running program, the nearest first.
package func foldersAboveProgram() -> [String] {
    guard let resolved = realpath("/proc/self/exe", nil) else { return [] }
    defer { free(resolved) }
    return Array(
        sequence(first: String(cString: resolved)) { parentFolder(of: $0) }.dropFirst())
}
