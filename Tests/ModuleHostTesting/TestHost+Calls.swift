public import ModuleHostCore

extension TestHost {
    /// Opens a URL, as `hostd open` and ``Router`` do, and waits for the reply.
    ///
    /// Modules that claim URLs themselves are asked first, then the routes. Waits also for a reply that comes
    /// later.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - origin: The caller. `.host` reaches every route; `.control(uid: 1000, pid: 42)` only public ones,
    ///     and others with a token, as `hostd open` does.
    ///   - token: The caller's token.
    /// - Returns: The reply.
    /// - Throws: The error that the caller receives: ``RouteError``, ``ParameterError``, or
    ///   ``HandlerFailure`` with the error of the route's handler in words.
    @discardableResult
    public func open(
        _ url: String, from origin: Origin = .host, token: String? = nil
    ) async throws -> HostReply {
        let reply = try await wait(for: "the reply to \(url)") { done in
            host.open(url, origin: origin, token: token.map { RouteToken($0) }, completion: done)
        }
        return try HostReply(reply)
    }

    /// Returns whether a route answers a URL; modules that claim URLs themselves are not asked.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - origin: The caller.
    ///   - token: The caller's token.
    /// - Returns: Whether there is such a route that the caller can reach.
    /// - Throws: ``RouteError`` for a text that is not a URL.
    public func canOpen(
        _ url: String, from origin: Origin = .host, token: String? = nil
    ) async throws -> Bool {
        try await wait(for: "whether \(url) can be opened") { done in
            host.canOpen(
                url, origin: origin, token: token.map { RouteToken($0) }, completion: done)
        }
    }

    /// Calls an action of a module, as `hostd call` and ``Mediator`` do, and waits for the reply.
    ///
    /// - Parameters:
    ///   - module: The id of the module.
    ///   - action: The action: the route's pattern, unless the route has an `action:` of its own.
    ///   - parameters: The parameters; their values are encoded as an object.
    ///   - origin: The caller.
    ///   - token: The caller's token.
    /// - Returns: The reply.
    /// - Throws: As ``open(_:from:token:)``, and any error of encoding the parameters.
    @discardableResult
    public func call(
        _ module: String, _ action: String, _ parameters: some Encodable & Sendable,
        from origin: Origin = .host, token: String? = nil
    ) async throws -> HostReply {
        let object = try JSONValue(parsing: JSONEncoding.bytes(parameters))
        return try await call(module, action, RouteParameters(object), origin, token)
    }

    /// Calls an action of a module without parameters.
    ///
    /// - Parameters:
    ///   - module: The id of the module.
    ///   - action: The action.
    ///   - origin: The caller.
    ///   - token: The caller's token.
    /// - Returns: The reply.
    /// - Throws: As ``open(_:from:token:)``.
    @discardableResult
    public func call(
        _ module: String, _ action: String, from origin: Origin = .host, token: String? = nil
    ) async throws -> HostReply {
        try await call(module, action, RouteParameters(), origin, token)
    }

    private func call(
        _ module: String, _ action: String, _ parameters: RouteParameters, _ origin: Origin,
        _ token: String?
    ) async throws -> HostReply {
        let reply = try await wait(for: "the reply of \(module) to '\(action)'") { done in
            host.call(
                module, action, parameters, origin: origin, token: token.map { RouteToken($0) },
                completion: done)
        }
        return try HostReply(reply)
    }
}
