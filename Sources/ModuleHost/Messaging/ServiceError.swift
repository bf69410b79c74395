/// The reason why a service cannot be resolved or registered.
@nonexhaustive public enum ServiceError: Error, Hashable, Sendable {
    /// No module provides it; `nearest` is a service with a similar name.
    case notProvided(String, nearest: String?)
    /// The module that declares it is created after the caller.
    case notYetProvided(String, by: ModuleID)
    /// A module provides it already.
    case duplicate(String, first: ModuleID?)
    /// The service needs itself to be created: the chain from the service back to it.
    case cycle([String])
    /// The service's module is busy beyond its deadline, and the call does not wait for it.
    case overdue(String, ModuleID?)
    /// The service's module was stuck in this call, and returned after the lane had gone on without it.
    case lost(String, ModuleID?)
    /// Modules already call each other 64 deep.
    case tooDeep(String)
    /// The caller is not a module.
    case noModule
    /// The module runs in a process of its own, which only services reach that have a façade, and that the module
    /// declares it uses.
    case otherProcess(String)
    /// The module runs in a process of its own, from which no other module reaches a service that it registers.
    case ownProcess(String)
    /// The slatefile gives a process of its own to a module whose class cannot run so, for this reason.
    case isolatedProvider(String, because: String)
    /// A façade calls an action that the class of the module does not have; `nearest` is one that it has.
    case facade(String, action: String, of: String, nearest: String?)
    /// The module that declares it cannot be made, for this reason.
    case notMade(ModuleID, because: String)
    /// The host has stopped.
    case stopped
}

extension ServiceError: CustomStringConvertible {
    /// The error and the remedy.
    public var description: String {
        switch self {
        case .otherProcess(let name):
            "service '\(name)' is in another process than this module: give it a façade and declare it in "
                + "'usedServices', call an action, or leave \"isolation\" out"
        case .ownProcess(let name):
            "service '\(name)' cannot be registered in a process of its own: declare it as a ServiceProvider, with a "
                + "façade, or keep the module in the host by \"isolation\": \"none\""
        case .isolatedProvider(let entry, let reason):
            "'\(entry)' cannot run in a process of its own: \(reason); leave \"isolation\" out, or give the "
                + "service a façade"
        case .facade(let facade, let action, let entry, let nearest):
            "façade '\(facade)' calls '\(action)', which is not an action of '\(entry)'"
                + (nearest.map { "; did you mean '\($0)'?" } ?? "")
        case .notProvided(let name, let nearest?):
            "no module provides '\(name)'; did you mean '\(nearest)'?"
        case .notProvided(let name, nil):
            "no module provides '\(name)': is its module in the slatefile, and enabled?"
        case .notYetProvided(let name, let module):
            "'\(name)' is not available yet: \(module) provides it and stands later in the slatefile; "
                + "move it up, or resolve the service at launch"
        case .duplicate(let name, let first):
            "'\(name)' is provided already\(first.map { " by \($0)" } ?? ""); provide it once"
        case .cycle(let names):
            "services need each other to be created: \(names.joined(separator: " → "))"
        case .overdue(let name, let module):
            "'\(name)' is not available now: \(module.map { "\($0)" } ?? "its module") is unresponsive"
        case .lost(let name, let module):
            "'\(name)' took too long: \(module.map { "\($0)" } ?? "its module") is unresponsive, and so is "
                + "its caller"
        case .tooDeep(let name):
            "'\(name)' was not called: modules already call each other "
                + "\(CallDepth.maximum) deep"
        case .notMade(let module, let reason):
            "its provider \(module) is unavailable: \(reason)"
        case .noModule: "only modules use services; call from a module's own code"
        case .stopped: "the host has stopped"
        }
    }
}
