/// A call as a route's handler sees it, beside its request.
public struct RouteCall: Sendable {
    /// The origin of the call.
    public let origin: Origin
    /// The URL that was opened, rewritten and without its token; nil where the call had none.
    public let url: RouteURL?
    /// Objects that are not URL text, of a local call; never merged with the parameters.
    public let userInfo: [String: any Sendable]

    /// Creates a call.
    public init(origin: Origin, url: RouteURL? = nil, userInfo: [String: any Sendable] = [:]) {
        self.origin = origin
        self.url = url
        self.userInfo = userInfo
    }
}
