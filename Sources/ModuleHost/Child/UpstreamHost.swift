import AppService
import Synchronization

/// The host of a module that runs in this process alone, as this process sees it: it sends events, and makes
/// the module's calls to others.
///
/// On the lane, except where a method says otherwise.
final class UpstreamHost: AppRole, UpstreamCalls {
    let module: ModuleID
    let connection: ParentConnection
    private let initialization: RPCID?
    let hostID: String?
    /// The events that are not answered, by the numbers that they have here.
    private let events = Guarded(SentEvents())
    /// The calls of the host whose answers come later, by the number of the request.
    private let pendingCalls = Guarded<[Int: LateAnswer]>([:])
    /// The number of messages that the module has posted and the host has not accepted yet.
    private let unansweredPosts = Atomic(0)
    /// The number at which the module waits for the host.
    private static let postWindow = 32
    private let reference = WeakHost()

    /// - Parameters:
    ///   - module: The module.
    ///   - connection: The connection to the host.
    ///   - initialization: The id of its first request, which gets its response once the module is created.
    ///   - hostID: The id of the host; nil where it has none.
    init(
        of module: ModuleID, over connection: ParentConnection, answering initialization: RPCID?,
        hostID: String? = nil
    ) {
        self.module = module
        self.hostID = hostID
        self.connection = connection
        self.initialization = initialization
    }

    var upstream: (any UpstreamCalls)? { self }

    var input: (any LaneInput)? { connection }

    /// Notifies the host, which goes on without the module, and kills this process if the module does not return.
    func reportUnresponsive() -> Bool {
        connection.notify("unresponsive") { $0.object { _ in } }
        return true
    }

    func set(_ host: AppHost) {
        reference.set(host)
        host.slatefileExchange = { [connection] text, probation, _, completion in
            do throws(RPCError) {
                try connection.ask("apply") { response in
                    completion(
                        response.map {
                            SlatefileChange(
                                isChange: $0["changed"]?.bool == true,
                                summary: $0["summary"]?.string ?? "")
                        }.mapError(SlatefileRefusal.init))
                } _: { json in
                    json.object {
                        $0.member("slatefile", text)
                        if let probation {
                            $0.member("probationMs", probation.wholeNanoseconds / 1_000_000)
                        }
                    }
                }
            } catch {
                completion(.failure(.refused(error.message)))
            }
        }
    }

    // MARK: Reports of the app

    /// Responds to `initialize` once the module is created and its start-up tasks that cannot wait are done,
    /// or one of them has failed.
    func startedUp(_ app: App) {
        guard let record = app.records.first, let calls = app.calls else { return }
        if let failure = record.failure {
            return connection.fail(initialization, RPCError(.failed, failure.reason))
        }
        let members = app.center.members(of: record.slot).map(\.object)
        let topics = members.flatMap(MessageEvent.topics)
        // A long-running task begins after `launch`.
        let runs = record.module is any RunningModule
        let events = EventKind.allCases.filter { kind in
            members.contains(where: kind.isReceived) || kind == .launch && runs
        }
        let isHeld = app.holds.keep(
            LaneWork { [connection] _ in connection.notify("ready") { $0.object { _ in } } })
        connection.succeed(initialization) { json in
            json.object {
                $0.member("protocol", ModuleProtocol.version)
                $0.member("module", module.text)
                $0.member("events", events.map(\.rawValue))
                $0.member("topics", topics)
                if record.taker != nil { $0.member("window", record.slot.window) }
                $0.member("root", record.module is any RootProvider)
                if isHeld { $0.member("ready", false) }
                $0.member("routes") { json in
                    json.array { json in
                        for route in calls.table.routes { route.route.write(to: &json) }
                    }
                }
            }
        }
    }

    /// Ends the process where the module's long-running task has failed, so that the host restarts it.
    ///
    /// The host of the module reports every other failure.
    func moduleFailed(_ record: ModuleRecord, in step: String, _ error: any Error, of app: App) {
        guard step == "run" else { return }
        app.log.of(module: record.id.text).error("run failed: \(error)")
        CurrentProcess.exitNow(ExitCode.failed.rawValue)
    }

