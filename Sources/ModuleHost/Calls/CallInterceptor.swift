/// A call before it is made: by URL, or by module and action.
public struct InterceptedCall: Sendable {
    /// The target of the call.
    @nonexhaustive public enum Target: Sendable {
        /// A URL, without its token and before the rewrites.
        case url(RouteURL)
        /// An action of a module.
        case action(String, of: String)
    }

    /// The target of the call.
    public let target: Target
    /// The parameters of a call by action; those of a URL are part of the URL.
    public let parameters: RouteParameters
    /// The origin of the call.
    public let origin: Origin
    /// Whether the call is not made, but only checked, as by ``Router/canOpen(_:from:)``: respond as for a
    /// call, and do nothing else.
    public let isDryRun: Bool

    init(
        _ target: Target, _ parameters: RouteParameters, _ origin: Origin, isDryRun: Bool
    ) {
        self.target = target
        self.parameters = parameters
        self.origin = origin
        self.isDryRun = isDryRun
    }
}

/// The decision of an interceptor about a call.
public enum Interception: Hashable, Sendable {
    /// The next interceptor receives the call; after the last one, the call is made.
    case proceed
    /// The call is not made: the caller receives ``RouteError/refused(by:_:)`` with this reason.
    case refuse(String)
    /// This URL is opened instead, for the same origin and with the same objects.
    case redirect(String)
}

/// A module that receives every call before it is made.
///
/// - Order: Slatefile order; the first interceptor that refuses or redirects ends the search. A redirected
///   call is passed to all of them again, eight times at most.
/// - Thread: The lane, whichever thread carries it; within the call of a module, if a module calls.
/// - Access: Calls are passed on before their route is looked up, and also if there is none.
/// - Overdue: An overdue interceptor cannot decide, so the calls that it guards (``guardedCalls``) are refused
///   until it returns: no call passes a guard that does not respond. Other calls are made without it. The call
///   in which it became overdue fails as one whose target took too long.
/// - Failure: Throwing refuses the call; the error is the reason.
public protocol CallInterceptor: AnyObject, SendableMetatype {
    /// The calls that are refused while the module is unresponsive, as the scopes of tokens, such as
    /// `slate://com.mm.shop/*`: a call by its canonical URL, whatever the URL that leads to the route.
    ///
    /// Nil, the default, is every call. An interceptor that only observes has `[]`. While the module responds
    /// it receives every call, whatever the patterns. A route that a predicate may reject counts as one that
    /// answers, and so does a call by action whose parameters build no URL. A malformed pattern is an error of
    /// `hostd check`.
    static var guardedCalls: [String]? { get }

    /// Decides about a call.
    ///
    /// - Parameter call: The call.
    /// - Returns: The decision.
    /// - Throws: Any error; it refuses the call.
    func intercept(_ call: InterceptedCall) throws -> Interception
}

extension CallInterceptor {
    /// Nil: every call is guarded.
    public static var guardedCalls: [String]? { nil }
}

/// A module that is notified of calls that no route answers.
///
/// The module is notified of calls from the app itself and from outside; the caller also receives the error.
///
/// - Order: Slatefile order.
/// - Thread: The lane, inside the caller's call.
/// - Failure: Throwing is reported under the module's name.
public protocol NotFoundResponder: AnyObject {
    /// Notifies the module of a call that no route answers.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - error: The error that the caller receives.
    /// - Throws: Any error; it is reported under the module's name.
    func didNotFind(_ call: InterceptedCall, error: RouteError) throws
}
