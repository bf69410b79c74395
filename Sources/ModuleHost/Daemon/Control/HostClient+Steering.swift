/// Changes of a running host that are not in its slatefile.
extension HostClient {
    /// The possible lengths of a probation.
    package static var probations: ClosedRange<Duration> { Probation.lengths }
    /// The length of a probation unless another one is given.
    package static var probation: Duration { Probation.standardLength }
    /// The bytes that the text of a slatefile may have as a string of JSON, with room for the rest of the request.
    package static var applyLimit: Int { RPCSession.Limits().line - 8192 }

    /// Applies a slatefile on probation, and returns the outcome when it is kept or not.
    ///
    /// A client that no longer waits does not end the probation.
    ///
    /// - Parameters:
    ///   - slatefile: The text; with it the request has at most 1 MiB.
    ///   - name: The name of the text in messages; nil for the path of the slatefile that it replaces.
    ///   - probation: The length of the probation, at most an hour; zero for none.
    ///   - time: The longest wait; the default is that of ``reload(within:)`` and twice as long, for the way back, beside
    ///     the probation.
    /// - Returns: The outcome, as docs/control.md describes it under `apply`.
    /// - Throws: ``HostClientError``; `refused` where another slatefile is on probation, or the host stops first.
    public nonisolated(nonsending) func apply(
        slatefile: String, named name: String? = nil, probation: Duration = .seconds(60),
        within time: Duration? = HostClient.hostLimit
    ) async throws(HostClientError) -> JSONValue {
        let limit = try await limit(time) { ($0.launch + $0.stop) * 2 + probation }
        defer { forgetDeadlines() }
        return try await request("apply", within: limit) {
            Self.writeApply(slatefile, named: name, probation: probation, to: &$0)
        }
    }

    /// Writes the parameters of `apply`.
    package static func writeApply(
        _ slatefile: String, named name: String?, probation: Duration, to json: inout JSONWriter
    ) {
        json.object {
            $0.member("slatefile", slatefile)
            if let name { $0.member("name", name) }
            $0.member("probationMs", probation.wholeNanoseconds / 1_000_000)
        }
    }

    /// Disables a module beside the slatefile, until it is enabled, and returns the outcome of that.
    ///
    /// - Parameters:
    ///   - module: The id of the module.
    ///   - withDependents: Whether the modules that need it are disabled, too.
    ///   - time: The longest wait, as that of ``reload(within:)``.
    /// - Returns: The outcome, as docs/control.md describes it under `disable`.
    /// - Throws: ``HostClientError``; `refused` where there is no such module.
    public nonisolated(nonsending) func disable(
        _ module: String, withDependents: Bool = false,
        within time: Duration? = HostClient.hostLimit
    ) async throws(HostClientError) -> JSONValue {
        try await change(.disable(withDependents: withDependents), of: module, "disable", time)
    }

    /// Enables a module that was disabled beside the slatefile, and returns the outcome of that.
    ///
    /// - Parameters:
    ///   - module: The id of the module.
    ///   - time: The longest wait, as that of ``reload(within:)``.
    /// - Returns: The outcome, as docs/control.md describes it under `disable`.
    /// - Throws: ``HostClientError``; `refused` where there is no such module.
    public nonisolated(nonsending) func enable(
        _ module: String, within time: Duration? = HostClient.hostLimit
    ) async throws(HostClientError) -> JSONValue {
        try await change(.enable, of: module, "enable", time)
    }

    private nonisolated(nonsending) func change(
        _ change: DisabledModules.Change, of module: String, _ method: String, _ time: Duration?
    ) async throws(HostClientError) -> JSONValue {
        let limit = try await limit(time) { $0.launch + $0.stop }
        return try await request(method, within: limit) {
            Self.writeDisabling(change, of: module, to: &$0)
        }
    }

    /// Writes the parameters of `disable` and `enable`.
    package static func writeDisabling(
        _ change: DisabledModules.Change, of module: String, to json: inout JSONWriter
    ) {
        json.object {
            $0.member("module", module)
            if change == .disable(withDependents: true) { $0.member("withDependents", true) }
        }
    }

    /// Returns the levels of the log: of the host, and of modules with a level of their own.
    ///
    /// - Parameter time: The longest wait; nil for no limit.
    /// - Returns: The result, as docs/control.md describes it under `log.level`.
    /// - Throws: ``HostClientError``.
    public nonisolated(nonsending) func logLevels(
        within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> JSONValue {
        try await request("log.level", within: time)
    }

    /// Chooses the least level that the log writes, until the host ends or its slatefile changes that level.
    ///
    /// - Parameters:
    ///   - level: The level; nil for that of the start or the slatefile.
    ///   - module: The id of a module; nil for the host.
    ///   - time: The longest wait; nil for no limit.
    /// - Returns: The levels, as those of ``logLevels(within:)``.
    /// - Throws: ``HostClientError``; `refused` where there is no such module.
    @discardableResult
    public nonisolated(nonsending) func setLogLevel(
        _ level: LogLevel?, of module: String? = nil, within time: Duration? = HostClient.patience
    ) async throws(HostClientError) -> JSONValue {
        try await request("log.level", within: time) {
            Self.writeLogLevel(level?.rawValue ?? LogLevel.standardWord, of: module, to: &$0)
        }
    }

    /// Writes the parameters of `log.level`.
    package static func writeLogLevel(
        _ level: String?, of module: String?, to json: inout JSONWriter
    ) {
        json.object {
            if let level { $0.member("level", level) }
            if let module { $0.member("module", module) }
        }
    }
}
