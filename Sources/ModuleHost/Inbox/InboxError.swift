/// The reason why the inbox could not be used, or did not accept something.
package enum InboxError: Error, Hashable, Sendable {
    /// A line has more bytes than ``InboxLimits/line``: no line of the batch was accepted.
    case lineTooLong(bytes: Int, limit: Int)
    /// A line is empty or has a line break inside: no line of the batch was accepted.
    case notOneLine
    /// The batch has more bytes than ``InboxLimits/batch``: no line was accepted.
    case batchTooLarge(bytes: Int)
    /// The system did not write the whole batch to the disk: no line of it was accepted.
    case notAccepted(FileError)
    /// The last possible segment number has been used: no line was accepted.
    case numbersUsedUp(folder: String)
    /// The path leads to another folder than the one that this process has opened, or to none.
    case moved(path: String)
    /// A file of the inbox could not be opened, read or written.
    case unusable(FileError)
    /// A file of the inbox could not be read completely.
    case unreadable(FileReadError)

    /// The exit code of a command that fails with this error.
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
    /// One line: the problem, and the remedy.
    package var description: String {
        switch self {
        case .lineTooLong, .notOneLine, .batchTooLarge, .notAccepted, .numbersUsedUp, .moved:
            "\(what); not accepted\(advice)\(again)"
        case .unusable, .unreadable: problem
        }
    }

    /// The text for a response to a sender, which begins with the statement that the event was not accepted.
    package var refusal: String { "\(what)\(advice)\(again)" }

    /// The text for operators of the host, who have not sent an event.
    package var problem: String { "\(what)\(advice)" }

    /// Whether the error is a limit of the process or the system, which another folder would not change.
    var isLimit: Bool {
        switch self {
        case .notAccepted(let error), .unusable(let error): error.reason.remedy != nil
        case .lineTooLong, .notOneLine, .batchTooLarge, .numbersUsedUp, .moved, .unreadable: false
        }
    }

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
        if case .notAccepted(let error) = self, error.reason.remedyForSpace != nil {
            ", then send again"
        } else {
            ""
        }
    }

    private static func advice(_ reason: SystemError) -> String {
        switch reason {
        case .accessDenied, .notPermitted, .readOnly:
            ": the folder must be writable for the user that the host runs as"
        case .notFound:
            ": the inbox or a part of it was removed; a host creates it when it starts"
        default: (reason.remedyForSpace ?? reason.remedy).map { ": \($0)" } ?? ""
        }
    }
}
