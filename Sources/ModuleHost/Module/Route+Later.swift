/// Routes whose answers come later.
extension Route {
    /// Creates a route whose handler is asynchronous.
    ///
    /// ```swift
    /// Route("login") { (module, request: Credentials, call) async throws -> Session in
    ///     let session = try await server.session(for: request)    // off the lane
    ///     module.session = session                                // in the module
    ///     return session
    /// }
    /// ```
    ///
    /// - Thread: The handler runs where the module is, never beside its other code: on the lane, one slice
    ///   from one suspension to the next. Between two slices the module receives other events and calls.
    /// - Order: The code up to the first suspension runs within the call.
    /// - Callers: The control socket, `hostd call`, events that open a URL, calls with a completion or
    ///   through `offLane`, and `await` from asynchronous handlers. A synchronous call is an error.
    /// - Cancellation: The handler's task is cancelled when the deadline has passed, and when the module is
    ///   unloaded.
    /// - Parameters:
    ///   - pattern: The URLs, in the form of ``RoutePattern``.
    ///   - action: Its name for a ``Mediator``; the pattern where none is given.
    ///   - access: The callers that may reach it.
    ///   - summary: One line for the URI document.
    ///   - deadline: The longest time until the answer; nil means `deadlines.call` of the slatefile, 30 s
    ///     where it has none. Each slice is limited by the deadline of an event.
    ///   - predicate: Returns whether the route accepts a request; must be pure, since it runs for `canOpen`
    ///     too, and on any thread.
    ///   - handler: Handles the request. It may throw any error.
    @inlinable
    public init<Request: Decodable & Sendable, Value: Encodable & Sendable>(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "", deadline: Duration? = nil,
        when predicate: (@Sendable (Request) -> Bool)? = nil,
        handler:
            nonisolated(nonsending) @escaping @Sendable (M, Request, RouteCall) async throws ->
            Value
    ) {
        self.init(
            pattern, action: action, access: access, summary: summary,
            erased: ErasedHandler(deadline: deadline, when: predicate, handler))
    }

    /// Creates a route whose handler is asynchronous and replies with nothing.
    ///
    /// - Parameters:
    ///   - pattern: The URLs, in the form of ``RoutePattern``.
    ///   - action: Its name for a ``Mediator``; the pattern where none is given.
    ///   - access: The callers that may reach it.
    ///   - summary: One line for the URI document.
    ///   - deadline: The longest time until the handler has returned.
    ///   - predicate: Returns whether the route accepts a request.
    ///   - handler: Handles the request. It may throw any error.
    @inlinable
    public init<Request: Decodable & Sendable>(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "", deadline: Duration? = nil,
        when predicate: (@Sendable (Request) -> Bool)? = nil,
        handler:
            nonisolated(nonsending) @escaping @Sendable (M, Request, RouteCall) async throws ->
            Void
    ) {
        self.init(
            pattern, action: action, access: access, summary: summary,
            erased: ErasedHandler(deadline: deadline, when: predicate) {
                (module: M, request: Request, call: RouteCall) async throws -> NoReply in
                try await handler(module, request, call)
                return NoReply()
            })
    }

    /// Creates a route that takes no parameters and whose handler is asynchronous.
    ///
    /// - Parameters:
    ///   - pattern: The URLs, in the form of ``RoutePattern``.
    ///   - action: Its name for a ``Mediator``; the pattern where none is given.
    ///   - access: The callers that may reach it.
    ///   - summary: One line for the URI document.
    ///   - deadline: The longest time until the answer.
    ///   - handler: Handles the request. It may throw any error.
    @inlinable
    public init<Value: Encodable & Sendable>(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "", deadline: Duration? = nil,
        handler: nonisolated(nonsending) @escaping @Sendable (M, RouteCall) async throws -> Value
    ) {
        self.init(
            pattern, action: action, access: access, summary: summary,
            erased: ErasedHandler(deadline: deadline, when: nil) {
                (module: M, _: NoParameters, call: RouteCall) async throws -> Value in
                try await handler(module, call)
            })
    }

    /// Creates a route that takes no parameters and whose handler is asynchronous and replies with nothing.
    ///
    /// - Parameters:
    ///   - pattern: The URLs, in the form of ``RoutePattern``.
    ///   - action: Its name for a ``Mediator``; the pattern where none is given.
    ///   - access: The callers that may reach it.
    ///   - summary: One line for the URI document.
    ///   - deadline: The longest time until the handler has returned.
    ///   - handler: Handles the request. It may throw any error.
    @inlinable
    public init(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "", deadline: Duration? = nil,
        handler: nonisolated(nonsending) @escaping @Sendable (M, RouteCall) async throws -> Void
    ) {
        self.init(
            pattern, action: action, access: access, summary: summary,
            erased: ErasedHandler(deadline: deadline, when: nil) {
                (module: M, _: NoParameters, call: RouteCall) async throws -> NoReply in
                try await handler(module, call)
                return NoReply()
            })
    }

    /// Creates a route whose handler receives a ``Reply``, to answer when it can.
    ///
    /// - Callers: As those of an asynchronous handler.
    /// - Parameters:
    ///   - pattern: The URLs, in the form of ``RoutePattern``.
    ///   - action: Its name for a ``Mediator``; the pattern where none is given.
    ///   - access: The callers that may reach it.
    ///   - summary: One line for the URI document.
    ///   - deadline: The longest time until the answer; nil means `deadlines.call` of the slatefile.
    ///   - predicate: Returns whether the route accepts a request.
    ///   - handler: Handles the request, on the lane. An error that it throws is the answer. A route without
    ///     a value has a reply of ``NoReply``.
    @inlinable
    public init<Request: Decodable & Sendable, Value: Encodable & Sendable>(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "", deadline: Duration? = nil,
        when predicate: (@Sendable (Request) -> Bool)? = nil,
        handler:
            @escaping @Sendable (M, Request, RouteCall, ModuleHostCore.Reply<Value>) throws -> Void
    ) {
        self.init(
            pattern, action: action, access: access, summary: summary,
            erased: ErasedHandler(
                of: action ?? pattern, deadline: deadline, when: predicate, replying: handler))
    }

    /// Creates a route that takes no parameters and whose handler receives a ``Reply``, to answer when it can.
    ///
    /// - Parameters:
    ///   - pattern: The URLs, in the form of ``RoutePattern``.
    ///   - action: Its name for a ``Mediator``; the pattern where none is given.
    ///   - access: The callers that may reach it.
    ///   - summary: One line for the URI document.
    ///   - deadline: The longest time until the answer; nil means `deadlines.call` of the slatefile.
    ///   - handler: Handles the call, on the lane. An error that it throws is the answer.
    @inlinable
    public init<Value: Encodable & Sendable>(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "", deadline: Duration? = nil,
        handler: @escaping @Sendable (M, RouteCall, ModuleHostCore.Reply<Value>) throws -> Void
    ) {
        self.init(pattern, action: action, access: access, summary: summary, deadline: deadline) {
            (module: M, _: NoParameters, call: RouteCall, reply: ModuleHostCore.Reply<Value>) in
            try handler(module, call, reply)
        }
    }
}
