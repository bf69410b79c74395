/// A module that declares the services of other modules that it uses, so that `hostd check` can check them.
///
/// ```swift
/// public final class CartModule: Module, ServiceUser {
///     public static var usedServices: [Any.Type] { [(any Accounts).self] }
/// ```
///
/// A service that no enabled module of the slatefile declares (``ServiceProvider``) is an error before anything
/// runs. Do not declare a service without which the module works, too, or that its provider does not declare.
///
/// In a process of its own, the module can resolve the services that it declares, if they have a façade
/// (``ServiceFacade``); one without is an error before anything runs. In the host the declaration changes nothing
/// while the app runs.
public protocol ServiceUser: Module, SendableMetatype {
    /// The protocols that the module resolves or calls, as `(any Accounts).self`.
    static var usedServices: [Any.Type] { get }
}

/// A module that declares the routes that it calls, so that `hostd check` can check them.
///
/// ```swift
/// public final class DigestModule: Module, RouteUser {
///     public static var usedRoutes: [UsedRoute] {
///         [.action("posts", of: "com.mm.community"), .url("slate://userInfo?color=red")]
///     }
/// ```
///
/// A route that no enabled module of the slatefile lists (``RoutedModule``) is an error before anything runs.
/// Do not declare one that a module adds while it runs. The routes of a `command` are known only when it runs, and
/// count as there. The declaration changes nothing while the app runs.
public protocol RouteUser: Module, SendableMetatype {
    /// The routes that the module calls.
    static var usedRoutes: [UsedRoute] { get }
}

/// A module that declares the topics on which it posts messages, so that `hostd graph` shows them.
///
/// ```swift
/// public final class SignInModule: Module, TopicPoster {
///     public static var postedTopics: [String] { ["user.signed-in"] }
/// }
/// ```
///
/// The declaration changes nothing while the app runs: the module may post on other topics, too.
public protocol TopicPoster: Module, SendableMetatype {
    /// The topics, or the beginnings of topics with `*` behind them.
    static var postedTopics: [String] { get }
}

/// A route that a module declares it calls.
public struct UsedRoute: Hashable, Sendable {
    /// The two ways to call a route.
    package enum Target: Hashable, Sendable {
        case action(String, of: String)
        case url(String)
    }

    package let target: Target

    /// A route that is called by its name.
    ///
    /// - Parameters:
    ///   - action: The action: the route's pattern, unless the route has a name of its own.
    ///   - module: The module's id.
    /// - Returns: The route.
    public static func action(_ action: String, of module: String) -> UsedRoute {
        UsedRoute(target: .action(action, of: module))
    }

    /// A route that is called by a URL.
    ///
    /// - Parameter example: One of the URLs that are called, with values for the placeholders. The URL is searched
    ///   as a call's would be, and the predicates of routes count as true.
    /// - Returns: The route.
    public static func url(_ example: String) -> UsedRoute { UsedRoute(target: .url(example)) }
}

/// A declared use that the modules of a slatefile do not satisfy.
enum UseDiagnostic: Hashable, Sendable, CustomStringConvertible {
    /// No enabled module declares the service; `disabled` is a module that does, and `nearest` a service with a
    /// similar name.
    case service(String, of: String, disabled: ModuleID?, nearest: String?)
    /// The module runs in a process of its own, which a service that it uses does not reach, for this reason.
    case isolated(String, because: String)
    /// No module has the id of an action; `nearest` is the most similar id.
    case module(String, action: String, of: String, nearest: String?)
    /// The module of an action is not enabled.
    case disabled(String, action: String, of: String)
    /// The route cannot be reached.
    case route(RouteError, of: String)

    /// The id of the module that is not enabled; nil for another problem.
    var disabledModule: String? {
        switch self {
        case .service(_, _, let module, _): module?.text
        case .disabled(let module, _, _): module
        case .isolated, .module, .route: nil
        }
    }

    var description: String {
        switch self {
        case .service(let name, let user, let disabled?, _):
            "'\(user)' uses service '\(name)', which only \(disabled) declares: enable that module"
        case .service(let name, let user, nil, let nearest?):
            "'\(user)' uses service '\(name)', which no enabled module declares; did you mean '\(nearest)'?"
        case .service(let name, let user, nil, nil):
            "'\(user)' uses service '\(name)', which no enabled module declares"
        case .isolated(let user, let reason):
            "'\(user)' cannot run in a process of its own: \(reason); leave \"isolation\" out, give the "
                + "service a façade, or call actions instead"
        case .module(let id, let action, let user, let nearest):
            "'\(user)' calls action \(quoted(action)) of \(quoted(id)), which is not a module of this slatefile"
                + (nearest.map { "; did you mean \(quoted($0))?" } ?? "")
        case .disabled(let id, let action, let user):
            "'\(user)' calls action \(quoted(action)) of \(quoted(id)), which is not enabled"
        case .route(let error, let user): "'\(user)' calls a route that does not exist: \(error)"
        }
    }
}
