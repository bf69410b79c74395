import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// The reason why a file could not be read.
public struct FileReadError: Error, Hashable, Sendable {
    /// The reason in one of these kinds.
    @nonexhaustive public enum Reason: Hashable, Sendable {
        /// Nothing has this name, or a part of the path is not a folder.
        case missing
        /// The name is a folder's.
        case isDirectory
        /// A pipe, a device or a socket: reading it could take for ever.
        case notRegular
        /// The process may not read it.
        case notReadable
        /// It holds a secret, and its group or others have a permission.
        case notPrivate
        /// It must be this user's or root's, and belongs to another user.
        case foreignOwner(UInt32)
        /// It is a symbolic link that is not followed, in words.
        case link(String)
        /// More bytes than the limit given.
        case tooLarge(limit: Int)
        /// The system failed otherwise.
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
/// Never waits for a writer or a device: what is not a regular file is refused.
///
/// - Parameters:
///   - path: The file's path.
///   - limit: How many bytes it may have.
///   - links: How a symbolic link in the place of the file is treated; nil to follow any.
///   - isSecret: Whether to refuse it where its group or others have any permission.
///   - isTrusted: Whether to refuse it where it belongs to neither this process's user nor root. Of a
///     symbolic link, what it leads to counts.
/// - Returns: Its bytes.
/// - Throws: ``FileReadError``, which tells what is missing from what is not permitted.
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
/// - Parameters:
///   - path: The file's path.
///   - count: How many bytes to read at most.
///   - links: How a symbolic link in the place of the file is treated.
/// - Returns: Its last bytes; all of a file that has no more.
/// - Throws: ``FileReadError``.
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
        // What is appended meanwhile is not part of it.
        return try file.read(upTo: count)
    } catch {
        throw FileReadError(path: path, reason: .init(error, limit: count))
    }
}

private func openToRead(
    _ path: String, _ links: LinkPolicy?
) throws(FileReadError) -> Descriptor {
    // Without O_NONBLOCK the opening of a named pipe would wait for a writer.
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
        // ENXIO and ENODEV are what opening a socket or a device without a driver gives.
        case EINVAL, ENXIO, ENODEV: self = .notRegular
        case EACCES, EPERM: self = .notReadable
        case EFBIG: self = .tooLarge(limit: limit)
        case EKEYREJECTED: self = .notPrivate
        default: self = .failed(error)
        }
    }
}

extension Descriptor {
    /// Reads from here to the end.
    ///
    /// - Parameters:
    ///   - expected: How many there should be; a wrong guess costs time only. Files under `/proc`
    ///     say 0.
    ///   - limit: How many there may be.
    /// - Returns: The bytes, or nil where there are more than `limit`.
    /// - Throws: ``SystemError``.
    borrowing func readToEnd(
        expecting expected: Int, limit: Int
    ) throws(SystemError) -> [UInt8]? {
        var bytes: [UInt8] = []
        // One more than expected, so that the end shows without growing.
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

    /// Up to `count` bytes; none at the end of the file.
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
