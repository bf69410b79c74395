/// A route of a module, reached by URL or by name: a pattern, the access, and a handler.
///
/// ```swift
/// struct Posts: Decodable { var name: String; var page: Int? }
///
/// public static var routes: [Route<CommunityModule>] {
///     [
///         Route("user/:name/posts", access: .public, summary: "What a user wrote.") {
///             (module, request: Posts, call) in
///             module.posts(of: request.name, page: request.page ?? 1)
///         }
///     ]
/// }
/// ```
///
/// The request is decoded from the parameters, those of the path and those of the query alike, before the
/// handler runs. The handler runs on the lane and receives the module as its first parameter, so that routes
/// can be listed, checked and documented without creating a module.
public struct Route<M: Module & SendableMetatype>: Sendable {
    /// The pattern as it is written; it is parsed when the route is added.
    public let pattern: String
    /// The callers that may reach the route.
    public let access: RouteAccess
    /// The name under which the route is called without a URL: the pattern as it is written, unless it has a
    /// name of its own.
    public let action: String
    /// One line for the URI document.
    public let summary: String
    @usableFromInline let erased: ErasedHandler

    @usableFromInline
    init(
        _ pattern: String, action: String?, access: RouteAccess, summary: String,
        erased: ErasedHandler
    ) {
        self.pattern = pattern
        self.action = action ?? pattern
        self.access = access
        self.summary = summary
        self.erased = erased
    }

    /// Creates a route that replies with a value.
    ///
    /// - Parameters:
    ///   - pattern: The URLs, in the form of ``RoutePattern``.
    ///   - action: Its name for a ``Mediator``; the pattern where none is given.
    ///   - access: The callers that may reach it.
    ///   - summary: One line for the URI document.
    ///   - predicate: Returns whether the route accepts a request; must be pure, since it runs for `canOpen`
    ///     too, and on any thread. Where it returns false, the search continues with the next candidate.
    ///   - handler: Handles the request. It may throw any error.
    @inlinable
    public init<Request: Decodable & Sendable, Reply: Encodable & Sendable>(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "",
        when predicate: (@Sendable (Request) -> Bool)? = nil,
        handler: @escaping @Sendable (M, Request, RouteCall) throws -> Reply
    ) {
        self.init(
            pattern, action: action, access: access, summary: summary,
            erased: ErasedHandler(when: predicate, handler))
    }

    /// Creates a route without a reply.
    ///
    /// - Parameters:
    ///   - pattern: The URLs, in the form of ``RoutePattern``.
    ///   - action: Its name for a ``Mediator``; the pattern where none is given.
    ///   - access: The callers that may reach it.
    ///   - summary: One line for the URI document.
    ///   - predicate: Returns whether the route accepts a request; must be pure, since it runs for `canOpen`
    ///     too, and on any thread.
    ///   - handler: Handles the request. It may throw any error.
    @inlinable
    public init<Request: Decodable & Sendable>(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "",
        when predicate: (@Sendable (Request) -> Bool)? = nil,
        handler: @escaping @Sendable (M, Request, RouteCall) throws -> Void
    ) {
        self.init(pattern, action: action, access: access, summary: summary, when: predicate) {
            (module: M, request: Request, call: RouteCall) throws -> NoReply in
            try handler(module, request, call)
            return NoReply()
        }
    }

    /// Creates a route that takes no parameters and replies with a value.
    ///
    /// - Parameters:
    ///   - pattern: The URLs, in the form of ``RoutePattern``.
    ///   - action: Its name for a ``Mediator``; the pattern where none is given.
    ///   - access: The callers that may reach it.
    ///   - summary: One line for the URI document.
    ///   - handler: Handles the request. It may throw any error.
    @inlinable
    public init<Reply: Encodable & Sendable>(
        _ pattern: String, action: String? = nil, access: RouteAccess = .local,
        summary: String = "",
        handler: @escaping @Sendable (M, RouteCall) throws -> Reply
    ) {
        self.init(
            pattern, action: action, access: access, summary: summary,
            erased: ErasedHandler(handler))
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
        handler: @escaping @Sendable (M, RouteCall) throws -> Void
    ) {
        self.init(pattern, action: action, access: access, summary: summary) {
            (module: M, call: RouteCall) throws -> NoReply in
            try handler(module, call)
            return NoReply()
        }
    }
}

/// A module that answers URLs.
///
/// - Order: The list is read once when the module is created, before any event.
/// - Failure: A malformed pattern, or one that exists already, stops the launch.
public protocol RoutedModule: Module, SendableMetatype {
    /// The module's routes.
    static var routes: [Route<Self>] { get }
}

extension RoutedModule {
    /// Returns the module's routes, without its type.
    ///
    /// - Throws: The error of the first malformed pattern.
    package static func erasedRoutes() throws(RouteError) -> [AnyRoute] {
        var result: [AnyRoute] = []
        for route in routes { result.append(try AnyRoute(route)) }
        return result
    }
}
