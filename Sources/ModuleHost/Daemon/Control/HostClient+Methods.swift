/// The methods of docs/control.md.
///
/// Results with many members are JSON, as the document describes them.
extension HostClient {
    // MARK: Calls

    /// Opens a URL: modules that claim URLs themselves are called first, then the router.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - token: The caller's token, which takes precedence over one in the URL.
    ///   - traceparent: The trace that it is a part of, as W3C Trace Context has it.
    ///   - time: The longest wait; nil for no limit. The default is `deadlines.call` of the host and 5 s, also for
    ///     a route with a longer deadline of its own.
    /// - Returns: The reply, also one that comes later.
    /// - Throws: ``HostClientError``; `refused` has the error of the call.
    @discardableResult
    public nonisolated(nonsending) func open(
        _ url: String, token: String? = nil, traceparent: String? = nil,
        within time: Duration? = HostClient.hostLimit
    ) async throws(HostClientError) -> HostReply {
        let limit = try await limit(time, \.call)
        return try reply(
            in: try await request("open", within: limit) { json in
                json.object {
                    $0.member("url", url)
                    if let token { $0.member("token", token) }
                    if let traceparent { $0.member("traceparent", traceparent) }
                }
            })
    }

    /// Returns whether a route would answer a URL.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - token: The caller's token.
    ///   - time: The longest wait; nil for no limit.
    /// - Returns: Whether there is such a route that the caller can reach.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func canOpen(
        _ url: String, token: String? = nil, within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> Bool {
        let result = try await request("canopen", within: time) { json in
            json.object {
                $0.member("url", url)
                if let token { $0.member("token", token) }
            }
        }
        guard let canOpen = result.bool else { throw .malformed(directory) }
        return canOpen
    }

    /// Calls an action of a module.
    ///
    /// - Parameters:
    ///   - module: The id of the module.
    ///   - action: The action.
    ///   - parameters: The parameters, an object; nil for none.
    ///   - token: The caller's token.
    ///   - traceparent: The trace that it is a part of, as W3C Trace Context has it.
    ///   - time: The longest wait, as that of ``open(_:token:traceparent:within:)``.
    /// - Returns: The reply, also one that comes later.
    /// - Throws: ``HostClientError``; `refused` has the error of the call.
    @discardableResult
    public nonisolated(nonsending) func call(
        _ module: String, _ action: String, parameters: JSONValue? = nil, token: String? = nil,
        traceparent: String? = nil, within time: Duration? = HostClient.hostLimit
    ) async throws(HostClientError) -> HostReply {
        let limit = try await limit(time, \.call)
        return try reply(
            in: try await request("call", within: limit) { json in
                json.object {
                    $0.member("module", module)
                    $0.member("action", action)
                    if let parameters { $0.member("parameters", raw: parameters.text.utf8) }
                    if let token { $0.member("token", token) }
                    if let traceparent { $0.member("traceparent", traceparent) }
                }
            })
    }

