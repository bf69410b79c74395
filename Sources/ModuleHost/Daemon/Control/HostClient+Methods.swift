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
    /// - Returns: The reply, also one that comes later.
    /// - Throws: ``HostClientError``; `refused` has the error of the call.
    @discardableResult
    public nonisolated(nonsending) func open(
        _ url: String, token: String? = nil
    ) async throws(HostClientError) -> HostReply {
        try reply(
            in: try await request("open", within: nil) { json in
                json.object {
                    $0.member("url", url)
                    if let token { $0.member("token", token) }
                }
            })
    }

    /// Returns whether a route would answer a URL.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - token: The caller's token.
    /// - Returns: Whether there is such a route that the caller can reach.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func canOpen(
        _ url: String, token: String? = nil
    ) async throws(HostClientError) -> Bool {
        let result = try await request("canopen") { json in
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
    /// - Returns: The reply, also one that comes later.
    /// - Throws: ``HostClientError``; `refused` has the error of the call.
    @discardableResult
    public nonisolated(nonsending) func call(
        _ module: String, _ action: String, parameters: JSONValue? = nil, token: String? = nil
    ) async throws(HostClientError) -> HostReply {
        try reply(
            in: try await request("call", within: nil) { json in
                json.object {
                    $0.member("module", module)
                    $0.member("action", action)
                    if let parameters { $0.member("parameters", raw: parameters.text.utf8) }
                    if let token { $0.member("token", token) }
                }
            })
    }

    /// Posts a message on a topic; returns as soon as it is accepted, and modules receive it in their turn.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - payload: The payload; nil for a message that consists of its topic alone.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func post(
        _ topic: String, _ payload: JSONValue? = nil
    ) async throws(HostClientError) {
        _ = try await request("post", within: nil) { json in
            json.object {
                $0.member("topic", topic)
                if let payload { $0.member("payload", raw: payload.text.utf8) }
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
    ///   - waits: Whether to wait for the delivery of an event with a payload.
    /// - Returns: The acceptance or the delivery, as docs/control.md describes it under `send`.
    /// - Throws: ``HostClientError``.
    @discardableResult
    public nonisolated(nonsending) func send(
        _ event: EventKind, payload: JSONValue? = nil, id: String? = nil, waits: Bool = false
    ) async throws(HostClientError) -> JSONValue {
        try await request("send", within: waits ? nil : Self.patience) { json in
            json.object {
                $0.member("event", event.rawValue)
                if let payload { $0.member("payload", raw: payload.text.utf8) }
                if let id { $0.member("id", id) }
                if waits { $0.member("wait", true) }
            }
        }
    }

    // MARK: The host

    /// Returns the identity of the host.
    public nonisolated(nonsending) func about() async throws(HostClientError) -> JSONValue {
        try await request("about")
    }

    /// Returns the status of the host and its app, however busy the modules are.
    public nonisolated(nonsending) func status() async throws(HostClientError) -> JSONValue {
        try await request("status")
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

    /// Returns the status of each module, in slatefile order.
    public nonisolated(nonsending) func modules() async throws(HostClientError) -> JSONValue {
        try await request("modules")
    }

    /// Returns the URI document: the routes of the app.
    public nonisolated(nonsending) func routes() async throws(HostClientError) -> JSONValue {
        try await request("routes")
    }

    /// Reloads the slatefile, and returns the outcome when the reload is over.
    public nonisolated(nonsending) func reload() async throws(HostClientError) -> JSONValue {
        try await request("reload", within: nil)
    }

    /// Restarts a module, and returns the outcome.
    ///
    /// - Parameter module: The id of the module.
    /// - Returns: The outcome.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func restart(
        _ module: String
    ) async throws(HostClientError) -> JSONValue {
        try await request("restart", within: nil) { $0.object { $0.member("module", module) } }
    }

    /// Unloads a lazy module, and returns the outcome.
    ///
    /// - Parameter module: The id of the module.
    /// - Returns: The outcome.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func unload(
        _ module: String
    ) async throws(HostClientError) -> JSONValue {
        try await request("unload", within: nil) { $0.object { $0.member("module", module) } }
    }

    /// Stops the host, and returns the outcome when the app has ended; the process ends right after.
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
        try await request("stop", within: nil) { Self.writeStop(within: limit, now: now, to: &$0) }
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
