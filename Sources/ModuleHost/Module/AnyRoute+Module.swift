extension AnyRoute {
    /// - Throws: The error of a malformed pattern.
    package convenience init<M>(_ route: Route<M>) throws(RouteError) {
        try self.init(
            route.pattern, action: route.action, access: route.access, summary: route.summary,
            route.erased)
    }
}

extension ErasedHandler {
    @inlinable
    init<M: Module & SendableMetatype, Request: Decodable & Sendable, Reply: Encodable & Sendable>(
        when predicate: (@Sendable (Request) -> Bool)?,
        _ handler: @escaping @Sendable (M, Request, RouteCall) throws -> Reply
    ) {
        self.init(Request.self, replyType: Reply.self, accepts: Self.accepts(predicate)) {
            module, parameters, call in
            let module = try Self.module(module, as: M.self)
            let request = try parameters.decode(Request.self)
            do {
                return try handler(module, request, call)
            } catch {
                throw HandlerError(error: error)
            }
        }
    }

    /// Creates a handler that takes no parameters.
    @inlinable
    init<M: Module & SendableMetatype, Reply: Encodable & Sendable>(
        _ handler: @escaping @Sendable (M, RouteCall) throws -> Reply
    ) {
        self.init(NoParameters.self, replyType: Reply.self, accepts: nil) { module, _, call in
            let module = try Self.module(module, as: M.self)
            do {
                return try handler(module, call)
            } catch {
                throw HandlerError(error: error)
            }
        }
    }

    /// Creates an asynchronous handler.
    @inlinable
    init<M: Module & SendableMetatype, Request: Decodable & Sendable, Value: Encodable & Sendable>(
        deadline: Duration?, when predicate: (@Sendable (Request) -> Bool)?,
        _ handler:
            nonisolated(nonsending) @escaping @Sendable (M, Request, RouteCall) async throws ->
            Value
    ) {
        let later = Later(deadline: deadline) { module, parameters, call, late in
            let module = LaneConfined(try Self.module(module, as: M.self))
            let request = try parameters.decode(Request.self)
            late.run { try await handler(module.openInModule(), request, call) }
        }
        self.init(
            Request.self, replyType: Value.self, accepts: Self.accepts(predicate),
            later: later)
    }

    /// Creates a handler that gives its answer to a ``Reply``.
    @inlinable
    init<M: Module & SendableMetatype, Request: Decodable & Sendable, Value: Encodable & Sendable>(
        of action: String, deadline: Duration?, when predicate: (@Sendable (Request) -> Bool)?,
        replying handler:
            @escaping @Sendable (M, Request, RouteCall, ModuleHostCore.Reply<Value>) throws -> Void
    ) {
        let later = Later(deadline: deadline) { module, parameters, call, late in
            let module = try Self.module(module, as: M.self)
            let request = try parameters.decode(Request.self)
            // Kept until the error is its answer: released before, it would be one itself.
            let reply = ModuleHostCore.Reply<Value>(to: late, of: action)
            do {
                try handler(module, request, call, reply)
            } catch {
                reply.fail(error)
            }
        }
        self.init(
            Request.self, replyType: Value.self, accepts: Self.accepts(predicate),
            later: later)
    }

    @inlinable
    static func accepts<Request: Decodable & Sendable>(
        _ predicate: (@Sendable (Request) -> Bool)?
    ) -> (@Sendable (RouteParameters) -> Bool)? {
        guard let predicate else { return nil }
        return { parameters in
            guard let request = try? parameters.decode(Request.self) else { return true }
            return predicate(request)
        }
    }

    /// Returns the module as the class that the handler was created for.
    ///
    /// Not `as?`: a class with routes is exactly that class, so comparing two addresses is sufficient.
    @inlinable @inline(__always)
    static func module<M: Module>(_ module: AnyObject, as type: M.Type) throws -> M {
        guard Swift.type(of: module) == type else {
            throw RouteError.otherModule(expected: "\(type)", found: "\(Swift.type(of: module))")
        }
        return unsafeDowncast(module, to: type)
    }
}
