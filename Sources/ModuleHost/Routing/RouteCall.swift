/// A call as a route's handler receives it, beside its request.
public struct RouteCall: Sendable {
    /// The origin of the call.
    public let origin: Origin
    /// The URL that was opened, rewritten and without its token; nil where the call had none.
    public let url: RouteURL?
    /// Objects of a local call that have no form in a URL; never merged with the parameters.
    public let userInfo: [String: any Sendable]

    /// Creates a call.
    public init(origin: Origin, url: RouteURL? = nil, userInfo: [String: any Sendable] = [:]) {
        self.origin = origin
        self.url = url
        self.userInfo = userInfo
    }
}
