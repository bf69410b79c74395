import AppService

/// The host of a daemon, or one that is embedded in a program, for its control socket.
///
/// Outlives the app: a request to stop gets its response when the app has ended.
package final class ControlledDaemon: ControlledHost {
    /// The time that the lane may take to reach a request.
    private static let patience: Duration = .seconds(2)
    /// The time that a process may take to end after its app: clients read their responses, and the log is
    /// written.
    package static let exitTime: Duration = .seconds(10)

    private enum Phase {
        case running(stops: [@Sendable (AppHost.End) -> Void])
        case ended(AppHost.End)
    }

    let host: AppHost
    let inbox: Inbox?
    private let firstIdentity: HostIdentity
    let reloader: SlatefileReloader?
    /// The name of the host's program, for the commands that help.
    var program: String { reloader?.options.program.name ?? ProgramIdentity.hostd.name }
    /// The time from which on a start is a slow one.
    private static let slowStart: Duration = .seconds(1)
    /// The steps that READY waited for, once they are known and if that took long.
    private let chain = Guarded<[LaunchReport.Step]?>(nil)
    private let phase = Guarded(Phase.running(stops: []))
    private let endAtOnce: (@Sendable (Origin) -> Void)?

    /// - Parameters:
    ///   - host: The app.
    ///   - slatefile: The path of its slatefile; nil for one that is not in a file.
    ///   - inbox: Its inbox; nil where it has none.
    ///   - lastDeath: The death of the host before it; nil where it did not die.
    ///   - reloader: The reloader, which has the outcome of the last reload; nil where the host is embedded in a program.
    ///   - endAtOnce: Ends the process; must not wait for the calling thread. Nil where the process is not the host's.
    init(
        _ host: AppHost, slatefile: String?, inbox: Inbox? = nil, lastDeath: LastDeath? = nil,
        reloader: SlatefileReloader? = nil, endAtOnce: (@Sendable (Origin) -> Void)? = nil
    ) {
        self.endAtOnce = endAtOnce
        self.host = host
        self.inbox = inbox
        self.reloader = reloader
        firstIdentity = HostIdentity(
            app: host.slatefile.app, slatefile: slatefile.map(CurrentProcess.absolute),
            stateDirectory: CurrentProcess.absolute(host.stateDirectory), startedAt: .now(),
            stopTime: Self.stopTime(of: host), lastDeath: lastDeath)
    }

    /// Returns the longest time from the request to stop to the end of the process.
    static func stopTime(of host: AppHost) -> Duration { host.stopLimit + exitTime }

    package var identity: HostIdentity {
        var identity = firstIdentity
        identity.stopTime = Self.stopTime(of: host)
        identity.deadlines = host.slatefile.deadlines
        return identity
    }

    package func status() throws(RPCError) -> HostStatus {
        guard !host.isOver else { throw RPCError(HostSilence.ended) }
        let metrics = host.metrics.withLock { $0 }
        var status = HostStatus(
            identity, metrics, inbox: inbox?.currentFigures(with: host.gate.lane))
        let entries = host.slatefile.modules
        status.isolated = entries.filter { $0.hostDeaths != nil }.map(\.id)
        status.disabled = disabled.map(\.id)
        status.atWork = host.gate.lane.slot(host.gate.lane.ownership.slot)?.id
        status.holds = host.holds.open
        if let ready = metrics.readyAfter, ready >= Self.slowStart {
            status.slowStart = chain.withLock { chain in
                let steps = chain ?? host.launchReport.chain
                chain = steps
                return steps
            }
        }
        status.lastReload = reloader?.lastReload
        status.lastReloadOfFile = reloader?.lastReloadOfFile
        status.hasSlatefileChanged = reloader?.hasFileChanged ?? false
        status.probationLeft = reloader?.probationLeft
        status.isProgramReplaced = RunningProgram.file?.isReplaced ?? false
        return status
    }

    package var disabled: [Slatefile.Module] { host.slatefile.modules.filter(\.isDisabled) }

    package func modules(
        _ completion: @escaping @Sendable (Result<[ModuleStatus], RPCError>) -> Void
    ) {
        host.read(within: Self.patience, first: true) {
            $0.moduleStatuses
        } _: {
            completion($0.mapError(RPCError.init))
        }
    }

    package func stop(
        _ request: StopRequest, for peer: SocketPeer,
        _ completion: @escaping @Sendable (AppHost.End) -> Void
    ) throws(RPCError) {
        if request == .atOnce, endAtOnce == nil {
            throw .embedded("would end it, too", "stop it without 'now'")
        }
        let end = phase.withLock { phase -> AppHost.End? in
            switch phase {
            case .ended(let end): return end
            case .running(let stops):
                phase = .running(stops: stops + [completion])
                return nil
            }
        }
        if let end { return completion(end) }
        switch request {
        case .inOrder(let limit):
            host.stop(.stopped, because: "\(peer.origin)", origin: peer.origin, within: limit)
        case .atOnce: endAtOnce?(peer.origin)
        }
    }

    /// Responds to the clients that requested a stop, and from now on to each that requests one.
    func ended(_ end: AppHost.End) {
        let stops = phase.withLock { phase -> [@Sendable (AppHost.End) -> Void] in
            guard case .running(let stops) = phase else { return [] }
            phase = .ended(end)
            return stops
        }
        for stop in stops { stop(end) }
    }
}

extension AppHost.End {
    /// The reason for which the app failed; nil for every other end.
    var failure: String? { if case .failed(let reason) = self { reason } else { nil } }
}

extension RPCError {
    /// Creates the error for a host that did not report its status.
    init(_ silence: HostSilence) {
        switch silence {
        case .ended: self.init(.notRunning, "the app has ended")
        case .busy(let module, let time, _):
            self.init(
                .overdue, "the host is busy",
                detail: (module.map { "module '\($0)' is running" } ?? "many events are waiting")
                    + ", and the request was not reached within \(time.briefText); try again")
        }
    }
}
