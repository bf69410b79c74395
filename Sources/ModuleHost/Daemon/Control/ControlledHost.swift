import AppService

/// The host behind a control socket.
///
/// - Thread: The control socket's, which must not be blocked: a response may be sent at any time, from any
///   thread.
/// - Order: None is required; responses may be out of order.
package protocol ControlledHost: Sendable {
    /// The facts that do not change while the host runs.
    var identity: HostIdentity { get }

    /// Returns the status of the app, without using the lane.
    ///
    /// - Throws: ``RPCErrorCode/notRunning`` where the app has ended.
    func status() throws(RPCError) -> HostStatus

    /// Reports the status of each enabled module, in slatefile order, without the system's data about
    /// processes.
    func modules(_ completion: @escaping @Sendable (Result<[ModuleStatus], RPCError>) -> Void)

    /// The modules that are disabled beside the slatefile, in slatefile order.
    var disabled: [Slatefile.Module] { get }

    /// Stops the app, and reports how it ended; also for an app that is stopping already.
    ///
    /// - Parameters:
    ///   - request: The kind of stop.
    ///   - peer: The process that requests it.
    ///   - completion: Called once, unless this throws.
    /// - Throws: ``RPCErrorCode/unavailable`` for a stop at once of a host in a process that is not its own.
    func stop(
        _ request: StopRequest, for peer: SocketPeer,
        _ completion: @escaping @Sendable (AppHost.End) -> Void) throws(RPCError)
}

/// The kind of stop that a client requests.
package enum StopRequest: Hashable, Sendable {
    /// In order; nil for `deadlines.stopAll` as the longest time. A stop that has begun keeps its limit.
    case inOrder(within: Duration?)
    /// At once: no module is notified.
    case atOnce
}

private struct StopParameters: Decodable, Sendable {
    static let limits = 1...86_400_000

    var withinMs: Int?
    var now: Bool?

    /// The request.
    func request() throws(RPCError) -> StopRequest {
        if now == true {
            guard withinMs == nil else {
                throw .invalidParameters("'now' and 'withinMs' exclude each other")
            }
            return .atOnce
        }
        if let withinMs, !Self.limits.contains(withinMs) {
            throw .invalidParameters(
                "/withinMs: \(withinMs) is not in \(Self.limits.lowerBound)…\(Self.limits.upperBound)"
            )
        }
        return .inOrder(within: withinMs.map { .milliseconds($0) })
    }
}

extension ControlMethods {
    /// Adds `about`, `status`, `modules` and `stop`.
    package mutating func add(_ host: any ControlledHost) {
        add("about") { call in
            call.reply.succeed { $0.object { host.identity.write(to: &$0) } }
        }
        add("status") { call in
            let status = Result { () throws(RPCError) in try host.status() }
            call.reply.give(status) { $0.write(to: &$1) }
        }
        add("modules") { call in
            host.modules { modules in
                call.onControlThread {
                    call.reply.give(modules) { modules, json in
                        json.array {
                            for module in modules { module.measured.write(to: &$0) }
                            for module in host.disabled { module.writeDisabled(to: &$0) }
                        }
                    }
                }
            }
        }
        add("stop", StopParameters.self) { parameters, call in
            do throws(RPCError) {
                try host.stop(try parameters.request(), for: call.peer) { end in
                    call.reply.succeed { end.write(to: &$0) }
                }
            } catch {
                call.reply.fail(error)
            }
        }
    }
}

extension RPCReply {
    /// Responds with a result or an error.
    func give<Value>(
        _ result: Result<Value, RPCError>, _ write: (Value, inout JSONWriter) -> Void
    ) {
        switch result {
        case .success(let value): succeed { write(value, &$0) }
        case .failure(let error): fail(error)
        }
    }
}

/// The identity of a host, known without the lane, which may be busy.
package struct HostIdentity: Hashable, Sendable {
    package var app: String
    /// The path of the slatefile; nil for one that is not in a file.
    package var slatefile: String?
    package var stateDirectory: String
    package var processID = CurrentProcess.id
    package var startedAt: WallTime
    /// The longest time from the request to stop to the end of the process.
    package var stopTime: Duration
    /// The deadlines of the slatefile in effect.
    package var deadlines = Slatefile.Deadlines()
    /// The death of the host before it on the state directory; nil if it ended on purpose.
    package var lastDeath: LastDeath?

    package init(
        app: String, slatefile: String?, stateDirectory: String, startedAt: WallTime,
        stopTime: Duration, lastDeath: LastDeath? = nil
    ) {
        self.app = app
        self.slatefile = slatefile
        self.stateDirectory = stateDirectory
        self.startedAt = startedAt
        self.stopTime = stopTime
        self.lastDeath = lastDeath
    }

    /// Writes the identity as members of an object.
    func write(to json: inout JSONWriter) {
        json.member("app", app)
        json.member("pid", Int(processID))
        json.member("version", HostVersion.current)
        if let slatefile { json.member("slatefile", slatefile) }
        json.member("stateDirectory", stateDirectory)
        json.member("startedAt", startedAt.iso8601)
        json.member("stopMs", stopTime.wholeNanoseconds / 1_000_000)
        json.member("deadlines") { deadlines.write(to: &$0) }
        if let lastDeath { json.member("lastDeath") { lastDeath.write(to: &$0) } }
    }
}

