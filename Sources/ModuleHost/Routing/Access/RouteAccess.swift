/// The callers that may reach a route.
public enum RouteAccess: String, Hashable, Sendable, CaseIterable, Codable {
    /// The modules of the app.
    case local
    /// The modules of the app, and remote callers with a token whose scope covers the route.
    case authorized
    /// Every caller.
    case `public`
}