    func responderFailed(
        _: ModuleSlot, in event: LifecycleEvent, _ error: any Error, of _: App
    ) -> FanStep {
        events.withLock { $0.note(error, in: event) }
        return .next
    }

    func ended(
        _ event: LifecycleEvent, _ tally: EventTally, of _: EventRequest, in _: App
    ) {
        guard let sent = events.withLock({ $0.end(event) }) else { return }
        let retry = event.entry == nil ? nil : sent.failure?.retry
        if let failure = sent.failure, retry == nil {
            return connection.fail(sent.id, RPCError(.failed, failure.description))
        }
        connection.succeed(sent.id) { json in
            json.object {
                // The host limits it.
                if let retry { $0.member("retryMs", retry.wholeNanoseconds / 1_000_000) }
                if let fetch = tally.fetch { $0.member("fetch", fetch.rawValue) }
                if tally.claimedBy != nil { $0.member("claimed", true) }
            }
        }
    }

    /// Does nothing: the host of the module continues.
    func completed(_: EventRequest, in _: App) {}

    /// Continues at once: the host of the module has sent the shutdown events, if the module is to receive
    /// them.
    func notifyOfStop(origin _: Origin, in app: App) {
        _ = app.state.apply(.terminate)
        app.advance(.notified)
    }

    // MARK: Requests of the module

    func take(_ event: LifecycleEvent) -> Bool {
        guard case .message(let message) = event.content else { return true }
        func write(to json: inout JSONWriter) {
            json.object {
                $0.member("topic", message.topic)
                if let payload = message.payload { $0.member("payload", payload) }
                if let trace = event.trace { $0.member("traceparent", trace.text) }
            }
        }
        do throws(RPCError) {
            if unansweredPosts.load(ordering: .relaxed) < Self.postWindow {
                unansweredPosts.add(1, ordering: .relaxed)
                try connection.ask("post") { [self] response in
                    unansweredPosts.subtract(1, ordering: .relaxed)
                    if case .failure(let error) = response { logRefused(error) }
                } _: {
                    write(to: &$0)
                }
            } else if let thread = reference.host?.lane.hold {
                // The host has no room: the module waits until there is.
                _ = try connection.ask(
                    "post", serving: { serve($0, $1, on: thread) }, write)
            } else {
                connection.notify("post", write)
            }
        } catch {
            logRefused(error)
        }
        return true
    }

    private func logRefused(_ error: RPCError) {
        reference.host?.log.of(module: module.text).warning("a message was not posted: \(error)")
    }

    func perform(
        _ module: String, _ action: String, _ parameters: RouteParameters, for caller: Caller,
        on thread: LaneThread
    ) throws -> any Encodable & Sendable {
        try ask("call", .action(action, of: module), for: caller, on: thread) { json in
            json.member("module", module)
            json.member("action", action)
            json.member("parameters", parameters)
        }
    }

    func open(
        _ url: String, for caller: Caller, on thread: LaneThread
    ) throws -> any Encodable & Sendable {
        try checked(url)
        return try ask("open", .url(url), for: caller, on: thread) {
            $0.member("url", url)
        }
    }

    func canOpen(_ url: String, for caller: Caller, on thread: LaneThread) throws -> Bool {
        try checked(url)
        return try answer(to: "canopen", .url(url), on: thread) {
            write(caller, to: &$0) { $0.member("url", url) }
        }.bool ?? false
    }

    func submit(_ record: InboxRecord, for sender: InboxSubmission.Sender) -> Bool {
        do throws(RPCError) {
            try connection.ask("send") { response in
                sender.take(response)
            } _: { json in
                json.object {
                    $0.members(
                        ofSent: record.event.kind, payload: record.payload, id: record.id,
                        source: record.source, traceparent: record.trace?.text,
                        waits: sender.onDelivery != nil)
                }
            }
        } catch {
            sender.onAcceptance(.failed(error))
        }
        return true
    }

    /// Throws if the text is not a valid URL, before it is sent to the host.
    private func checked(_ url: String) throws {
        do throws(RouteURLError) { _ = try RouteURL(url) } catch {
            throw RouteError.malformed(error)
        }
    }

