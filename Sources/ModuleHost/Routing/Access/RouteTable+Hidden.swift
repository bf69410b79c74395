/// The routes that a caller may not reach, for the host's own log: the caller is not to learn that they exist.
extension RouteTable {
    /// Looks for the route of a URL that its caller may not reach.
    ///
    /// - Parameter url: The URL, without its token.
    /// - Returns: A note that the route exists; nil if it does not, or if it is public.
    package func noteOfHidden(_ url: RouteURL) -> String? {
        (try? match(url))?.entry.route.access.noteOfHidden
    }

    /// Returns a note that the route of an action exists; nil if it does not, or if it is public.
    package func noteOfHidden(_ action: String, of module: String) -> String? {
        routes.first { $0.module.text == module && $0.route.action == action }?.route.access
            .noteOfHidden
    }
}

extension RouteAccess {
    fileprivate var noteOfHidden: String? {
        switch self {
        case .local: "; the route exists and is local, which the caller does not learn"
        case .authorized:
            "; the route exists and needs a token that covers it, which the caller does not learn"
        case .public: nil
        }
    }
}
