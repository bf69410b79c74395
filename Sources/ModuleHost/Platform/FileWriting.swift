import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims
import Synchronization

private let temporaryFiles = Atomic(0)

/// Replaces the file `path` with `bytes` atomically: a reader sees the old content or the new content,
/// complete, also after a crash of this process.
///
/// The bytes are written to a file beside it, which is then renamed. Where that fails, the new file is
/// removed.
///
/// - Parameters:
///   - bytes: The file's new content.
///   - path: The file to replace or create. A symbolic link is itself replaced; a device, a pipe or a socket
///     is an error.
///   - mode: The file's permissions, whatever the umask.
///   - synchronized: Whether the content must be on the disk before the file is renamed.
/// - Throws: ``FileError``.
public func writeFile(
    _ bytes: some Collection<UInt8>, to path: String, mode: UInt32 = 0o644,
    synchronized: Bool = false
) throws(FileError) {
    guard isReplaceable(path) else {
        throw FileError("write", path, .invalid, explanation: "it is not a regular file")
    }
    let number = temporaryFiles.wrappingAdd(1, ordering: .relaxed).newValue
    let temporary = "\(path).\(getpid())-\(number).tmp"
    do throws(SystemError) {
        let file = try Descriptor(opening: temporary, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        do throws(SystemError) {
            guard fchmod(file.number, mode) == 0 else { throw .last }
            try file.writeAll(bytes)
            if synchronized { try file.synchronize() }
            guard rename(temporary, path) == 0 else { throw .last }
        } catch {
            unlink(temporary)
            throw error
        }
    } catch {
        throw FileError("write", path, error)
    }
}

/// Returns whether a new file may take the place of what has this path; of a folder, the system decides.
private func isReplaceable(_ path: String) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0 else { return true }
    return [S_IFREG, S_IFLNK, S_IFDIR].contains(status.st_mode & S_IFMT)
}

/// Creates the folder `path`, and missing folders above it, for this user alone (0700 or `mode`).
///
/// A folder that exists is left as it is.
///
/// - Throws: ``FileError``, also where the path names something else than a folder.
package func makeFolders(_ path: String, mode: UInt32 = 0o700) throws(FileError) {
    if mkdir(path, mode) == 0 { return }
    var reason = SystemError.last
    if reason == .notFound, let parent = parentFolder(of: path) {
        try makeFolders(parent, mode: mode)
        if mkdir(path, mode) == 0 { return }
        reason = .last
    }
    var status = stat()
    guard reason == .alreadyExists else { throw FileError("create folder", path, reason) }
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        throw FileError("create folder", path, .notDirectory)
    }
}

/// Opens a folder, to lock it or to examine it.
///
/// - Throws: ``FileError``, also where the path names something else than a folder.
package func openFolder(_ path: String) throws(FileError) -> Descriptor {
    do throws(SystemError) {
        return try Descriptor(opening: path, O_RDONLY | O_DIRECTORY)
    } catch {
        throw FileError("open", path, error)
    }
}

/// Returns the path without its last component, `.` for a bare name, or nil for `/` and the empty path.
package func parentFolder(of path: String) -> String? {
    var bytes = Array(path.utf8)
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    guard !bytes.isEmpty, bytes != [UInt8(ascii: "/")] else { return nil }
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    while bytes.count > slash { bytes.removeLast() }
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    return bytes.isEmpty ? "/" : String(decoding: bytes, as: UTF8.self)
}
