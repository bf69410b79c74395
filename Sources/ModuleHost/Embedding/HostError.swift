/// The reason why an embedded host cannot run, or did not stop in good order.
@nonexhaustive public enum HostError: Error, Sendable {
    /// The slatefile, or its file of tokens, is not valid; with every diagnostic.
    case invalid(SlatefileError)
    /// The slatefile, or the file of tokens that it names, cannot be read.
    case unreadable(FileReadError)
    /// The state directory cannot be used, or another host uses it; the reason in words.
    case stateDirectory(String)
    /// This Swift module has a process of its own, which would run this program's `main` once more.
    case needsModuleProcess(ModuleID)
    /// This process was started for a module, and was to run only that.
    case isModuleProcess
    /// The host was run before.
    case ranBefore
    /// The system has no room for a thread.
    case noThread(SystemError)
    /// A required part of the app failed; the reason in words.
    case failed(String)
    /// The stop ran out of time. Code of these modules is still running, or they have a hold on one of its
    /// steps.
    case overdue([ModuleID])
}

extension HostError: CustomStringConvertible {
    /// The error and the remedy.
    public var description: String {
        switch self {
        case .invalid(let error): "\(error)"
        case .unreadable(let error): "\(error)"
        case .stateDirectory(let reason): reason
        case .needsModuleProcess(let module):
            "module '\(module)' has a process of its own, which runs this program: call "
                + "'AppHost.exitIfModuleProcess()' first in main, or leave \"isolation\" out"
        case .isModuleProcess:
            "this process was started to run one module: call 'AppHost.exitIfModuleProcess()' first in main, before "
                + "anything else begins"
        case .ranBefore: "this host was run before: a host is run once, so create another one"
        case .noThread(let error): NativeThread.problem(error)
        case .failed(let reason): "the app failed: \(reason)"
        case .overdue(let modules) where modules.isEmpty:
            "the stop ran out of time, see 'deadlines.stopAll': the host was still busy"
        case .overdue(let modules):
            "the stop ran out of time, see 'deadlines.stopAll'; still busy: "
                + modules.map(\.text).joined(separator: ", ")
        }
    }

    init(_ failure: SlatefileFailure) {
        switch failure {
        case .unreadable(let error), .tokens(let error, _): self = .unreadable(error)
        case .invalid(let error): self = .invalid(error)
        }
    }
}
