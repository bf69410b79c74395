/// The exit code of a host or a command, from `sysexits.h`.
@nonexhaustive public enum ExitCode: Int32, Hashable, Sendable, CaseIterable {
    /// Done, or ended as it was asked to.
    case success = 0
    /// Done, and in vain: the event was ignored, or no module was there to receive it.
    case ignored = 1
    /// The command line makes no sense, or ``HostDaemon/run(_:)`` was called where no host can run.
    case usage = 64
    /// There is no slatefile, or it cannot be read.
    case noInput = 66
    /// No host runs, or it has no such route.
    case unavailable = 69
    /// A required part failed, or the host was ended before it had stopped.
    case failed = 70
    /// The state directory cannot be made or written to.
    case cannotCreate = 73
    /// Input or output failed.
    case inputOutput = 74
    /// Another host runs on the state directory.
    case busy = 75
    /// The caller may not do this.
    case notPermitted = 77
    /// The slatefile is invalid.
    case invalidSlatefile = 78
}

extension ExitCode {
    /// The meaning of the code, for the help of a command.
    package var meaning: String {
        switch self {
        case .success: "done"
        case .ignored: "ignored, or no module was there to hear it"
        case .usage: "the command line makes no sense"
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
