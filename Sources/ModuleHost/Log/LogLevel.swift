/// The level of a line of the log, from least to most important.
@nonexhaustive public enum LogLevel: String, Hashable, Sendable, CaseIterable {
    /// Details for finding a bug. Off by default.
    case debug
    /// Normal events.
    case info
    /// Normal events that are worth finding again, such as a start or a reload.
    case notice
    /// Problems without harm so far.
    case warning
    /// Errors.
    case error
}

extension LogLevel: Comparable {
    /// The rank, from least to most important.
    var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .notice: 2
        case .warning: 3
        case .error: 4
        }
    }

    /// Returns whether `left` is less important than `right`.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}
