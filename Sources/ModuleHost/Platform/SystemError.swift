import Glibc

/// An error number of the operating system.
public struct SystemError: Error, Hashable, Sendable {
    /// The `errno` value.
    public let code: Int32

    /// Creates an error from a number.
    public init(code: Int32) { self.code = code }

    /// The error of the calling thread's last failed system call.
    ///
    /// Read it before any other call can fail.
    static var last: SystemError { SystemError(code: errno) }

    /// No file has this name (`ENOENT`).
    public static let notFound = SystemError(code: ENOENT)
    /// Only a privileged user may do it (`EPERM`).
    public static let notPermitted = SystemError(code: EPERM)
    /// The permissions forbid it (`EACCES`).
    public static let accessDenied = SystemError(code: EACCES)
    /// The name belongs to a folder (`EISDIR`).
    public static let isDirectory = SystemError(code: EISDIR)
    /// A part of the path is not a folder (`ENOTDIR`).
    public static let notDirectory = SystemError(code: ENOTDIR)
    package static let alreadyExists = SystemError(code: EEXIST)
    package static let brokenPipe = SystemError(code: EPIPE)
    package static let badDescriptor = SystemError(code: EBADF)
    package static let wouldBlock = SystemError(code: EAGAIN)
    /// The disk is full (`ENOSPC`).
    public static let noSpace = SystemError(code: ENOSPC)
    static let quotaExceeded = SystemError(code: EDQUOT)
    static let readOnly = SystemError(code: EROFS)
    /// The file would exceed the limit of the process or of the file system (`EFBIG`).
    static let fileTooLarge = SystemError(code: EFBIG)
    package static let connectionRefused = SystemError(code: ECONNREFUSED)
    static let interrupted = SystemError(code: EINTR)
    /// This process has no room for another open file (`EMFILE`).
    public static let tooManyOpenFiles = SystemError(code: EMFILE)
    /// The whole system has no room for another open file (`ENFILE`).
    public static let tooManyOpenFilesInSystem = SystemError(code: ENFILE)
    package static let addressInUse = SystemError(code: EADDRINUSE)
    package static let tooManyLinks = SystemError(code: ELOOP)
    static let invalid = SystemError(code: EINVAL)
}

extension SystemError: CustomStringConvertible {
    /// The system's own description, such as `No such file or directory`.
    public var description: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let text = buffer.baseAddress, strerror_r(code, text, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: text)
        }
    }
}

extension SystemError {
    /// The remedy for an error that is a limit of the process or the system, such as
    /// `let this process have more open files (ulimit -n)`; nil for other errors.
    public var remedy: String? {
        switch self {
        case .tooManyOpenFiles: "let this process have more open files (ulimit -n)"
        case .tooManyOpenFilesInSystem:
            "let the whole system have more open files (sysctl fs.file-max)"
        // A file system's own limit is gigabytes, so this is most likely the process's.
        case .fileTooLarge: "let this process write larger files (ulimit -f)"
        default: nil
        }
    }
}

extension SystemError {
    /// The remedy where a disk, or a user's quota on it, is full; nil for other errors.
    var remedyForSpace: String? {
        switch self {
        case .noSpace: "free space on this disk"
        case .quotaExceeded: "free space of this user's quota on this disk"
        default: nil
        }
    }
}

/// The error of an action on a file: the action, the file, and the reason.
public struct FileError: Error, Hashable, Sendable {
    /// The failed action, as a verb: `open`, `write`, `create`.
    public let action: String
    /// The path of the file.
    public let path: String
    /// The error of the system.
    public let reason: SystemError
    /// The text that replaces the system's, where that would mislead.
    public let explanation: String?

    package init(
        _ action: String, _ path: String, _ reason: SystemError, explanation: String? = nil
    ) {
        self.action = action
        self.path = path
        self.reason = reason
        self.explanation = explanation
    }
}

extension FileError: CustomStringConvertible {
    /// One line, such as `cannot open 'a/b': No such file or directory`.
    public var description: String { "cannot \(action) '\(path)': \(explanation ?? "\(reason)")" }
}
