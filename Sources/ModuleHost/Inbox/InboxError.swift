/// The reason why the inbox could not be used, or did not accept something.
package enum InboxError: Error, Hashable, Sendable {
    /// A line has more bytes than ``InboxLimits/line``: nothing of the batch was accepted.
    case lineTooLong(bytes: Int, limit: Int)
    /// A line is empty or has a line break inside: nothing of the batch was accepted.
    case notOneLine
    /// More bytes than ``InboxLimits/batch`` at once: nothing was accepted.
    case batchTooLarge(bytes: Int)
    /// The system did not take the batch, whole and to the disk: nothing of it was accepted.
    case notAccepted(FileError)
    /// The last segment number there is has been used: nothing was accepted.
    case numbersUsedUp(folder: String)
    /// The path leads to another folder than the one that this process has opened, or to none.
    case moved(path: String)
    /// A file of the inbox could not be opened, read or written.
    case unusable(FileError)
    /// A file of the inbox could not be read whole.
    case unreadable(FileReadError)

    /// The exit code of a command that has this error.
    package var exitCode: ExitCode {
        switch self {
        case .lineTooLong, .notOneLine, .batchTooLarge: .usage
        case .notAccepted(let error), .unusable(let error):
            [.accessDenied, .notPermitted].contains(error.reason) ? .notPermitted : .inputOutput
        case .numbersUsedUp, .moved, .unreadable: .inputOutput
        }
    }
}

extension InboxError: CustomStringConvertible {
    /// One line: what happened, and what to do.
    package var description: String {
        switch self {
        case .lineTooLong, .notOneLine, .batchTooLarge, .notAccepted, .numbersUsedUp, .moved:
            "\(what); not accepted\(advice)\(again)"
        case .unusable, .unreadable: trouble
        }
    }

    /// The line for an answer to a sender which begins with saying that the event was not accepted.
    package var refusal: String { "\(what)\(advice)\(again)" }

    /// The line for those who look after the host, and have sent nothing.
    package var trouble: String { "\(what)\(advice)" }

    private var what: String {
        switch self {
        case .lineTooLong(let bytes, let limit):
            "a record of \(bytes) bytes is longer than the \(limit) that it may have"
        case .notOneLine: "a record is one line of text"
        case .batchTooLarge(let bytes): "\(bytes) bytes are too many at once"
        case .notAccepted(let error), .unusable(let error): error.description
        case .numbersUsedUp(let folder):
            "the inbox '\(folder)' has used all its segment numbers"
        case .moved(let path):
            "'\(path)' is not the folder that this host has opened: it or a folder above it was moved, "
                + "removed or replaced"
        case .unreadable(let error): error.description
        }
    }

    private var advice: String {
        switch self {
        case .notAccepted(let error), .unusable(let error):
            error.explanation == nil ? Self.advice(error.reason) : ": remove it"
        case .numbersUsedUp:
            ": let the host deliver what is pending, stop it, and move the folder away"
        case .moved: "; put it back, or start the host again"
        case .lineTooLong, .notOneLine, .batchTooLarge, .unreadable: ""
        }
    }

    /// The advice for a sender.
    private var again: String {
        if case .notAccepted(let error) = self, [.noSpace, .quotaExceeded].contains(error.reason) {
            ", then send again"
        } else {
            ""
        }
    }

    private static func advice(_ reason: SystemError) -> String {
        switch reason {
        case .noSpace: ": free space on this disk"
        case .quotaExceeded: ": free space of this user's quota on this disk"
        case .accessDenied, .notPermitted, .readOnly:
            ": the folder must be writable for the user that the host runs as"
        case .notFound:
            ": somebody removed the inbox or a part of it; a host makes it when it starts"
        case .fileTooLarge: ": this process may write no larger files (ulimit -f)"
        default: ""
        }
    }
}