    /// Posts a message on a topic; returns as soon as it is accepted, and modules receive it in their turn.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - payload: The payload; nil for a message that consists of its topic alone.
    ///   - traceparent: The trace that it is a part of, as W3C Trace Context has it.
    ///   - time: The longest wait; nil for no limit.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func post(
        _ topic: String, _ payload: JSONValue? = nil, traceparent: String? = nil,
        within time: Duration? = HostClient.patience
    ) async throws(HostClientError) {
        _ = try await request("post", within: time) { json in
            json.object {
                $0.member("topic", topic)
                if let payload { $0.member("payload", raw: payload.text.utf8) }
                if let traceparent { $0.member("traceparent", traceparent) }
            }
        }
    }

    /// Sends an event.
    ///
    /// An event with a payload is on the disk when this returns, and is delivered whatever happens; one without
    /// is delivered.
    ///
    /// - Parameters:
    ///   - event: The kind of event.
    ///   - payload: The payload, if the event takes one.
    ///   - id: The id of an event with a payload: a second one with this id is not delivered.
    ///   - source: Where an event with a payload comes from; see ``LifecycleEvent/source``.
    ///   - traceparent: The trace that it is a part of, as W3C Trace Context has it.
    ///   - waits: Whether to wait for the delivery of an event with a payload.
    ///   - time: The longest wait; nil for no limit. The default is ``patience``, and for the delivery
    ///     `deadlines.call` of the host and 5 s.
    /// - Returns: The acceptance or the delivery, as docs/control.md describes it under `send`.
    /// - Throws: ``HostClientError``.
    @discardableResult
    public nonisolated(nonsending) func send(
        _ event: EventKind, payload: JSONValue? = nil, id: String? = nil, source: String? = nil,
        traceparent: String? = nil, waits: Bool = false,
        within time: Duration? = HostClient.hostLimit
    ) async throws(HostClientError) -> JSONValue {
        let limit: Duration? =
            if time == Self.hostLimit, !waits {
                Self.patience
            } else {
                try await limit(time, \.call)
            }
        return try await request("send", within: limit) { json in
            json.object {
                $0.members(
                    ofSent: event, payload: payload, id: id, source: source,
                    traceparent: traceparent, waits: waits)
            }
        }
    }

    // MARK: The host

    /// Returns the identity of the host.
    ///
    /// - Parameter time: The longest wait; nil for no limit.
    /// - Returns: The result, as docs/control.md describes it.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func about(
        within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> JSONValue {
        try await request("about", within: time)
    }

    /// Returns the status of the host and its app, however busy the modules are.
    ///
    /// - Parameter time: The longest wait; nil for no limit.
    /// - Returns: The result, as docs/control.md describes it.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func status(
        within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> JSONValue {
        try await request("status", within: time)
    }

    /// Returns the health of the host, which its lane reports in its turn.
    ///
    /// - Parameter time: The longest wait for the lane, 1 ms to 10 minutes.
    /// - Returns: The health.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func health(
        within time: Duration = .seconds(2)
    ) async throws(HostClientError) -> JSONValue {
        try await request("health", within: time + .seconds(1)) {
            $0.object { $0.member("withinMs", time.wholeNanoseconds / 1_000_000) }
        }
    }

    /// Returns the slatefile in effect, with every default.
    ///
    /// - Parameter time: The longest wait; nil for no limit.
    /// - Returns: A slatefile, in which `${NAME}` stands for the values of variables.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func config(
        within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> JSONValue {
        try await request("config", within: time)
    }

    /// Returns the steps of the launch, and those that READY waited for.
    ///
    /// - Parameter time: The longest wait; nil for no limit.
    /// - Returns: The result, as docs/control.md describes it.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func startup(
        within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> JSONValue {
        try await request("startup", within: time)
    }

    /// Returns the entries of the record of the host since a time.
    ///
    /// - Parameters:
    ///   - since: The time: `launch` for the start of the newest host, `all`, a duration such as `10m`, or a time
    ///     in ISO 8601.
    ///   - limit: The number of entries, the newest ones, 1 to 10 000; nil for 1000.
    ///   - time: The longest wait; nil for no limit.
    /// - Returns: The result, as docs/control.md describes it.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func timeline(
        since: String = "launch", limit: Int? = nil, within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> JSONValue {
        try await request("timeline", within: time) {
            $0.object {
                $0.member("since", since)
                if let limit { $0.member("limit", limit) }
            }
        }
    }

    /// Waits until the host is ready, or a module runs.
    ///
    /// - Parameters:
    ///   - module: The id of the module that is to run; nil for none.
    ///   - ready: Whether the host is to be ready; nil for true where no module is given.
    ///   - time: The longest wait, 1 ms to an hour.
    /// - Returns: The result, as docs/control.md describes it, also where the time is up.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func wait(
        for module: String? = nil, ready: Bool? = nil, within time: Duration = .seconds(60)
    ) async throws(HostClientError) -> JSONValue {
        try await request("wait", within: time + Self.waitGrace) {
            Self.writeWait(for: module, ready: ready, within: time, to: &$0)
        }
    }

    /// The time that the host may take to say what is missing when the time of a wait is up.
    package static let waitGrace: Duration = .seconds(3)

    /// Writes the parameters of `wait`.
    package static func writeWait(
        for module: String?, ready: Bool?, within time: Duration, to json: inout JSONWriter
    ) {
        json.object {
            if let module { $0.member("module", module) }
            if let ready { $0.member("ready", ready) }
            $0.member("withinMs", time.wholeNanoseconds / 1_000_000)
        }
    }

    /// Returns what is wrong with the host, the worst first, or the story of a module.
    ///
    /// - Parameters:
    ///   - module: The id of the module; nil for all that is wrong.
    ///   - time: The longest wait; nil for no limit.
    /// - Returns: The result, as docs/control.md describes it.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func why(
        _ module: String? = nil, within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> JSONValue {
        try await request("why", within: time) {
            $0.object { if let module { $0.member("module", module) } }
        }
    }

    /// Returns the metrics of the host and its modules, in the text format of Prometheus.
    ///
    /// - Parameter time: The longest wait; nil for no limit.
    /// - Returns: The text.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func metrics(
        within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> String {
        let text = try await request("metrics", within: time) {
            $0.object { $0.member("format", "text") }
        }
        guard let text = text.string else { throw .malformed(directory) }
        return text
    }

    /// Returns the status of each module, in slatefile order, and then the disabled ones.
    ///
    /// - Parameter time: The longest wait; nil for no limit.
    /// - Returns: The result, as docs/control.md describes it.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func modules(
        within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> JSONValue {
        try await request("modules", within: time)
    }

    /// Returns the URI document: the routes of the app.
    ///
    /// - Parameter time: The longest wait; nil for no limit.
    /// - Returns: The result, as docs/control.md describes it.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func routes(
        within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> JSONValue {
        try await request("routes", within: time)
    }

    /// Reloads the slatefile, and returns the outcome when the reload is over.
    ///
    /// - Parameter time: The longest wait; nil for no limit. The default is `deadlines.launch` and
    ///   `deadlines.stop` of the host and 5 s.
    /// - Returns: The outcome.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func reload(
        within time: Duration? = HostClient.hostLimit
    ) async throws(HostClientError) -> JSONValue {
        let limit = try await limit(time) { $0.launch + $0.stop }
        defer { forgetDeadlines() }
        return try await request("reload", within: limit)
    }

    /// Returns what a reload would change, and why; nothing changes.
    ///
    /// - Parameter time: The longest wait; nil for no limit.
    /// - Returns: The result, as docs/control.md describes it under `reload`.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func planReload(
        within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> JSONValue {
        try await request("reload", within: time) {
            $0.object { $0.member("dryRun", true) }
        }
    }

    /// Restarts a module, and returns the outcome.
    ///
    /// - Parameters:
    ///   - module: The id of the module.
    ///   - stopsFirst: Whether the old instance is stopped before the new one is made, whatever its entry says.
    ///   - time: The longest wait, as that of ``reload(within:)``.
    /// - Returns: The outcome.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func restart(
        _ module: String, stopsFirst: Bool = false, within time: Duration? = HostClient.hostLimit
    ) async throws(HostClientError) -> JSONValue {
        let limit = try await limit(time) { $0.launch + $0.stop }
        return try await request("restart", within: limit) {
            $0.object {
                $0.member("module", module)
                if stopsFirst { $0.member("stopFirst", true) }
            }
        }
    }

    /// Unloads a lazy module, and returns the outcome.
    ///
    /// - Parameters:
    ///   - module: The id of the module.
    ///   - time: The longest wait, as that of ``reload(within:)``.
    /// - Returns: The outcome.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func unload(
        _ module: String, within time: Duration? = HostClient.hostLimit
    ) async throws(HostClientError) -> JSONValue {
        let limit = try await limit(time) { $0.launch + $0.stop }
        return try await request("unload", within: limit) {
            $0.object { $0.member("module", module) }
        }
    }

    /// Stops the host, and returns the outcome when the app has ended; the process ends right after.
    ///
    /// Waits for 5 s more than `deadlines.stopAll` of the host, or than a longer `limit`.
    ///
    /// - Parameters:
    ///   - limit: The longest time that the host gives its modules, 1 ms to 24 hours; nil for `deadlines.stopAll`.
    ///     A stop that has begun keeps its limit.
    ///   - now: Whether the host ends at once: no module is notified, and the outcome is `failed`.
    /// - Returns: The outcome.
    /// - Throws: ``HostClientError``; `refused` where both are given.
    public nonisolated(nonsending) func stop(
        within limit: Duration? = nil, now: Bool = false
    ) async throws(HostClientError) -> JSONValue {
        let time = try await self.limit(Self.hostLimit) { max($0.stopAll, limit ?? .zero) }
        return try await request("stop", within: time) {
            Self.writeStop(within: limit, now: now, to: &$0)
        }
    }

    /// Writes the parameters of `stop`.
    package static func writeStop(within limit: Duration?, now: Bool, to json: inout JSONWriter) {
        json.object {
            if let limit { $0.member("withinMs", limit.wholeNanoseconds / 1_000_000) }
            if now { $0.member("now", true) }
        }
    }

    private func reply(in result: JSONValue) throws(HostClientError) -> HostReply {
        if let reply = result["reply"] { return HostReply(json: reply) }
        do {
            guard let id = result["claimedBy"]?.string else {
                throw HostClientError.malformed(directory)
            }
            return HostReply(json: try JSONValue(parsing: "null"), claimedBy: try ModuleID(id))
        } catch {
            throw .malformed(directory)
        }
    }
}
