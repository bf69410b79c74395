/// Calls actions of other modules: by the module's id and the action's name, without knowing its class.
///
/// ```swift
/// let posts = try context.mediator.perform(
///     "com.mm.community", "posts", ["name": "mia"], as: [Post].self)
/// ```
///
/// An action is a route under its name (see ``Route``); a URL is another way to make the same call. An
/// extension gives the call static types:
///
/// ```swift
/// extension Mediator {
///     func posts(of name: String) throws -> [Post] {
///         try perform("com.mm.community", "posts", ["name": name], as: [Post].self)
///     }
/// }
/// ```
///
/// - Thread: The lane: the call is made at once, inside the caller's own. An overdue module's call waits
///   until the lane serves it. Code that is not on the lane uses ``offLane``.
/// - Nesting: Modules call each other 64 deep; a deeper call is an error that lists the callers.
/// - Overdue: A call of an overdue target is an error at once. If the target does not return in time during the
///   call, the lane continues without both modules; the call fails when the target returns. Calls from
///   outside, ``offLane`` and with a completion fail at the deadline.
public final class Mediator {
    private let line: CallChannel

    init(_ line: CallChannel) { self.line = line }

    /// Calls an action.
    ///
    /// - Parameters:
    ///   - module: The module's id.
    ///   - action: The action's name: the route's pattern as it is written, unless it has another.
    ///   - parameters: The parameters from which the request is decoded.
    ///   - userInfo: Objects that are not text, for the handler's ``RouteCall/userInfo``.
    /// - Returns: The result of the handler; no result is encoded as `null`.
    /// - Throws: ``RouteError``, ``ParameterError``, or the error of the handler.
    @discardableResult
    public func perform(
        _ module: String, _ action: String, _ parameters: RouteParameters = RouteParameters(),
        userInfo: [String: any Sendable] = [:]
    ) throws -> any Encodable & Sendable {
        let call = line.plainCall
        return try line.call { dispatcher, thread in
            try dispatcher.perform(module, action, parameters, call, userInfo, on: thread)
        } elsewhere: {
            { dispatcher, thread in
                try dispatcher.perform(module, action, parameters, call, userInfo, on: thread)
            }
        }
    }

    /// Calls an action for another process: for the module itself, or for a caller outside the app with that
    /// caller's permissions.
    ///
    /// - Parameters:
    ///   - parameters: The parameters from which the request is decoded.
    ///   - origin: The caller outside the app; nil for the module itself.
    ///   - later: Receives an answer that comes later; nil where the caller cannot wait for it.
    ///   - isNested: Whether a thread waits for the caller.
    /// - Returns: The reply, where it does not come later.
    /// - Throws: As ``perform(_:_:_:userInfo:)``.
    func perform(
        _ module: String, _ action: String, _ parameters: RouteParameters, from origin: Origin?,
        later: LateAnswer?, isNested: Bool
    ) throws -> any Encodable & Sendable {
        let isRemote = origin?.isRemote == true
        let caller = Caller(
            origin: isRemote ? origin ?? line.origin : line.origin, later: later,
            isNested: isNested)
        return try line.call { try $0.perform(module, action, parameters, for: caller, on: $1) }
    }

    /// Calls an action whose reply is a `Reply`.
    ///
    /// - Parameters:
    ///   - module: The module's id.
    ///   - action: The action's name.
    ///   - parameters: The parameters from which the request is decoded.
    ///   - userInfo: Objects that are not text.
    ///   - reply: The type that the handler returns.
    /// - Returns: The result of the handler.
    /// - Throws: As ``perform(_:_:_:userInfo:)``, and ``RouteError/reply(expected:found:)`` where it is of
    ///   another type.
    public func perform<Reply>(
        _ module: String, _ action: String, _ parameters: RouteParameters = RouteParameters(),
        userInfo: [String: any Sendable] = [:], as reply: Reply.Type
    ) throws -> Reply {
        try cast(perform(module, action, parameters, userInfo: userInfo))
    }

    /// Calls an action after everything accepted before.
    ///
    /// - Parameters:
    ///   - module: The module's id.
    ///   - action: The action's name.
    ///   - parameters: The parameters from which the request is decoded.
    ///   - userInfo: Objects that are not text.
    ///   - completion: Code of the calling module, on the lane; called once, unless the module is unloaded.
    public func perform(
        _ module: String, _ action: String, _ parameters: RouteParameters = RouteParameters(),
        userInfo: [String: any Sendable] = [:],
        completion: @escaping (Result<any Encodable & Sendable, any Error>) -> Void
    ) {
        let caller = Caller(origin: line.origin, userInfo: userInfo)
        line.enqueue(
            { try $0.perform(module, action, parameters, for: caller.waiting($2), on: $1) },
            completion: completion)
    }

