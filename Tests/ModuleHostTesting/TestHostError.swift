public import ModuleHostCore

/// The error of a ``TestHost``: what happened, and what to do.
@nonexhaustive public enum TestHostError: Error, Sendable {
    /// The app ended before something was done; with its end and its last log lines.
    case ended(before: String, AppHost.End, log: String)
    /// The awaited event did not happen within the time; with the module whose code is running, if there is
    /// one, and the last log lines.
    case patience(String, Duration, doing: String?, log: String)
    /// The event has no meaning in the state of the app, so no module received it.
    case ignored(EventKind, LifecycleState)
    /// No such module runs in this host; with its modules, each with its state.
    case noModule(String, modules: [String])
    /// A module needs a process of its own, and no executable is given to run it in.
    case noExecutable(String)
    /// There is no such executable beside the tests; the path at which it was searched.
    case executableMissing(String)
    /// The module has no process that could be killed.
    case noProcess(String)
    /// The host has no inbox.
    case notDurable
    /// The reload was rolled back for this reason: a module could not be created or launched.
    case rolledBack(String)
    /// The inbox moved the event to the dead letters, for this reason.
    case deadLetter(String)
}

extension TestHostError: CustomStringConvertible {
    /// The error and the remedy.
    public var description: String {
        switch self {
        case .ended(let what, .stopped, let log):
            "the app ended before \(what): it was stopped. Its last log lines:\(log)"
        case .ended(let what, .failed(let reason), let log):
            "the app ended before \(what): \(reason). Its last log lines:\(log)"
        case .ended(let what, .overdue(let modules), let log):
            "the app ended before \(what): its stop ran out of time while these modules were busy: "
                + "\(modules.map(\.text).joined(separator: ", ")). Its last log lines:\(log)"
        case .patience(let what, let time, let module?, let log):
            "waited \(time) for \(what), and code of module '\(module)' is running: make it return, or "
                + "call 'advance(by:)' to let its deadline pass. The last log lines:\(log)"
        case .patience(let what, let time, nil, let log):
            "waited \(time) for \(what): check that it can happen, and call 'advance(by:)' if it waits for the "
                + "clock, which stands still. The last log lines:\(log)"
        case .ignored(let event, let state):
            "event '\(event.rawValue)' has no meaning while the app is \(state.inWords), so no module "
                + "received it; bring the app to another state before"
        case .noModule(let name, let modules):
            "no module \(name) runs in this host; its modules are \(modules.joined(separator: ", "))"
        case .noExecutable(let module):
            "module '\(module)' has a process of its own: name the executable of your package that links it, "
                + "as 'TestHost.Settings(executable: \"my-app\")', or test it without \"isolation\""
        case .executableMissing(let path):
            "there is no executable '\(path)': it is built with the tests if the package has an executable "
                + "target of this name"
        case .noProcess(let module):
            "module '\(module)' has no process: only one with a \"command\" or with \"isolation\": \"process\" "
                + "can be killed"
        case .notDurable:
            "this host has no inbox: make it with 'TestHost.Settings(isDurable: true)'"
        case .rolledBack(let reason):
            "the reload was rolled back, and the modules are those from before: \(reason)"
        case .deadLetter(let reason): "the inbox moved the event to the dead letters: \(reason)"
        }
    }
}
