/// The priority of a task: how soon its work is needed.
///
/// Each priority is a phase: its tasks begin when ``StartupQueue/admit(_:)`` admits it. It decides the order
/// of tasks, not the system's scheduling of their threads: those all run alike.
public enum StartupPriority: UInt8, Hashable, Sendable, CaseIterable, Comparable {
    /// The work may wait until nothing else is to be done.
    case low
    /// The work is needed soon, but nothing waits for it.
    case `default`
    /// The work is needed before the app can be used.
    case high

    /// Returns whether `left` is needed less soon than `right`.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension StartupPriority: CustomStringConvertible {
    /// `low`, `default` or `high`.
    public var description: String {
        switch self {
        case .low: "low"
        case .default: "default"
        case .high: "high"
        }
    }
}
