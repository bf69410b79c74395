import AppService

/// The reason why work off the lane was not begun, or has no result.
@nonexhaustive public enum WorkError: Error, Hashable, Sendable {
    /// The module has as many pieces of work as it may have, ``ModuleWork/limit``.
    case tooMany(String)
    /// The deadline is not longer than zero.
    case deadline(String, Duration)
    /// The work did not end within its deadline.
    case overdue(String, after: Duration)
    /// The step that the work kept open is over: its time has run out.
    case holdRanOut(String)
}

extension WorkError: CustomStringConvertible {
    /// The error and the remedy.
    public var description: String {
        switch self {
        case .tooMany(let name):
            "work \(quoted(name)) was not begun: the module has \(ModuleWork.limit) pieces of work "
                + "that have not ended; begin more when these have"
        case .deadline(let name, let deadline):
            "work \(quoted(name)) was not begun: its deadline is \(deadline.briefText), "
                + "and must be longer than zero"
        case .overdue(let name, let deadline):
            "work \(quoted(name)) did not end within \(deadline.briefText); its result is discarded"
        case .holdRanOut(let name):
            "work \(quoted(name)) was cancelled: the time of its hold, 'deadlines.stop', is over"
        }
    }
}
