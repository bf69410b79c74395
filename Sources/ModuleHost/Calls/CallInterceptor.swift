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
/// - Thread: The lane, inside the caller's call.
/// - Access: Calls are passed on before their route is looked up, and also if there is none.
/// - Overdue: An overdue interceptor cannot decide, so every call is refused until it returns: no call passes a
///   guard that does not respond. The call in which it became overdue fails as one whose target took too long.
/// - Failure: Throwing refuses the call; the error is the reason.
public protocol CallInterceptor: AnyObject {
    /// Decides about a call.
    ///
    /// - Parameter call: The call.
    /// - Returns: The decision.
    /// - Throws: Any error; it refuses the call.
    func intercept(_ call: InterceptedCall) throws -> Interception
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
