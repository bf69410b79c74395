import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// Removes a file, or a folder with its contents; links are removed, and not followed.
///
/// - Throws: ``FileError`` for the first that cannot be removed. That there is no such file is not an error.
package func removeTree(_ path: String) throws(FileError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else { return try removeFile(path) }
    for name in try namesInFolder(path) { try removeTree("\(path)/\(name)") }
    guard rmdir(path) == 0 else { throw FileError("remove", path, .last) }
}

/// Returns whether a path names a symbolic link.
package func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
}

/// Makes a path a link to `target`; replaces a link of that name, and nothing else.
///
/// - Throws: ``FileError``.
package func makeLink(_ path: String, to target: String) throws(FileError) {
    if linkTarget(path) == target { return }
    if isLink(path) { try removeFile(path) }
    guard symlink(target, path) == 0 else { throw FileError("create", path, .last) }
}

/// Copies a file into a new one.
///
/// - Parameters:
///   - path: The file.
///   - copy: The new file; one of that name is replaced.
///   - mode: The permissions of the copy.
/// - Throws: ``FileError``.
package func copyFile(_ path: String, to copy: String, mode: UInt32) throws(FileError) {
    do throws(SystemError) {
        let source = try Descriptor(opening: path, O_RDONLY)
        try? removeFile(copy)
        let target = try Descriptor(opening: copy, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        while true {
            let chunk = try source.read(upTo: 1 << 20)
            if chunk.isEmpty { return }
            try target.writeAll(chunk)
        }
    } catch {
        throw FileError("copy", path, error)
    }
}

/// Copies a folder with its contents; links are copied, and not followed.
///
/// - Parameters:
///   - folder: The folder.
///   - copy: The new folder, which does not exist.
/// - Throws: ``FileError`` for the first that cannot be copied, also for one that is not a file, a folder or
///   a link.
package func copyTree(_ folder: String, to copy: String) throws(FileError) {
    try makeFolders(copy, mode: 0o755)
    for name in try namesInFolder(folder) {
        let (path, new) = ("\(folder)/\(name)", "\(copy)/\(name)")
        if let target = linkTarget(path) {
            try makeLink(new, to: target)
            continue
        }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw FileError("copy", path, .last) }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: try copyTree(path, to: new)
        case S_IFREG: try copyFile(path, to: new, mode: status.st_mode & 0o777)
        default: throw FileError("copy", path, .invalid)
        }
    }
}

/// Replaces a folder by another one, in one step where the file system can exchange names.
///
/// - Parameters:
///   - path: The folder to replace or create.
///   - new: The folder that gets its name.
/// - Throws: ``FileError``.
package func replaceFolder(_ path: String, by new: String) throws(FileError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return try renameFile(new, to: path) }
    if exchangeNames(AT_FDCWD, new, AT_FDCWD, path, exchangeFlag) == 0 {
        return try removeTree(new)
    }
    try removeTree(path)
    try renameFile(new, to: path)
}

/// `renameat2`, which the overlay of the library does not have.
@_silgen_name("renameat2") private func exchangeNames(
    _ folder: Int32, _ path: UnsafePointer<CChar>, _ otherFolder: Int32,
    _ other: UnsafePointer<CChar>, _ flags: UInt32
) -> Int32

/// `RENAME_EXCHANGE` of Linux.
private let exchangeFlag: UInt32 = 2

extension Descriptor {
    /// Opens a file for writing from its beginning, and empties it where it exists; a link is not followed.
    ///
    /// - Throws: ``FileError``.
    package init(emptying path: String) throws(FileError) {
        self = try Descriptor(
            opening: path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644, links: .refused)
    }
}
