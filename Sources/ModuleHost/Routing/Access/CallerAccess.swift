/// The access of one caller: its origin, and the grant of its token.
///
/// Create one for each call, before its route is searched, and check each candidate with it *first*, ahead of
/// the route's predicate:
///
/// ```swift
/// table.match(url) { access.mayReach($0, $1) && $0.route.accepts($1) }
/// ```
///
/// **A route that the caller may not reach answers like one that does not exist.** In text: it is not a
/// candidate, so the search continues as if the route did not exist and ends in the same
/// ``RouteError/notFound(url:nearest:)``, and the hint names only routes for which ``mayReachAll(of:)``
/// returns true. In time: the token is compared with all tokens before the search begins, whatever the URL;
/// and a candidate that may not be reached costs a check of its access level, without decoding a request,
/// running a predicate, or waiting for a module. Only for a caller with a valid token are scopes compared
/// with authorized candidates beyond that.
package struct CallerAccess: Hashable, Sendable {
    /// The origin of the call.
    package let origin: Origin
    /// The grant of its token; nil without a valid one, as for a local caller, which needs none.
    package let grant: Grant?

    /// Creates the access of a caller whose token, if there is one, was looked up.
    package init(origin: Origin, grant: Grant? = nil) {
        self.origin = origin
        self.grant = origin.isRemote ? grant : nil
    }

    /// Looks up a caller's token.
    ///
    /// - Parameters:
    ///   - origin: The origin of the call.
    ///   - token: The token that came with the call.
    ///   - tokens: The tokens that the app accepts.
    ///   - now: The time of day, for tokens that expire.
    package init(
        origin: Origin, token: RouteToken?, tokens: TokenStore, now: WallTime = .now()
    ) {
        let isAsked = origin.isRemote && token != nil
        self.init(
            origin: origin,
            grant: isAsked ? token.flatMap { tokens.grant(for: $0, now: now) } : nil)
    }

    /// Returns whether the caller may call a route with these parameters.
    ///
    /// A ``RouteTable/Filter``. Allocates nothing except for an authorized route and a caller with a grant.
    ///
    /// - Parameters:
    ///   - entry: The route.
    ///   - parameters: The parameters of a matching URL, or of a call by module and action. Scopes compare
    ///     the latter by the URL that they build; where they build none, no scope covers the call.
    /// - Returns: Whether the route may answer.
    package func mayReach(_ entry: RouteTable.Entry, _ parameters: RouteParameters) -> Bool {
        guard origin.isRemote else { return true }
        switch entry.route.access {
        case .public: return true
        case .local: return false
        case .authorized: return grant?.covers(entry, parameters) ?? false
        }
    }

    /// Returns whether the caller may call a route with any parameters: only such routes are named in hints
    /// and lists.
    package func mayReachAll(of entry: RouteTable.Entry) -> Bool {
        guard origin.isRemote else { return true }
        switch entry.route.access {
        case .public: return true
        case .local: return false
        case .authorized: return grant?.coversAll(of: entry) ?? false
        }
    }
}
