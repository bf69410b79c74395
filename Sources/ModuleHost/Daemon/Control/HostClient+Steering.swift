/// Changes of a running host that are not in its slatefile.
extension HostClient {
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
