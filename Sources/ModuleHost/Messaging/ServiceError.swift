/// The reason why a service cannot be resolved or registered.
@nonexhaustive public enum ServiceError: Error, Hashable, Sendable {
    /// No module provides it; `nearest` is a service with a similar name.
    case notProvided(String, nearest: String?)
    /// A module provides it already.
    case duplicate(String, first: ModuleID?)
    /// It is needed to make itself: the way from it to it.
    case cycle([String])
    /// Its module is busy beyond its deadline, and the call does not wait for it.
    case overdue(String, ModuleID?)
    /// Its module got stuck in this very call, and came back when the lane had gone on.
    case lost(String, ModuleID?)
    /// Modules already call each other 64 deep.
    case tooDeep(String)
    /// The caller is not a module.
    case noModule
    /// The module runs in a process of its own, which services by protocol neither leave nor reach.
    case otherProcess(String)
    /// The slatefile gives a module a process of its own, whose class declares these services.
    case isolatedProvider(String, services: [String])
    /// The host has stopped.
    case stopped
}

extension ServiceError: CustomStringConvertible {
    /// The error and the remedy.
    public var description: String {
        switch self {
        case .otherProcess(let name):
            "service '\(name)' is in another process than this module: "
                + "call an action, or leave \"isolation\" out"
        case .isolatedProvider(let entry, let services):
            "'\(entry)' cannot run in a process of its own: it provides "
                + "\(services.map { "'\($0)'" }.joined(separator: ", ")), and services do not cross "
                + "processes; leave \"isolation\" out, or offer actions instead"
        case .notProvided(let name, let nearest?):
            "no module provides '\(name)'; did you mean '\(nearest)'?"
        case .notProvided(let name, nil):
            "no module provides '\(name)': is its module in the slatefile, and enabled?"
        case .duplicate(let name, let first):
            "'\(name)' is provided already\(first.map { " by \($0)" } ?? ""); provide it once"
        case .cycle(let names):
            "services need each other to be made: \(names.joined(separator: " → "))"
        case .overdue(let name, let module):
            "'\(name)' is not to be had now: \(module.map { "\($0)" } ?? "its module") is unresponsive"
        case .lost(let name, let module):
            "'\(name)' took too long: \(module.map { "\($0)" } ?? "its module") is unresponsive, and so is "
                + "who called it"
        case .tooDeep(let name):
            "'\(name)' was not called: modules already call each other "
                + "\(CallDepth.maximum) deep"
        case .noModule: "only modules use services; call from a module's own code"
        case .stopped: "the host has stopped"
        }
    }
}
