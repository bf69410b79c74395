public import ModuleHostCore

extension TestHost {
    // MARK: Modules

    /// Runs code inside a module: on the lane, as a handler of the module would.
    ///
    /// ```swift
    /// let count = try await host.module(Counter.self) { $0.count }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the module. The first one of this class is meant.
    ///   - body: Receives the module, which must not leave it.
    /// - Returns: The result of `body`.
    /// - Throws: ``TestHostError`` if there is no such module in this process, or it failed; the error of
    ///   `body`.
    public func module<M: Module & SendableMetatype, Value: Sendable>(
        _ type: M.Type, _ body: @escaping @Sendable (M) throws -> Value
    ) async throws -> Value {
        try await enter(
            "of class \(type)", where: { $1 is M },
            { module, _ in
                guard let module = module as? M else { throw RouteError.stopped }
                return try body(module)
            })
    }

    /// Runs code with the context of a module, as code of that module: to call, to post, to take a hold.
    ///
    /// - Parameters:
    ///   - id: The id of the module.
    ///   - body: Receives the context, which must not leave it.
    /// - Returns: The result of `body`.
    /// - Throws: ``TestHostError`` if there is no such module in this process, or it failed; the error of
    ///   `body`.
    public func context<Value: Sendable>(
        of id: String, _ body: @escaping @Sendable (ModuleContext) throws -> Value
    ) async throws -> Value {
        try await enter(
            "'\(id)'", where: { module, _ in module.text == id },
            { _, context in try body(context) })
    }

    /// Calls a service inside the module that provides it, as the first module of the host does.
    ///
    /// - Parameters:
    ///   - service: The protocol, as `(any Accounts).self`.
    ///   - body: Uses the service, on the lane.
    /// - Returns: The result of `body`.
    /// - Throws: ``ServiceError`` if no module provides it; the error of the provider or of `body`.
    public func service<Service, Value: Sendable>(
        _ service: Service.Type, _ body: @escaping @Sendable (Service) throws -> Value
    ) async throws -> Value {
        // As any module: the host itself uses no services.
        try await enter(
            "that is running", where: { _, _ in true },
            { _, context in try context.services.call(service, body) })
    }

    private func enter<Value: Sendable>(
        _ name: String, where find: @escaping @Sendable (ModuleID, any Module) -> Bool,
        _ body: @escaping (any Module, ModuleContext) throws -> Value
    ) async throws -> Value {
        do {
            return try await wait(for: "entry into module \(name)") { done in
                host.enter(where: find, body) { done($0) }
            }
        } catch let error as ModuleNotRunning {
            throw TestHostError.noModule(name, modules: error.modules.map(\.shown))
        }
    }

    // MARK: State

    /// The state of the app.
    public var state: LifecycleState { host.currentMetrics.state }

    /// The metrics of the host.
    public var metrics: HostMetrics { host.currentMetrics }

    /// Returns the state of a module.
    ///
    /// - Parameter id: The id of the module.
    /// - Returns: The state.
    /// - Throws: ``TestHostError`` if the host has no such module; ``RouteError/stopped`` if the app has
    ///   ended.
    public func state(of id: String) async throws -> ModuleState {
        let statuses = try await wait(for: "the states of the modules") { done in
            host.moduleStatuses { done($0) }
        }
        guard let status = statuses.first(where: { $0.id.text == id }) else {
            throw TestHostError.noModule("'\(id)'", modules: statuses.map(\.shown))
        }
        return ModuleState(status)
    }

    // MARK: Log

    /// All records of the log so far, of every level, in order.
    public var records: [LogRecord] { log.records }

    /// The messages of the log so far, debug messages left out.
    ///
    /// - Parameter module: The id of the module; nil for the host itself.
    /// - Returns: The messages, in order.
    public func messages(of module: String?) -> [String] {
        log.records.filter { $0.module == module && $0.level > .debug }.map(\.message)
    }

    /// Waits for a record of the log whose message contains a text, also one that is there already.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - module: The id of the module that logs it; nil for any, and the host.
    ///   - time: The longest time to wait, on the real clock; nil for ``Settings/patience``.
    /// - Returns: The first such record.
    /// - Throws: ``TestHostError`` if none comes.
    @discardableResult
    public func logged(
        _ text: String, by module: String? = nil, within time: Duration? = nil
    ) async throws -> LogRecord {
        try await wait(for: "a log line with \"\(text)\"", within: time) { done in
            log.first(where: { record in
                record.message.contains(text) && (module == nil || record.module == module)
            }) { done(.success($0)) }
        }
    }

    /// Waits until a start-up task has ended.
    ///
    /// - Parameter name: Its whole name, such as `com.mm.community/index`.
    /// - Returns: What the log says of its end.
    /// - Throws: ``TestHostError`` if it does not end.
    @discardableResult
    public func startupTask(_ name: String) async throws -> String {
        try await wait(for: "the end of start-up task \(name)") { done in
            log.first(where: { record in
                record.message.hasPrefix("start-up task \(name) ")
                    && !record.message.hasSuffix(" begins")
            }) { done(.success($0.message)) }
        }
    }
}

extension ModuleStatus {
    /// The module with its state, for an error.
    var shown: String {
        let reason = reason.map { ": \($0)" } ?? ""
        return "\(id) (\(entry), \(state.rawValue)\(reason))"
    }
}
