import Glibc
// Owns structures of the system where it is loaded before Glibc, which depends on the order of the files.
import SwiftOverlayShims

/// `O_PATH`, which is not visible to Swift: a descriptor that names a file, even a link, and cannot read it.
let openAsPath: Int32 = 0o10_000_000

/// The treatment of a symbolic link in the place of a file.
///
/// A folder that others may write to can contain links that they created, and a file that is opened through
/// such a link is one that they chose.
public enum LinkPolicy: Sendable {
    /// The link is an error.
    case refused
    /// The link is followed where a trusted user created it, and is an error otherwise.
    case followed(isTrusted: @Sendable (_ owner: UInt32) -> Bool)

    /// The policy that follows a link where this process's user or root created it.
    public static var own: LinkPolicy {
        .followed { $0 == 0 || $0 == CurrentProcess.userID }
    }
}

extension Descriptor {
    /// Opens a file, and treats a link in its place by `links`.
    ///
    /// The link that is checked is the one that is followed, even if it is replaced meanwhile.
    ///
    /// - Parameters:
    ///   - folder: The folder that a relative `path` begins in: `links` counts for each link below it.
    ///     Nil for a path of which only the last part may be such a link.
    ///   - mode: The permissions of a file that this creates, before the umask.
    init(
        opening path: String, below folder: String? = nil, _ flags: Int32, mode: UInt32 = 0o666,
        links: LinkPolicy
    ) throws(FileError) {
        let isBelow = folder != nil && !path.hasPrefix("/")
        let names =
            isBelow ? path.split(separator: "/")[...] : path.split(separator: "/").suffix(1)
        let base = isBelow ? folder : parentFolder(of: path)
        let whole = isBelow ? "\(folder ?? ".")/\(path)" : path
        var opening = LinkedOpening(flags: flags, mode: mode, links: links)
        do throws(SystemError) {
            let start = try Descriptor(opening: base ?? "/", openAsPath | O_DIRECTORY)
            self = try opening.open(names, in: start, depth: 0)
        } catch {
            throw FileError("open", whole, error, explanation: opening.explanation)
        }
    }

    /// Opens a name in an open folder.
    fileprivate init(
        opening name: String, in folder: borrowing Descriptor, _ flags: Int32, _ mode: UInt32 = 0
    ) throws(SystemError) {
        let number = retryingInterrupted {
            openat(folder.number, name, flags | O_CLOEXEC | O_NOCTTY, mode)
        }
        guard number >= 0 else { throw .last }
        self.init(owning: number)
    }
}

/// The procedure that opens a file, from an open folder on, link by link.
private struct LinkedOpening {
    let flags: Int32
    let mode: UInt32
    let links: LinkPolicy
    /// The reason why a link was not followed, if that made the opening fail.
    private(set) var explanation: String?

    init(flags: Int32, mode: UInt32, links: LinkPolicy) {
        (self.flags, self.mode, self.links) = (flags, mode, links)
    }

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - names: The folders below `folder`, and the file; none for `folder` itself.
    ///   - folder: The folder that contains the first of them.
    ///   - depth: How many links were followed.
    /// - Returns: The open file.
    /// - Throws: ``SystemError``, with an ``explanation`` where a link is the reason.
    mutating func open(
        _ names: ArraySlice<Substring>, in folder: borrowing Descriptor, depth: Int
    ) throws(SystemError) -> Descriptor {
        let name = names.first.map(String.init) ?? "."
        let isLast = names.count <= 1
        let error: SystemError
        do throws(SystemError) {
            if isLast { return try Descriptor(opening: name, in: folder, flags | O_NOFOLLOW, mode) }
            let next = try Descriptor(opening: name, in: folder, Self.folderFlags | O_NOFOLLOW)
            return try open(names.dropFirst(), in: next, depth: depth)
        } catch let failure {
            error = failure
        }
        // For a link in the place of a folder the system reports that it is not a folder.
        guard error == .tooManyLinks || error == .notDirectory, explanation == nil,
            let target = try target(of: name, in: folder), depth < 16
        else { throw error }
        if Self.isProcess(folder) {
            // The target of such a link is not a path, and no other program can create links there.
            return try Descriptor(
                opening: name, in: folder, isLast ? flags : Self.folderFlags, mode)
        }
        guard isLast else {
            let next = try Descriptor(opening: target, in: folder, Self.folderFlags)
            return try open(names.dropFirst(), in: next, depth: depth + 1)
        }
        let parent = parentFolder(of: target) ?? "/"
        let next = try Descriptor(opening: parent, in: folder, Self.folderFlags)
        return try open(target.split(separator: "/").suffix(1), in: next, depth: depth + 1)
    }

    private static let folderFlags = openAsPath | O_DIRECTORY

    /// Returns the target of a link that may be followed; nil for something that is not a link.
    private mutating func target(
        of name: String, in folder: borrowing Descriptor
    ) throws(SystemError) -> String? {
        let link = try Descriptor(opening: name, in: folder, openAsPath | O_NOFOLLOW)
        let status = try link.status()
        guard status.st_mode & S_IFMT == S_IFLNK else { return nil }
        switch links {
        case .refused:
            explanation = "it is a symbolic link, which is not followed here"
            throw .tooManyLinks
        case .followed(let isTrusted):
            guard isTrusted(status.st_uid) else {
                explanation = "user \(status.st_uid) made this symbolic link, which is not followed"
                throw .notPermitted
            }
        }
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            // Of the link that was checked, even if its name belongs to another file by now.
            let result = buffer.withMemoryRebound(to: CChar.self) {
                $0.baseAddress.map { readlinkat(link.number, "", $0, Int(PATH_MAX)) } ?? 0
            }
            count = max(0, result)
        }
        guard !bytes.isEmpty, bytes.count < Int(PATH_MAX) else { throw .tooManyLinks }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns whether a folder is the system's own view of processes, such as `/proc/self/fd`.
    private static func isProcess(_ folder: borrowing Descriptor) -> Bool {
        var process = stat()
        guard let status = try? folder.status(), stat("/proc", &process) == 0 else { return false }
        return status.st_dev == process.st_dev
    }
}
