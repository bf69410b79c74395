import Glibc

/// The names of what is in a folder, in no order.
///
/// - Throws: ``FileError``.
func namesInFolder(_ path: String) throws(FileError) -> [String] {
    guard let folder = opendir(path) else { throw FileError("list", path, .last) }
    defer { closedir(folder) }
    var names: [String] = []
    while true {
        errno = 0
        guard let entry = readdir(folder) else {
            if errno != 0 { throw FileError("list", path, .last) }
            return names
        }
        // Where it stands: an entry has the bytes of its name alone, and ends before the 256 that the type
        // has room for.
        guard let field = UnsafePointer(entry).pointer(to: \.d_name) else { continue }
        let name = String(cString: UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self))
        if name != ".", name != ".." { names.append(name) }
    }
}

/// Returns whether there is something at a path; links are followed.
package func fileExists(_ path: String) -> Bool { access(path, F_OK) == 0 }

/// Removes a file; one that is not there is as good.
///
/// - Throws: ``FileError``.
func removeFile(_ path: String) throws(FileError) {
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
