/// The reason why a client of a host got no result.
@nonexhaustive public enum HostClientError: Error, Hashable, Sendable {
    /// No host runs on the state directory.
    case notRunning(StateDirectory)
    /// A host runs on it that has no socket yet, or has removed it; its process where that is known.
    case notListening(StateDirectory, processID: Int32?)
    /// The socket belongs to another user.
    case notPermitted(StateDirectory)
    /// The system reported another error.
    case failed(StateDirectory, SystemError)
    /// The host did not accept the connection in time.
    case timedOut(StateDirectory)
    /// The host did not respond to a request in time; it may still carry the request out.
    case noResponse(StateDirectory, to: String, within: Duration)
    /// The task was cancelled before the host responded to a request; it may still carry the request out.
    case cancelled(StateDirectory, request: String)
    /// The host closed the connection before it responded.
    case ended(StateDirectory)
    /// The response is not JSON-RPC.
    case malformed(StateDirectory)
    /// 1024 calls are not answered, or 16 MiB of them wait behind as many that the host has not read: nothing was
    /// sent.
    case tooManyCalls(StateDirectory)
    /// The host responded with an error.
    case refused(RPCError)

    /// The exit code of a command that fails with this error.
    package var exitCode: ExitCode {
        switch self {
        case .notRunning: .unavailable
        case .notListening, .timedOut, .noResponse, .cancelled, .tooManyCalls: .busy
        case .notPermitted: .notPermitted
        case .failed, .ended, .malformed: .inputOutput
        case .refused(let error): error.code.exitCode
        }
    }
}

extension HostClientError {
    /// Creates the error from that of a failed `connect`.
    init(connecting directory: StateDirectory, _ error: SystemError) {
        switch error {
        case .accessDenied, .notPermitted: self = .notPermitted(directory)
        case .notFound, .notDirectory, .connectionRefused:
            switch PidFile.holder(of: directory) {
            case .nobody: self = .notRunning(directory)
            case .host(let processID): self = .notListening(directory, processID: processID)
            case .unknown: self = .notPermitted(directory)
            }
        case .wouldBlock: self = .timedOut(directory)
        default: self = .failed(directory, error)
        }
    }
}

extension HostClientError: CustomStringConvertible {
    /// One line, without the way to start a host: that depends on how the command was called.
    public var description: String {
        switch self {
        case .notRunning(let directory): "no host runs on the state directory '\(directory.path)'"
        case .notListening(let directory, let processID):
            "the host\(processID.map { " (process \($0))" } ?? "") on the state directory "
                + "'\(directory.path)' is starting or stopping, or its socket was removed; try again"
                + (processID.map { ", or stop it with 'kill -TERM \($0)'" } ?? "")
        case .notPermitted(let directory):
            "the host on the state directory '\(directory.path)' is another user's; "
                + "only that user and root may control it"
        case .failed(let directory, let error):
            "cannot reach the host on the state directory '\(directory.path)': \(error)"
        case .timedOut(let directory):
            "the host on the state directory '\(directory.path)' does not answer"
        case .noResponse(let directory, let method, let time):
            "the host on the state directory '\(directory.path)' did not answer '\(method)' within "
                + "\(time.briefText)\(Self.rest(of: method))"
        case .cancelled(let directory, let method):
            "cancelled before the host on the state directory '\(directory.path)' answered "
                + "'\(method)'\(Self.rest(of: method))"
        case .ended(let directory):
            "the host on the state directory '\(directory.path)' closed the connection before it "
                + "answered"
        case .malformed(let directory):
            "what answers on '\(directory.path(of: StateDirectory.socketName))' is not a host of this version"
        case .tooManyCalls(let directory):
            "too many calls of the host on the state directory '\(directory.path)' are not answered; await some of "
                + "them before others"
        case .refused(let error): "\(error)"
        }
    }

    /// The methods that change nothing in the host.
    private static let reading: Set<String> = [
        "about", "canopen", "config", "health", "metrics", "modules", "ping", "routes", "startup",
        "status",
        "tail",
        "timeline", "wait", "why",
    ]

    /// Returns the end of a message about a request that is no longer awaited.
    private static func rest(of method: String) -> String {
        reading.contains(method) ? "" : "; it may still carry that out"
    }
}
