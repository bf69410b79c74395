import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// The error of a file that was not read or written.
public struct DurableFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Whether there is no room on the disk.
    public let isFull: Bool
    /// The action, the file and the reason; it has no control characters.
    public let description: String

    init(_ action: String, _ path: String, code: Int32 = errno) {
        isFull = code == ENOSPC || code == EDQUOT
        let reason = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let text = buffer.baseAddress, strerror_r(code, text, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: text)
        }
        description = "cannot \(action) \(quoted(path)): \(reason)"
    }

    package init(_ description: String) {
        isFull = false
        self.description = description
    }
}

/// Files whose contents are on the disk when a call returns.
///
/// - Thread: Any; each function waits for the disk.
public enum DurableFile {
    /// Returns the contents of a file.
    ///
    /// - Parameters:
    ///   - path: The file; links are followed.
    ///   - limit: The bytes that it may have.
    /// - Returns: Nil if there is no such file.
    /// - Throws: ``DurableFileError``, also if the file has more than `limit` bytes, or is not a regular one.
    public static func read(_ path: String, limit: Int) throws(DurableFileError) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw DurableFileError("read", path)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw DurableFileError("read", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw DurableFileError("cannot read \(quoted(path)): it is not a regular file")
        }
        guard status.st_size <= limit else {
            throw DurableFileError(
                "cannot read \(quoted(path)): it has \(status.st_size) bytes, at most \(limit) are expected"
            )
        }
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            var code: Int32 = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
                let result = Glibc.read(file, buffer.baseAddress, buffer.count)
                if result < 0 { code = errno }
                count = max(0, result)
            }
            if code == EINTR { continue }
            guard code == 0 else { throw DurableFileError("read", path, code: code) }
            if chunk.isEmpty { return bytes }
            bytes += chunk
        }
        throw DurableFileError("cannot read \(quoted(path)): it grew beyond \(limit) bytes")
    }

    /// Replaces a file: whatever happens, it has its former contents, or the new ones.
    ///
    /// - Parameters:
    ///   - path: The file. Beside it a file is written whose name ends with `.new`.
    ///   - bytes: The new contents.
    ///   - mode: The permissions, from which those of the process's umask are taken away.
    ///   - isShared: Whether other processes may replace the file at the same time. The name of the file beside it then
    ///     has the number of the process; a process that is killed leaves it.
    /// - Throws: ``DurableFileError``.
    public static func replace(
        _ path: String, with bytes: [UInt8], mode: UInt32 = 0o600, isShared: Bool = false
    ) throws(DurableFileError) {
        let temporary = isShared ? "\(path).\(getpid()).new" : path + ".new"
        // One that was left may have other permissions.
        unlink(temporary)
        try write(bytes, toNew: temporary, mode) { () throws(DurableFileError) in
            guard rename(temporary, path) == 0 else { throw DurableFileError("replace", path) }
        }
    }

    /// Creates a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - bytes: Its contents.
    ///   - mode: The permissions, from which those of the process's umask are taken away.
    /// - Throws: ``DurableFileError``, also if there is something with this name, which stays as it is.
    public static func create(
        _ path: String, with bytes: [UInt8], mode: UInt32 = 0o600
    ) throws(DurableFileError) {
        try write(bytes, toNew: path, mode) {}
    }

    /// Writes a file that is new, or none if that fails.
    ///
    /// - Parameter finish: Called when the contents are on the disk, before the folder is.
    private static func write(
        _ bytes: [UInt8], toNew path: String, _ mode: UInt32,
        then finish: () throws(DurableFileError) -> Void
    ) throws(DurableFileError) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard file >= 0 else { throw DurableFileError("create", path) }
        defer { close(file) }
        do throws(DurableFileError) {
            try write(bytes, to: file, path)
            guard fsync(file) == 0 else { throw DurableFileError("write", path) }
            try finish()
            try synchronizeFolder(of: path)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Appends to a file, which is created if there is none.
    ///
    /// If that fails, the file is as long as before.
    package static func append(_ bytes: [UInt8], to path: String) throws(DurableFileError) {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw DurableFileError("open", path) }
        defer { close(file) }
        let before = lseek(file, 0, SEEK_END)
        do throws(DurableFileError) {
            try write(bytes, to: file, path)
            guard fdatasync(file) == 0 else { throw DurableFileError("write", path) }
            if before == 0 { try synchronizeFolder(of: path) }
        } catch {
            _ = ftruncate(file, before)
            throw error
        }
    }

    /// Cuts a file.
    package static func truncate(_ path: String, to size: Int) throws(DurableFileError) {
        guard Glibc.truncate(path, size) == 0 else { throw DurableFileError("cut", path) }
    }

    /// Creates a folder, unless there is one.
    package static func makeFolder(_ path: String) throws(DurableFileError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw DurableFileError("create", path)
        }
    }

    /// Returns the names in a folder, sorted.
    package static func names(in path: String) throws(DurableFileError) -> [String] {
        guard let folder = opendir(path) else { throw DurableFileError("read", path) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Calls code while no other process has the lock of this file.
    package static func withLock<Result>(
        _ path: String, _ body: () throws(StreamError) -> Result
    ) throws(StreamError) -> Result {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .away(DurableFileError("open", path).description) }
        // Closing the file releases the lock.
        defer { close(file) }
        while flock(file, LOCK_EX) != 0 {
            guard errno == EINTR else {
                throw .away(DurableFileError("lock", path).description)
            }
        }
        return try body()
    }

    /// Returns the milliseconds since 1970.
    package static func clock() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }

    private static func write(
        _ bytes: [UInt8], to file: Int32, _ path: String
    ) throws(DurableFileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw DurableFileError("write", path) }
            rest.removeFirst(count)
        }
    }

    private static func synchronizeFolder(of path: String) throws(DurableFileError) {
        let end = path.lastIndex(of: "/")
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw DurableFileError("open", folder) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw DurableFileError("write", folder) }
    }
}