/// The status of an app, as `hostd status` shows it.
package struct HostStatus: Hashable, Sendable {
    package var identity: HostIdentity
    package var metrics: HostMetrics
    /// The module whose code runs at this moment; nil where none does.
    package var atWork: ModuleID?
    /// The metrics of the inbox; nil for a host without one.
    package var inbox: InboxMetrics?
    /// The open holds, in the order in which they were taken.
    package var holds: [OpenHold] = []
    /// The outcome of the last reload; nil before the first.
    package var lastReload: ReloadReport?
    /// The outcome of the last reload of the slatefile's file.
    var lastReloadOfFile: ReloadReport?
    /// The steps that READY waited for, where that took long.
    package var slowStart: [LaunchReport.Step] = []
    /// Whether the slatefile's file has another text than the slatefile in effect.
    package var hasSlatefileChanged = false
    /// The time that is left of the probation of the slatefile in effect; nil for none.
    package var probationLeft: Duration?
    /// Whether another file is at the path of the host's program by now.
    package var isProgramReplaced = false
    /// The modules that are isolated because they were running when hosts died, in slatefile order.
    package var isolated: [ModuleID] = []
    /// The modules that are disabled beside the slatefile, in slatefile order.
    package var disabled: [ModuleID] = []

    package init(
        _ identity: HostIdentity, _ metrics: HostMetrics, inbox: InboxMetrics? = nil
    ) {
        self.identity = identity
        self.metrics = metrics
        self.inbox = inbox
    }

    /// Writes the status as one object.
    func write(to json: inout JSONWriter) {
        json.object {
            identity.write(to: &$0)
            $0.member("state", metrics.state.rawValue)
            $0.member("stateSince", (metrics.stateSince ?? identity.startedAt).iso8601)
            if let ready = metrics.readyAfter {
                $0.member("readyMs", millisecondsOf: ready.wholeNanoseconds)
            }
            if !slowStart.isEmpty {
                $0.member("startup") { $0.objects(for: slowStart) { $0.write(to: &$1) } }
            }
            $0.member("modulesRunning", metrics.modulesRunning)
            $0.member("modulesFailed", metrics.modulesFailed)
            if metrics.modulesDone > 0 { $0.member("modulesDone", metrics.modulesDone) }
            if let atWork { $0.member("atWork", atWork.text) }
            if !metrics.overdue.isEmpty {
                $0.member("unresponsive", metrics.overdue)
            }
            if !metrics.failed.isEmpty { $0.member("failed", metrics.failed) }
            // One that hangs in `init` is both: its state is that it failed.
            let since = Dictionary(
                Array(zip(metrics.overdue, metrics.overdueSince))
                    + zip(metrics.failed, metrics.failedSince), uniquingKeysWith: { $1 })
            if !since.isEmpty {
                $0.member("since") {
                    $0.object { json in
                        for (id, time) in since.sorted(by: { $0.key.text < $1.key.text }) {
                            json.member(id.text, time.iso8601)
                        }
                    }
                }
            }
            if !isolated.isEmpty { $0.member("isolated", isolated) }
            if !disabled.isEmpty { $0.member("disabled", disabled) }
            if !metrics.instead.isEmpty {
                $0.member("instead") {
                    $0.array { json in
                        for taken in metrics.instead { taken.write(to: &json) }
                    }
                }
            }
            $0.member("failures", metrics.failures)
            $0.member("timesUnresponsive", metrics.timesOverdue)
            $0.member("ignored", metrics.ignored)
            if hasSlatefileChanged { $0.member("slatefileChanged", true) }
            if let probationLeft {
                $0.member("probationMs", probationLeft.wholeNanoseconds / 1_000_000)
            }
            if isProgramReplaced { $0.member("programReplaced", true) }
            if let lastReload {
                $0.member("lastReload") { lastReload.write(to: &$0, isWhole: false) }
            }
            $0.member("events") {
                let events = metrics.events
                $0.object { json in
                    for kind in EventKind.allCases {
                        guard let count = events[kind] else { continue }
                        json.member(kind.rawValue, count)
                    }
                }
            }
            if let inbox { $0.member("inbox") { inbox.write(to: &$0) } }
            guard !holds.isEmpty else { return }
            $0.member("holds") {
                $0.objects(for: holds) { hold, json in
                    json.member("module", hold.module.text)
                    hold.write(to: &json)
                }
            }
        }
    }
}

extension Slatefile.Module {
    /// Writes the status of a module that is disabled, which the app does not have.
    fileprivate func writeDisabled(to json: inout JSONWriter) {
        json.object {
            $0.member("id", id.text)
            $0.member("entry", implementation.text)
            $0.member("state", "disabled")
        }
    }
}
