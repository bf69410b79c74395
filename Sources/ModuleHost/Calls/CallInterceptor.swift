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
    /// The parameters of a call by action; those of a URL stand in it.
    public let parameters: RouteParameters
    /// The origin of the call.
    public let origin: Origin
    /// Whether it is only asked if the call could be made, as by ``Router/canOpen(_:from:)``: then
    /// answer as if it was made, and do nothing else.
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
    /// The next interceptor is asked, then the call is made.
    case proceed
    /// The call is not made: who called gets ``RouteError/refused(by:_:)`` with this reason.
    case refuse(String)
    /// This URL is opened instead, for the same origin and with the same objects.
    case redirect(String)
}

/// A module that sees every call before it is made.
///
/// - Order: Slatefile order; the first that refuses or redirects ends the search. What a call is
///   redirected to is seen by all again, eight times at most.
/// - Thread: The lane, inside the caller's call.
/// - Access: Calls are seen before their route is looked up, and also if there is none.
/// - Late: An overdue interceptor cannot be asked. The call is refused: a guard is not passed
///   while asleep.
/// - Failure: Throwing refuses the call with what was thrown as the reason.
public protocol CallInterceptor: AnyObject {
    /// Looks at a call.
    ///
    /// - Parameter call: The call.
    /// - Returns: Whether it is to be made.
    /// - Throws: Any error; it refuses the call.
    func intercept(_ call: InterceptedCall) throws -> Interception
}

/// A module that is notified of calls that no route answers.
///
/// Told are calls of the app's own and those from outside alike; the caller gets its error besides.
///
/// - Order: Slatefile order.
/// - Thread: The lane, inside the caller's call.
/// - Failure: Throwing is reported under the module's name.
public protocol NotFoundResponder: AnyObject {
    /// Notifies the module of a call that no route answers.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - error: The error that the caller gets.
    /// - Throws: Any error; it is reported under the module's name.
    func didNotFind(_ call: InterceptedCall, error: RouteError) throws
}
