internal import Dispatch

/// How soon the work of a task is needed.
///
/// Each priority is a phase: its tasks begin when ``StartupQueue/admit(_:)`` admits it.
public enum StartupPriority: UInt8, Hashable, Sendable, CaseIterable, Comparable {
    /// May wait until nothing else is to be done. Runs at utility quality of service.
    case low
    /// Needed soon, but nothing waits for it. Runs at default quality of service.
    case `default`
    /// Needed before the app can be used. Runs at user-initiated quality of service.
    case high

    /// Whether `left` is needed less soon than `right`.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    var quality: DispatchQoS {
        switch self {
        case .low: .utility
        case .default: .default
        case .high: .userInitiated
        }
    }

    var taskPriority: TaskPriority {
        switch self {
        case .low: .utility
        case .default: .medium
        case .high: .high
        }
    }
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