    /// Makes the host call a route.
    ///
    /// - Returns: The reply; where the caller can wait for it, that comes later.
    private func ask(
        _ method: String, _ call: CrossingCall, for caller: Caller, on thread: LaneThread,
        _ parameters: (inout JSONWriter) -> Void
    ) throws -> any Encodable & Sendable {
        guard caller.userInfo.isEmpty else {
            throw IsolationError.objects(caller.userInfo.keys.sorted())
        }
        guard let later = caller.later else {
            return try answer(to: method, call, on: thread) {
                write(caller, to: &$0) {
                    parameters(&$0)
                    $0.member("later", false)
                }
            }["reply"] ?? .emptyObject
        }
        later.beginUpstream()
        do throws(RPCError) {
            try connection.ask(method) { result in
                later.answer(
                    result.mapError { call.error(for: $0) }.map { $0["reply"] ?? .emptyObject })
            } _: {
                write(caller, to: &$0, parameters)
            }
        } catch {
            later.withdraw()
            throw call.error(for: error)
        }
        return NoReply()
    }

    private func write(
        _ caller: Caller, to json: inout JSONWriter, _ parameters: (inout JSONWriter) -> Void
    ) {
        json.object {
            parameters(&$0)
            if caller.origin.isRemote { $0.member("from", caller.origin) }
            if let trace = reference.host?.lane.currentTrace {
                $0.member("traceparent", trace.text)
            }
        }
    }

    /// Returns the host's response to a request about a route.
    private func answer(
        to method: String, _ call: CrossingCall, on thread: LaneThread,
        _ parameters: (inout JSONWriter) -> Void
    ) throws -> JSONValue {
        do throws(RPCError) {
            return try connection.ask(method, serving: { serve($0, $1, on: thread) }, parameters)
        } catch {
            throw call.error(for: error)
        }
    }

    // MARK: Requests of the host

    /// Handles the messages of the host.
    func takeMail(on thread: LaneThread) {
        while case .message(let message) = connection.queue.next(until: nil) {
            if case .request(let request, let id) = message { serve(request, id, on: thread) }
        }
    }

    private func serve(_ request: RPCRequest, _ id: RPCID?, on thread: LaneThread) {
        guard let host = reference.host else { return }
        do throws(RPCError) {
            switch request.method {
            case "event":
                var event = try LifecycleEvent(
                    sentDown: request.parameters ?? .emptyObject, app: host.slatefile.app)
                event.request = events.withLock { $0.begin(id) }
                host.enqueue(.own(event))
                if event.kind == .launch {
                    try? host.startup.admit(.default)
                    host.onLaneWhenIdle { _ in try? host.startup.admit(.low) }
                }
            case "call": try call(request, id, in: host, on: thread)
            case "cancel": cancel(request)
            case "deadlines":
                guard let deadlines = ModuleDeadlines(request.parameters) else { return }
                var slatefile = host.slatefile
                slatefile.deadlines.apply(deadlines)
                host.exchange(slatefile)
                host.lane.watchdog.limits = Watchdog.Limits(of: slatefile)
            case "root":
                let root = try root(of: host.app.open(on: thread), on: thread)
                connection.succeed(id) { json in
                    if let root { json.value(root) } else { json.null() }
                }
            case "pending":
                let pending = host.app.open(on: thread).records.first?.context?.pending
                connection.succeed(id) { json in
                    if let pending { json.value(pending) } else { json.null() }
                }
            case "shutdown":
                connection.succeed(id) { $0.null() }
                host.stop(because: "the host unloads the module")
            default:
                throw .methodNotFound(
                    "a module is asked for event, call, root, pending and shutdown")
            }
        } catch {
            connection.fail(id, error)
        }
    }

    private func root(of app: App, on thread: LaneThread) throws(RPCError) -> String? {
        guard let record = app.records.first, let main = record.module as? any RootProvider else {
            return nil
        }
        switch app.gate.call(record.slot, on: thread, { try describing { try main.root } }) {
        case .returned(let root): return root
        case .threw(let error): throw RPCError(.failed, "\(error)")
        case .tooDeep, .lost, .threwOverdue: return nil
        }
    }

