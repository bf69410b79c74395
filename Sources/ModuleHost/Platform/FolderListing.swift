import Glibc

/// Returns the names in a folder, in no particular order.
///
/// - Throws: ``FileError``.
package func namesInFolder(_ path: String) throws(FileError) -> [String] {
    guard let folder = opendir(path) else { throw FileError("list", path, .last) }
    defer { closedir(folder) }
    var names: [String] = []
    while true {
        errno = 0
        guard let entry = readdir(folder) else {
            if errno != 0 { throw FileError("list", path, .last) }
            return names
        }
        // In place: an entry has only as many bytes as its name, and ends before the 256 that the type
        // declares.
        guard let field = UnsafePointer(entry).pointer(to: \.d_name) else { continue }
        let name = String(cString: UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self))
        if name != ".", name != ".." { names.append(name) }
    }
}

/// Returns whether a file exists at a path; links are followed.
package func fileExists(_ path: String) -> Bool { access(path, F_OK) == 0 }

/// Removes a file; a file that does not exist is not an error.
///
/// - Parameter path: The file.
/// - Throws: ``FileError``.
public func removeFile(_ path: String) throws(FileError) {
    if unlink(path) == 0 { return }
    let reason = SystemError.last
    if reason != .notFound { throw FileError("remove", path, reason) }
}

/// Waits until the names in a folder are on the disk: a file is safe only when its name is.
///
/// - Throws: ``FileError``.
func synchronizeFolder(_ path: String) throws(FileError) {
    do throws(SystemError) {
        let folder = try Descriptor(opening: path, O_RDONLY | O_DIRECTORY)
        guard retryingInterrupted({ fsync(folder.number) }) == 0 else { throw .last }
    } catch {
        throw FileError("synchronize", path, error)
    }
}
