import Glibc

/// An error number of the operating system.
public struct SystemError: Error, Hashable, Sendable {
    /// The `errno` value.
    public let code: Int32

    /// Creates an error of a number.
    public init(code: Int32) { self.code = code }

    /// The error of the calling thread's last failed system call.
    ///
    /// Read it before anything else can make a call of its own.
    static var last: SystemError { SystemError(code: errno) }

    /// Nothing has this name (`ENOENT`).
    public static let notFound = SystemError(code: ENOENT)
    /// Only a privileged user may do it (`EPERM`).
    public static let notPermitted = SystemError(code: EPERM)
    /// The permissions forbid it (`EACCES`).
    public static let accessDenied = SystemError(code: EACCES)
    /// The name is a folder's (`EISDIR`).
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
    /// Beyond what the process or the file system lets a file grow to.
    static let fileTooLarge = SystemError(code: EFBIG)
    package static let noSuchProcess = SystemError(code: ESRCH)
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
    /// The system's own words for it, such as `No such file or directory`.
    public var description: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let text = buffer.baseAddress, strerror_r(code, text, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: text)
        }
    }
}

/// Something that could not be done to a file: what, to which, and why.
public struct FileError: Error, Hashable, Sendable {
    /// The failed action, as a verb: `open`, `write`, `create`.
    public let action: String
    /// The path of the file.
    public let path: String
    /// The error of the system.
    public let reason: SystemError
    /// The words in place of the system's, where these would mislead.
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
