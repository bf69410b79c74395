extension Router {
    /// Adds a route to this module's own.
    ///
    /// - Order: From the next call on.
    /// - Parameter route: The route; its handler takes this module's class.
    /// - Throws: ``RouteError`` where the pattern is malformed, or another route answers the same URLs or has
    ///   the same action; nothing is added then.
    public func add<M>(_ route: Route<M>) throws {
        try add(AnyRoute(route))
    }
}
