/// The access of one caller: its origin, and the grant of its token.
///
/// Make one for each call, before its route is searched, and ask it of each candidate *first*, ahead
/// of the route's predicate:
///
/// ```swift
/// table.match(url) { access.mayReach($0, $1) && $0.route.accepts($1) }
/// ```
///
/// **What may not be reached answers like what does not exist.** In text, since it is not a candidate:
/// the search goes on as if the route were not there, ends in the same
/// ``RouteError/notFound(url:nearest:)``, and the hint is taken from routes of which
/// ``mayReachAll(of:)`` says yes. In time, since the token is compared with all tokens before the
/// search begins, whatever the URL; and since a candidate that may not be reached costs a look at
/// its access level, without decoding a request, running a predicate, or waiting for a module. Only who
/// holds a valid token has its scopes compared with authorized candidates beyond that.
package struct CallerAccess: Hashable, Sendable {
    /// The origin of the call.
    package let origin: Origin
    /// The grant of its token; nil without a valid one, as for a local caller, which needs none.
    package let grant: Grant?

    /// Creates the access of a caller whose token, if any, was looked up.
    package init(origin: Origin, grant: Grant? = nil) {
        self.origin = origin
        self.grant = origin.isRemote ? grant : nil
    }

    /// Looks up a caller's token.
    ///
    /// - Parameters:
    ///   - origin: Who calls.
    ///   - token: The token that came with the call.
    ///   - tokens: The tokens that the app takes.
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
    /// A ``RouteTable/Filter``. Allocates nothing but for an authorized route and a caller with a
    /// grant.
    ///
    /// - Parameters:
    ///   - entry: The route.
    ///   - parameters: Of a URL that matched, or of a call by module and action; what a scope sees of
    ///     the latter is the URL that they make, and where they make none, no scope covers it.
    /// - Returns: Whether the route may answer.
    package func mayReach(_ entry: RouteTable.Entry, _ parameters: RouteParameters) -> Bool {
        guard origin.isRemote else { return true }
        switch entry.route.access {
        case .public: return true
        case .local: return false
        case .authorized: return grant?.covers(entry, parameters) ?? false
        }
    }

    /// Returns whether the caller may call a route with any parameters: only such routes are named in hints and lists.
    package func mayReachAll(of entry: RouteTable.Entry) -> Bool {
        guard origin.isRemote else { return true }
        switch entry.route.access {
        case .public: return true
        case .local: return false
        case .authorized: return grant?.coversAll(of: entry) ?? false
        }
    }
}
