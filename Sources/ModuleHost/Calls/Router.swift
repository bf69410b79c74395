/// A router that opens URLs: each is a call of the route that answers it.
///
/// `docs/routing.md` describes the search for the route; `rewrites` and `fallback` of the slatefile take part
/// in it.
///
/// - Thread: The lane: the call is made at once, inside the caller's own. An overdue module's call waits
///   until the lane serves it. Code that is not on the lane uses ``offLane``.
/// - Access: A module reaches every route. It can open a URL that came from outside with the origin of that
///   URL, and then reaches only the routes of that origin: see ``open(_:userInfo:from:)``.
/// - Nesting: Modules call each other 64 deep; a deeper call is an error that lists the callers.
public final class Router {
    private let line: CallChannel

    init(_ line: CallChannel) { self.line = line }

    // MARK: Opening

    /// Opens a URL.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - userInfo: Objects that have no form in a URL, for the handler's ``RouteCall/userInfo``. They are
    ///     not part of a remote call.
    ///   - origin: The origin of the URL, if it came from outside the app, such as ``Origin/push``: the call
    ///     is then a remote one. Nil, or a local origin, is this module.
    /// - Returns: The result of the handler.
    /// - Throws: ``RouteError``, ``ParameterError``, or the error of the handler.
    @discardableResult
    public func open(
        _ url: String, userInfo: [String: any Sendable] = [:], from origin: Origin? = nil
    ) throws -> any Encodable & Sendable {
        let caller = caller(origin, userInfo)
        return try line.call { try $0.open(url, for: caller, on: $1) }
    }

    /// Opens a URL whose reply is a `Reply`.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - reply: The type that the handler returns.
    ///   - userInfo: Objects that have no form in a URL.
    /// - Returns: The result of the handler.
    /// - Throws: As ``open(_:userInfo:from:)``, and ``RouteError/reply(expected:found:)`` where the reply is
    ///   of another type.
    public func value<Reply>(
        for url: String, as reply: Reply.Type = Reply.self, userInfo: [String: any Sendable] = [:]
    ) throws -> Reply {
        try cast(open(url, userInfo: userInfo))
    }

    /// Opens a URL after everything accepted before.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - userInfo: Objects that have no form in a URL.
    ///   - origin: The origin of the URL, if it came from outside the app.
    ///   - completion: Code of the calling module, on the lane; called once, unless the module is unloaded.
    public func open(
        _ url: String, userInfo: [String: any Sendable] = [:], from origin: Origin? = nil,
        completion: @escaping (Result<any Encodable & Sendable, any Error>) -> Void
    ) {
        let caller = caller(origin, userInfo)
        line.enqueue({ try $0.open(url, for: caller.waiting($2), on: $1) }, completion: completion)
    }

    /// Opens a URL from an asynchronous handler, and waits for the answer without blocking a thread.
    ///
    /// - Order: After everything accepted before.
    /// - Parameters:
    ///   - url: The URL.
    ///   - userInfo: Objects that have no form in a URL.
    ///   - origin: The origin of the URL, if it came from outside the app.
    /// - Returns: The result of the handler.
    /// - Throws: ``RouteError``, ``ParameterError``, or the error of the handler.
    @discardableResult
    public nonisolated(nonsending) func open(
        _ url: String, userInfo: [String: any Sendable] = [:], from origin: Origin? = nil
    ) async throws -> any Encodable & Sendable {
        let caller = caller(origin, userInfo)
        return try await RemoteCallLine(line).callAnswered {
            try $0.open(url, for: caller.waiting($2), on: $1)
        }
    }

    /// Opens a URL whose reply is a `Reply` from an asynchronous handler, and waits for the answer.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - reply: The type that the handler returns.
    ///   - userInfo: Objects that have no form in a URL.
    /// - Returns: The result of the handler.
    /// - Throws: As the form without a type, and ``RouteError/reply(expected:found:)`` where the reply is of
    ///   another type.
    public nonisolated(nonsending) func value<Reply: Sendable>(
        for url: String, as reply: Reply.Type = Reply.self, userInfo: [String: any Sendable] = [:]
    ) async throws -> Reply {
        try cast(try await open(url, userInfo: userInfo))
    }

    /// Returns whether ``open(_:userInfo:from:)`` would reach a handler with a request that it can decode.
    ///
    /// The same search, with predicates, access and the decoding of the parameters; no handler runs. A text
    /// that is not a URL cannot be opened.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - origin: The origin of the URL, if it came from outside the app.
    /// - Returns: Whether it can be opened now.
    public func canOpen(_ url: String, from origin: Origin? = nil) -> Bool {
        let caller = caller(origin, [:])
        return (try? line.call { try $0.canOpen(url, for: caller, on: $1) }) ?? false
    }