    private func call(
        _ request: RPCRequest, _ id: RPCID?, in host: AppHost, on thread: LaneThread
    ) throws(RPCError) {
        let parameters = request.parameters ?? .emptyObject
        guard let action = parameters["action"]?.string, let calls = host.app.open(on: thread).calls
        else {
            throw .invalidParameters("'action' is missing")
        }
        let origin = try Origin(sentDown: parameters)
        var caller = Caller(origin: origin, wantsJSON: true, isAdmitted: true)
        caller.url = parameters["url"]?.string.flatMap { try? RouteURL($0) }
        let number = id.flatMap { Int($0.text) }
        let later = LateAnswer { [self] result in
            pendingCalls.withLock { if let number { $0[number] = nil } }
            Self.respond(id, result, over: connection)
        }
        pendingCalls.withLock { if let number { $0[number] = later } }
        let trace = parameters["traceparent"]?.string.flatMap { TraceContext($0) }
        let result = Result {
            try TraceContext.with(trace) {
                try calls.perform(
                    self.module.text, action,
                    RouteParameters(parameters["parameters"] ?? .emptyObject),
                    for: caller.waiting(later), on: thread)
            }
        }
        if case .success = result, later.isTaken { return }
        pendingCalls.withLock { if let number { $0[number] = nil } }
        Self.respond(id, result, over: connection)
    }

    /// Cancels a call whose caller no longer waits.
    private func cancel(_ request: RPCRequest) {
        let number = request.parameters?["id"]?.int
        let call = pendingCalls.withLock { calls in number.flatMap { calls[$0] } }
        call?.end(.stopped)
    }

    /// Responds to a call.
    ///
    /// From any thread.
    private static func respond(
        _ id: RPCID?, _ result: Result<any Encodable & Sendable, any Error>,
        over connection: ParentConnection
    ) {
        switch result {
        case .success(let reply):
            let json = (reply as? EncodedReply)?.json ?? Array("null".utf8)
            connection.succeed(id) { $0.raw(json) }
        case .failure(let failure as HandlerFailure):
            connection.fail(id, RPCError(.failed, "\(failure.error)"))
        case .failure(let error): connection.fail(id, RPCError(ofCall: error))
        }
    }
}

extension InboxSubmission.Sender {
    /// Takes the response of the host to `send`, which for one that waits has acceptance and delivery.
    fileprivate func take(_ response: Result<JSONValue, RPCError>) {
        let answer: JSONValue
        switch response {
        case .failure(let error): return onAcceptance(.failed(error))
        case .success(let value): answer = value
        }
        guard let position = answer["position"]?.string.flatMap({ EventPosition($0) }) else {
            return onAcceptance(.duplicate)
        }
        onAcceptance(.accepted(position))
        onDelivery?(InboxSubmission.DeliveryResult(answer))
    }
}

extension InboxSubmission.DeliveryResult {
    /// Reads the response of the host to a `send` that waits.
    fileprivate init(_ answer: JSONValue) {
        if let reason = answer["deadLetter"]?.string {
            self = .rejected(reason)
        } else if answer["pending"] != nil {
            self = .pending
        } else if answer["duplicate"] != nil {
            self = .duplicate
        } else if let outcome = answer["outcome"] {
            self = .done(
                EventOutcome(
                    delivered: outcome["delivered"]?.int ?? 0, failed: outcome["failed"]?.int ?? 0,
                    overdue: outcome["unresponsive"]?.int ?? 0, later: outcome["later"]?.int ?? 0,
                    failure: outcome["failure"]?.string,
                    undelivered: outcome["undelivered"]?.string,
                    waitsFor: outcome["waitsFor"]?.elements.compactMap {
                        $0.string.flatMap { try? ModuleID($0) }
                    } ?? []))
        } else {
            self = .left
        }
    }
}

extension SlatefileRefusal {
    /// Creates the refusal from the answer of the host.
    fileprivate init(_ error: RPCError) {
        switch error.code {
        case .failed: self = .undone(error.message)
        case .notRunning: self = .stopped
        default: self = .refused(error.message)
        }
    }
}
