/// The global actor of the initializers that a route with an invalid reply would use.
///
/// Swift discards the result of a closure of one expression where a closure without a result fits as well. The
/// initializers of this actor take such closures first, and cannot be called where routes are listed: so a
/// reply that is not `Encodable & Sendable` does not compile, instead of being `null`.
@globalActor public actor ReplyMustBeEncodable {
    /// The actor, which nothing runs on.
    public static let shared = ReplyMustBeEncodable()
}

/// Routes without a reply whose handler is a call through an optional, such as `module.delegate?.close()`.
extension Route {
    /// Creates a route without a reply.
    ///
    /// - Parameters:
    ///   - pattern: The URLs, in the form of ``RoutePattern``.
    ///   - action: Its name for a ``Mediator``; the pattern where none is given.
    ///   - access: The callers that may reach it.
    ///   - summary: One line for the URI document.
    ///   - predicate: Returns whether the route accepts a request.
    ///   - handler: Handles the request. It may throw any error.
    @inlinable
    public init<Request: Decodable & Sendable>(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "",
        when predicate: (@Sendable (Request) -> Bool)? = nil,
        handler: @escaping @Sendable (M, Request, RouteCall) throws -> Void?
    ) {
        self.init(pattern, action: action, access: access, summary: summary, when: predicate) {
            (module: M, request: Request, call: RouteCall) throws -> NoReply in
            try handler(module, request, call)
            return NoReply()
        }
    }

    /// Creates a route that takes no parameters and has no reply.
    ///
    /// - Parameters:
    ///   - pattern: The URLs, in the form of ``RoutePattern``.
    ///   - action: Its name for a ``Mediator``; the pattern where none is given.
    ///   - access: The callers that may reach it.
    ///   - summary: One line for the URI document.
    ///   - handler: Handles the request. It may throw any error.
    @inlinable
    public init(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "",
        handler: @escaping @Sendable (M, RouteCall) throws -> Void?
    ) {
        self.init(pattern, action: action, access: access, summary: summary) {
            (module: M, call: RouteCall) throws -> NoReply in
            try handler(module, call)
            return NoReply()
        }
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
            Void?
    ) {
        self.init(
            pattern, action: action, access: access, summary: summary, deadline: deadline,
            when: predicate
        ) {
            (module: M, request: Request, call: RouteCall) async throws -> NoReply in
            try await handler(module, request, call)
            return NoReply()
        }
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
        handler: nonisolated(nonsending) @escaping @Sendable (M, RouteCall) async throws -> Void?
    ) {
        self.init(pattern, action: action, access: access, summary: summary, deadline: deadline) {
            (module: M, call: RouteCall) async throws -> NoReply in
            try await handler(module, call)
            return NoReply()
        }
    }
}

/// Routes whose reply is not valid, which do not compile.
extension Route {
    /// Refuses a reply that is not `Encodable & Sendable`; see ``ReplyMustBeEncodable``.
    @available(
        *, noasync,
        message:
            "a reply must be Encodable & Sendable: let its type conform, or discard it with '_ ='"
    )
    @available(
        *, deprecated,
        message:
            "a reply must be Encodable & Sendable: let its type conform, or discard it with '_ ='"
    )
    @ReplyMustBeEncodable
    public init<Request: Decodable & Sendable, Value>(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "",
        when predicate: (@Sendable (Request) -> Bool)? = nil,
        handler: @escaping @Sendable (M, Request, RouteCall) throws -> Value
    ) {
        self.init(pattern, refusing: Value.self)
    }

    /// Refuses a reply that is not `Encodable & Sendable`; see ``ReplyMustBeEncodable``.
    @available(
        *, noasync,
        message:
            "a reply must be Encodable & Sendable: let its type conform, or discard it with '_ ='"
    )
    @available(
        *, deprecated,
        message:
            "a reply must be Encodable & Sendable: let its type conform, or discard it with '_ ='"
    )
    @ReplyMustBeEncodable
    public init<Value>(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "",
        handler: @escaping @Sendable (M, RouteCall) throws -> Value
    ) {
        self.init(pattern, refusing: Value.self)
    }

    /// Refuses a reply that is not `Encodable & Sendable`; see ``ReplyMustBeEncodable``.
    @available(
        *, noasync,
        message:
            "a reply must be Encodable & Sendable: let its type conform, or discard it with '_ ='"
    )
    @available(
        *, deprecated,
        message:
            "a reply must be Encodable & Sendable: let its type conform, or discard it with '_ ='"
    )
    @ReplyMustBeEncodable
    public init<Request: Decodable & Sendable, Value>(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "", deadline: Duration? = nil,
        when predicate: (@Sendable (Request) -> Bool)? = nil,
        handler:
            nonisolated(nonsending) @escaping @Sendable (M, Request, RouteCall) async throws ->
            Value
    ) {
        self.init(pattern, refusing: Value.self)
    }

    /// Refuses a reply that is not `Encodable & Sendable`; see ``ReplyMustBeEncodable``.
    @available(
        *, noasync,
        message:
            "a reply must be Encodable & Sendable: let its type conform, or discard it with '_ ='"
    )
    @available(
        *, deprecated,
        message:
            "a reply must be Encodable & Sendable: let its type conform, or discard it with '_ ='"
    )
    @ReplyMustBeEncodable
    public init<Value>(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "", deadline: Duration? = nil,
        handler: nonisolated(nonsending) @escaping @Sendable (M, RouteCall) async throws -> Value
    ) {
        self.init(pattern, refusing: Value.self)
    }

    private init(_ pattern: String, refusing reply: Any.Type) {
        self.init(pattern) { (_: M, _: RouteCall) throws -> NoReply in
            throw RouteError.reply(
                expected: "value that is Encodable & Sendable", found: "\(reply)")
        }
    }
}