    /// Opens a URL for another process: for the module itself, or for a caller outside the app.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - origin: The caller outside the app; nil for the module itself.
    ///   - later: Receives an answer that comes later; nil where the caller cannot wait for it.
    ///   - isNested: Whether a thread waits for the caller.
    /// - Returns: The reply, where it does not come later.
    /// - Throws: As ``open(_:userInfo:from:)``.
    func open(
        _ url: String, from origin: Origin?, later: LateAnswer?, isNested: Bool
    ) throws -> any Encodable & Sendable {
        var caller = caller(origin, [:])
        (caller.later, caller.isNested) = (later, isNested)
        return try line.call { [caller] in try $0.open(url, for: caller, on: $1) }
    }

    private func caller(_ origin: Origin?, _ userInfo: [String: any Sendable]) -> Caller {
        guard let origin, origin.isRemote else {
            return Caller(origin: line.origin, userInfo: userInfo)
        }
        return Caller(origin: origin)
    }

    /// The router for code that is not on the lane, such as start-up work.
    public var offLane: AsyncRouter { AsyncRouter(line: RemoteCallLine(line)) }

    // MARK: Routes

    /// Returns a URL that a pattern matches, with these parameters.
    ///
    /// Reading it back gives the same parameters, whatever their values.
    ///
    /// - Parameters:
    ///   - pattern: An absolute pattern, or one of a module's.
    ///   - module: The module to which a relative pattern belongs; nil is the calling module.
    ///   - parameters: A value for each name; those of the query may be left out.
    /// - Returns: The URL.
    /// - Throws: ``RouteError`` where a name is missing or unused, or a value cannot be part of a URL.
    public func url(
        for pattern: String, of module: ModuleID? = nil,
        _ parameters: RouteParameters = RouteParameters()
    ) throws -> String {
        let read: RoutePattern
        do throws(RoutePatternError) {
            read = try RoutePattern(pattern)
        } catch {
            throw RouteError.pattern(error)
        }
        guard !read.isAbsolute else { return try read.url(parameters) }
        let scheme = try line.asHost { $0.table.schemes.first ?? "" }
        return try read.url(parameters, scheme: scheme, module: module ?? line.module)
    }

    /// Adds a route whose handler takes this module.
    func add(_ route: AnyRoute) throws { try line.asHost { try $0.add(route, of: line.module) } }

    /// Removes one of this module's routes, and no other.
    ///
    /// - Parameter pattern: Its pattern, as it was written.
    /// - Returns: False where the module has no such route.
    @discardableResult
    public func remove(_ pattern: String) -> Bool {
        // The route is released here, in the module's own code.
        let removed = try? line.asHost { $0.remove(pattern, of: line.module) }
        return removed != nil
    }
}

/// A router that opens URLs from code that is not on the lane.
///
/// - Order: Calls are made in the order in which they reach the lane, among all other jobs.
public struct AsyncRouter: Sendable {
    let line: RemoteCallLine

    /// Opens a URL, and waits for the reply without blocking a thread.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - userInfo: Objects that have no form in a URL.
    /// - Returns: The result of the handler.
    /// - Throws: As ``Router/open(_:userInfo:from:)``.
    @discardableResult
    public func open(
        _ url: String, userInfo: [String: any Sendable] = [:]
    ) async throws -> any Encodable & Sendable {
        let caller = Caller(origin: line.origin, userInfo: userInfo)
        return try await line.callAnswered { try $0.open(url, for: caller.waiting($2), on: $1) }
    }

    /// Opens a URL whose reply is a `Reply`.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - reply: The type that the handler returns.
    ///   - userInfo: Objects that have no form in a URL.
    /// - Returns: The result of the handler.
    /// - Throws: As ``Router/value(for:as:userInfo:)``.
    public func value<Reply: Sendable>(
        for url: String, as reply: Reply.Type = Reply.self, userInfo: [String: any Sendable] = [:]
    ) async throws -> Reply {
        try cast(try await open(url, userInfo: userInfo))
    }

    /// Returns whether ``open(_:userInfo:)`` would reach a handler with a request that it can decode.
    ///
    /// - Parameter url: The URL.
    /// - Returns: Whether it can be opened when the lane reaches the request.
    public func canOpen(_ url: String) async -> Bool {
        let caller = Caller(origin: line.origin)
        return (try? await line.call { try $0.canOpen(url, for: caller, on: $1) }) ?? false
    }
}