    /// Calls an action from an asynchronous handler, and waits for the answer without blocking a thread.
    ///
    /// - Order: After everything accepted before.
    /// - Parameters:
    ///   - module: The module's id.
    ///   - action: The action's name.
    ///   - parameters: The parameters from which the request is decoded.
    ///   - userInfo: Objects that are not text.
    /// - Returns: The result of the handler.
    /// - Throws: ``RouteError``, ``ParameterError``, or the error of the handler.
    @discardableResult
    public nonisolated(nonsending) func perform(
        _ module: String, _ action: String, _ parameters: RouteParameters = RouteParameters(),
        userInfo: [String: any Sendable] = [:]
    ) async throws -> any Encodable & Sendable {
        let caller = Caller(origin: line.origin, userInfo: userInfo)
        return try await RemoteCallLine(line).callAnswered {
            try $0.perform(module, action, parameters, for: caller.waiting($2), on: $1)
        }
    }

    /// Calls an action whose reply is a `Reply` from an asynchronous handler, and waits for the answer.
    ///
    /// - Parameters:
    ///   - module: The module's id.
    ///   - action: The action's name.
    ///   - parameters: The parameters from which the request is decoded.
    ///   - userInfo: Objects that are not text.
    ///   - reply: The type that the handler returns.
    /// - Returns: The result of the handler.
    /// - Throws: As the form without a type, and ``RouteError/reply(expected:found:)`` where the reply is of
    ///   another type.
    public nonisolated(nonsending) func perform<Reply: Sendable>(
        _ module: String, _ action: String, _ parameters: RouteParameters = RouteParameters(),
        userInfo: [String: any Sendable] = [:], as reply: Reply.Type
    ) async throws -> Reply {
        try cast(try await perform(module, action, parameters, userInfo: userInfo))
    }

    /// The mediator for code that is not on the lane, such as start-up work.
    public var offLane: AsyncMediator { AsyncMediator(line: RemoteCallLine(line)) }
}

/// A mediator that calls actions of modules from code that is not on the lane.
///
/// - Order: Calls are made in the order in which they reach the lane, among all other jobs.
public struct AsyncMediator: Sendable {
    let line: RemoteCallLine

    /// Calls an action, and waits for the reply without blocking a thread.
    ///
    /// - Parameters:
    ///   - module: The module's id.
    ///   - action: The action's name.
    ///   - parameters: The parameters from which the request is decoded.
    ///   - userInfo: Objects that are not text.
    /// - Returns: The result of the handler.
    /// - Throws: As ``Mediator/perform(_:_:_:userInfo:)``.
    @discardableResult
    public func perform(
        _ module: String, _ action: String, _ parameters: RouteParameters = RouteParameters(),
        userInfo: [String: any Sendable] = [:]
    ) async throws -> any Encodable & Sendable {
        let caller = Caller(origin: line.origin, userInfo: userInfo)
        return try await line.callAnswered {
            try $0.perform(module, action, parameters, for: caller.waiting($2), on: $1)
        }
    }

    /// Calls an action whose reply is a `Reply`.
    ///
    /// - Parameters:
    ///   - module: The module's id.
    ///   - action: The action's name.
    ///   - parameters: The parameters from which the request is decoded.
    ///   - userInfo: Objects that are not text.
    ///   - reply: The type that the handler returns.
    /// - Returns: The result of the handler.
    /// - Throws: As ``Mediator/perform(_:_:_:userInfo:as:)``.
    public func perform<Reply: Sendable>(
        _ module: String, _ action: String, _ parameters: RouteParameters = RouteParameters(),
        userInfo: [String: any Sendable] = [:], as reply: Reply.Type
    ) async throws -> Reply {
        try cast(try await perform(module, action, parameters, userInfo: userInfo))
    }
}

/// Returns the reply as the type that a caller expects.
///
/// A reply from another process is JSON, and is decoded as that type.
func cast<Reply>(_ reply: any Encodable & Sendable) throws(RouteError) -> Reply {
    if let json = reply as? JSONValue, let type = Reply.self as? any (Decodable & Sendable).Type,
        let typed = (try? json.decode(type)) as? Reply
    {
        return typed
    }
    guard let typed = reply as? Reply else {
        throw .reply(expected: "\(Reply.self)", found: "\(type(of: reply))")
    }
    return typed
}
