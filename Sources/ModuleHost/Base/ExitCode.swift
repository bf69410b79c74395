/// The exit code of a host or a command, from `sysexits.h`.
@nonexhaustive public enum ExitCode: Int32, Hashable, Sendable, CaseIterable {
    /// The command succeeded, or the host ended as requested.
    case success = 0
    /// The command succeeded without effect: the event was ignored, or no module was there to receive it.
    case ignored = 1
    /// The command line is not valid, or ``HostDaemon/run(_:)`` was called where no host can run.
    case usage = 64
    /// The slatefile does not exist, or cannot be read.
    case noInput = 66
    /// No host runs, or the host has no such route.
    case unavailable = 69
    /// A required part failed, or the host was ended before it had stopped.
    case failed = 70
    /// The state directory cannot be created or written to.
    case cannotCreate = 73
    /// Input or output failed.
    case inputOutput = 74
    /// Another host runs on the state directory.
    case busy = 75
    /// The caller does not have the permission.
    case notPermitted = 77
    /// The slatefile is invalid.
    case invalidSlatefile = 78
}

extension ExitCode {
    /// The meaning of the code, for the help of a command.
    package var meaning: String {
        switch self {
        case .success: "done"
        case .ignored: "ignored, or no module received it"
        case .usage: "invalid usage"
        case .noInput: "no slatefile, or it cannot be read"
        case .unavailable: "no host runs, or it has no such route"
        case .failed: "a required part failed"
        case .cannotCreate: "the state directory cannot be written"
        case .inputOutput: "input or output failed"
        case .busy: "another host runs on the state directory"
        case .notPermitted: "not permitted"
        case .invalidSlatefile: "the slatefile is invalid"
        }
    }
}
