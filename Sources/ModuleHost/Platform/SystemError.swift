import Glibc

/// An error number of the operating system.
package struct SystemError: Error, Hashable, Sendable {
    /// The `errno` value.
    package let code: Int32

    package init(code: Int32) { self.code = code }

    /// The error of the calling thread's last failed system call.
    ///
    /// Read it before anything else can make a call of its own.
    static var last: SystemError { SystemError(code: errno) }

    package static let notFound = SystemError(code: ENOENT)
    package static let notPermitted = SystemError(code: EPERM)
    package static let accessDenied = SystemError(code: EACCES)
    package static let isDirectory = SystemError(code: EISDIR)
    package static let notDirectory = SystemError(code: ENOTDIR)
    package static let alreadyExists = SystemError(code: EEXIST)
    package static let brokenPipe = SystemError(code: EPIPE)
    package static let badDescriptor = SystemError(code: EBADF)
    package static let wouldBlock = SystemError(code: EAGAIN)
    package static let noSpace = SystemError(code: ENOSPC)
    static let quotaExceeded = SystemError(code: EDQUOT)
    static let readOnly = SystemError(code: EROFS)
    /// Beyond what the process or the file system lets a file grow to.
    static let fileTooLarge = SystemError(code: EFBIG)
    package static let noSuchProcess = SystemError(code: ESRCH)
    package static let connectionRefused = SystemError(code: ECONNREFUSED)
    static let interrupted = SystemError(code: EINTR)
    /// This process, or the whole system, has no room for another open file.
    package static let tooManyOpenFiles = SystemError(code: EMFILE)
    package static let tooManyOpenFilesInSystem = SystemError(code: ENFILE)
    package static let addressInUse = SystemError(code: EADDRINUSE)
    package static let tooManyLinks = SystemError(code: ELOOP)
    static let invalid = SystemError(code: EINVAL)
}

extension SystemError: CustomStringConvertible {
    /// The system's own words for it, such as `No such file or directory`.
    package var description: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let text = buffer.baseAddress, strerror_r(code, text, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: text)
        }
    }
}

/// Something that could not be done to a file: what, to which, and why.
package struct FileError: Error, Hashable, Sendable {
    /// The failed action, as a verb: `open`, `write`, `create`.
    package let action: String
    package let path: String
    package let reason: SystemError
    /// The words in place of the system's, where these would mislead.
    package let explanation: String?

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
    package var description: String { "cannot \(action) '\(path)': \(explanation ?? "\(reason)")" }
}
