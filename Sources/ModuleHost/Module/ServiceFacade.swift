/// A service that other modules use as calls of its provider's routes, and so in whatever process that runs.
///
/// A service can have a façade if all its requirements are `async throws` and take and return values that are
/// `Codable & Sendable`: others have no form as calls, and do not compile in one.
///
/// ```swift
/// public protocol Accounts: Sendable {
///     func balance(of account: String) async throws -> Int
/// }
///
/// public struct AccountsFacade: ServiceFacade, Accounts {
///     public static let actions = ["balance"]
///     private let provider: ProviderCalls
///
///     public init(_ provider: ProviderCalls) { self.provider = provider }
///     public var service: any Accounts { self }
///
///     public func balance(of account: String) async throws -> Int {
///         try await provider.call("balance", ["account": account])
///     }
/// }
/// ```
///
/// The provider lists its façades (``ServiceProvider/facades``) and has a route for each action. It registers
/// nothing: the host provides the façade to the other modules, in its own process.
public protocol ServiceFacade: Sendable, SendableMetatype {
    /// The protocol, as `any Accounts`.
    associatedtype Service

    /// The actions of the provider that the façade calls; `hostd check` requires that its routes have them.
    static var actions: [String] { get }

    /// Creates the façade.
    ///
    /// - Parameter provider: The calls to the provider.
    init(_ provider: ProviderCalls)

    /// The façade as the service.
    var service: Service { get }
}

/// The calls of a façade to the module that provides the service.
///
/// - Origin: The provider's own, so that every route of it is reached.
/// - Order, Failure: As for calls of ``AsyncMediator``.
public struct ProviderCalls: Sendable {
    private let mediator: AsyncMediator
    private let module: ModuleID

    init(to module: ModuleID, through mediator: AsyncMediator) {
        (self.module, self.mediator) = (module, mediator)
    }

    /// Calls an action without arguments.
    ///
    /// - Parameters:
    ///   - action: The action.
    ///   - reply: The type of the reply.
    /// - Returns: The reply.
    /// - Throws: As ``AsyncMediator/perform(_:_:_:userInfo:as:)``.
    public func call<Reply: Codable & Sendable>(
        _ action: String, as reply: Reply.Type = Reply.self
    ) async throws -> Reply {
        try await mediator.perform(module.text, action, as: reply)
    }

    /// Calls an action.
    ///
    /// - Parameters:
    ///   - action: The action.
    ///   - arguments: The arguments: a value whose members are the parameters of the route.
    ///   - reply: The type of the reply.
    /// - Returns: The reply.
    /// - Throws: As ``AsyncMediator/perform(_:_:_:userInfo:as:)``, and an error of encoding the arguments.
    public func call<Values: Codable & Sendable, Reply: Codable & Sendable>(
        _ action: String, _ arguments: Values, as reply: Reply.Type = Reply.self
    ) async throws -> Reply {
        let parameters = RouteParameters(
            try JSONValue(parsing: JSONEncoding.bytes(arguments)))
        return try await mediator.perform(module.text, action, parameters, as: reply)
    }
}

extension ServiceFacade {
    /// Provides the service in this process.
    ///
    /// - Parameters:
    ///   - module: The module that has the routes.
    ///   - context: The context of the module that calls them: the provider, or the only module of its process.
    static func provide(
        of module: ModuleID, through services: ServiceRegistry, for context: ModuleContext
    ) {
        let calls = ProviderCalls(to: module, through: context.mediator.offLane)
        services.provide(Service.self, of: context.slot) { Self(calls).service }
    }

    /// Returns whether it is a façade of this service.
    static func isOf(_ service: Any.Type) -> Bool { Service.self == service }
}

extension ServiceProvider {
    /// Returns the reason why a service of the module does not cross processes; nil where it has a façade.
    static func obstacle(toCrossing service: Any.Type) -> String? {
        guard !facades.contains(where: { $0.isOf(service) }) else { return nil }
        return ProtocolRequirements(of: service)?.firstNotAsync
            ?? "its requirements may cross, but no façade is listed in 'facades'"
    }

    /// The reason why the module cannot run in a process of its own, where that is a service that it provides;
    /// nil where there is none.
    static var isolationObstacle: String? {
        for service in services {
            guard let obstacle = obstacle(toCrossing: service) else { continue }
            return "it provides '\(service)', which does not cross processes: \(obstacle)"
        }
        return nil
    }
}
