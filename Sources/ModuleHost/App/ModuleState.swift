/// The state of a module in a host.
@nonexhaustive public enum ModuleState: Hashable, Sendable {
    /// The module is not launched yet.
    case waiting
    /// The module runs.
    case running
    /// The old instance is stopped, and the new one is not in effect yet.
    case replacing
    /// The module is busy beyond its deadline.
    case unresponsive
    /// The module receives nothing more, for this reason.
    case failed(String)
    /// The module is a program that has done what it is for, and has ended.
    case done
    /// The module was released.
    case released
    /// The module is made when it is needed.
    case onDemand

    package init(_ status: ModuleStatus) {
        self =
            switch status.state {
            case .waiting: .waiting
            case .running: .running
            case .replacing: .replacing
            case .overdue: .unresponsive
            case .failed: .failed(status.reason ?? "")
            case .done: .done
            case .released: .released
            case .onDemand: .onDemand
            }
    }
}

/// A module of a host, with its state.
public struct HostedModule: Hashable, Sendable {
    /// The id.
    public let id: ModuleID
    /// The entry, or the command of a program.
    public let entry: String
    /// The state.
    public let state: ModuleState
    /// The time since when it is in this state.
    public let since: WallTime

    init(_ status: ModuleStatus) {
        id = status.id
        entry = status.entry
        state = ModuleState(status)
        since = status.since
    }
}
