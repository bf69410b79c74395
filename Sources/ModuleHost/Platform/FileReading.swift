import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// The reason why a file could not be read.
public struct FileReadError: Error, Hashable, Sendable {
    /// The kind of reason.
    @nonexhaustive public enum Reason: Hashable, Sendable {
        /// No file has this name, or a part of the path is not a folder.
        case missing
        /// The name belongs to a folder.
        case isDirectory
        /// The file is a pipe, a device or a socket: reading it could wait for ever.
        case notRegular
        /// The process does not have the permission to read it.
        case notReadable
        /// The file is a secret, and its group or others have a permission.
        case notPrivate
        /// The file must belong to this user or root, and belongs to another user.
        case foreignOwner(UInt32)
        /// The file is a symbolic link that is not followed; the reason in words.
        case link(String)
        /// The file has more bytes than the limit.
        case tooLarge(limit: Int)
        /// The system reported another error.
        case failed(SystemError)
    }

    /// The path of the file.
    public let path: String
    /// The reason.
    public let reason: Reason
}

extension FileReadError: CustomStringConvertible {
    /// One line, such as `slatefile.json: no such file`.
    public var description: String { "\(path): \(reason)" }
}

extension FileReadError.Reason: CustomStringConvertible {
    /// The reason in words, with the remedy where there is one.
    public var description: String {
        switch self {
        case .missing: "no such file"
        case .isDirectory: "is a folder, not a file"
        case .notRegular: "is not a regular file"
        case .notReadable: "may not be read by this user"
        case .notPrivate: "may be used by others than its owner; 'chmod 600' it"
        case .foreignOwner(let owner):
            "belongs to user \(owner), who could change it; 'chown \(CurrentProcess.userID)' it"
        case .link(let explanation): explanation
        case .tooLarge(let limit): "is larger than \(Self.text(bytes: limit))"
        case .failed(let error): "cannot be read: \(error)"
        }
    }

    private static func text(bytes: Int) -> String {
        bytes >= 1 << 20 && bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : "\(bytes) bytes"
    }
}

/// Reads a regular file to its end.
///
/// Never waits for a writer or a device: a file that is not regular is refused.
///
/// - Parameters:
///   - path: The file's path.
///   - limit: How many bytes it may have.
///   - links: How a symbolic link in the place of the file is treated; nil to follow any.
///   - isSecret: Whether to refuse it where its group or others have any permission.
///   - isTrusted: Whether to refuse it where it belongs to neither this process's user nor root. Of a
///     symbolic link, the target counts.
/// - Returns: Its bytes.
/// - Throws: ``FileReadError``, which distinguishes a missing file from one without permission.
@inline(never)  // Inlined, it stood at thirty places.
public func readFile(
    at path: String, limit: Int, links: LinkPolicy? = nil, isSecret: Bool = false,
    isTrusted: Bool = false
) throws(FileReadError) -> [UInt8] {
    let file = try openToRead(path, links)
    var foreignOwner: UInt32?
    do throws(SystemError) {
        let status = try file.status()
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw SystemError.isDirectory
        default: throw SystemError.invalid
        }
        if isTrusted, status.st_uid != 0, status.st_uid != CurrentProcess.userID {
            foreignOwner = status.st_uid
            throw SystemError.notPermitted
        }
        if isSecret, status.st_mode & 0o077 != 0 { throw SystemError(code: EKEYREJECTED) }
        guard Int(status.st_size) <= limit,
            let bytes = try file.readToEnd(
                expecting: Int(status.st_size), limit: limit)
        else { throw SystemError(code: EFBIG) }
        return bytes
    } catch {
        let reason = foreignOwner.map(FileReadError.Reason.foreignOwner)
        throw FileReadError(path: path, reason: reason ?? .init(error, limit: limit))
    }
}

/// Reads the end of a regular file.
///
/// - Parameter count: How many bytes to read at most.
/// - Returns: Its last bytes; all of a file that has no more.
func readEnd(
    ofFile path: String, atMost count: Int, links: LinkPolicy
) throws(FileReadError) -> [UInt8] {
    let file = try openToRead(path, links)
    do throws(SystemError) {
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError.invalid }
        guard lseek(file.number, max(0, status.st_size - off_t(count)), SEEK_SET) >= 0 else {
            throw .last
        }
        // Bytes that are appended meanwhile are not read.
        return try file.read(upTo: count)
    } catch {
        throw FileReadError(path: path, reason: .init(error, limit: count))
    }
}

private func openToRead(
    _ path: String, _ links: LinkPolicy?
) throws(FileReadError) -> Descriptor {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    let flags = O_RDONLY | O_NONBLOCK
    do throws(FileError) {
        if let links { return try Descriptor(opening: path, flags, links: links) }
        do throws(SystemError) { return try Descriptor(opening: path, flags) } catch {
            throw FileError("open", path, error)
        }
    } catch {
        let reason = error.explanation.map(FileReadError.Reason.link)
        throw FileReadError(path: path, reason: reason ?? .init(error.reason, limit: 0))
    }
}

extension FileReadError.Reason {
    fileprivate init(_ error: SystemError, limit: Int) {
        switch error.code {
        case ENOENT, ENOTDIR: self = .missing
        case EISDIR: self = .isDirectory
        // Opening a socket, or a device without a driver, fails with ENXIO or ENODEV.
        case EINVAL, ENXIO, ENODEV: self = .notRegular
        case EACCES, EPERM: self = .notReadable
        case EFBIG: self = .tooLarge(limit: limit)
        case EKEYREJECTED: self = .notPrivate
        default: self = .failed(error)
        }
    }
}

extension Descriptor {
    /// Reads from the current position to the end.
    ///
    /// - Parameters:
    ///   - expected: The expected number of bytes; a wrong guess costs time only. Files under `/proc` report
    ///     a size of 0.
    ///   - limit: How many bytes there may be.
    /// - Returns: The bytes, or nil where there are more than `limit`.
    borrowing func readToEnd(
        expecting expected: Int, limit: Int
    ) throws(SystemError) -> [UInt8]? {
        var bytes: [UInt8] = []
        // One more than expected, so that the end is found without growing.
        var room = max(expected + 1, 4096)
        while true {
            let before = bytes.count
            let chunk = try read(upTo: room)
            if chunk.isEmpty { return bytes }
            if before == 0 { bytes = chunk } else { bytes += chunk }
            if bytes.count > limit { return nil }
            room = max(expected + 1 - bytes.count, 65_536)
        }
    }

    /// Reads `count` bytes from an offset on, or those up to the end of the file.
    borrowing func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count, failure == nil {
                let result = pread(
                    number, buffer.baseAddress.map { $0 + filled }, count - filled, offset + filled)
                if result > 0 {
                    filled += result
                } else if result == 0 {
                    return
                } else if errno != EINTR {
                    failure = .last
                }
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Reads up to `count` bytes; none at the end of the file.
    borrowing func read(upTo count: Int) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let result = retryingInterrupted { Glibc.read(number, buffer.baseAddress, count) }
            if result < 0 { failure = .last }
            filled = max(result, 0)
        }
        if let failure { throw failure }
        return bytes
    }
}
