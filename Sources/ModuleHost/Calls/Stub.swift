struct TokenGrant: Sendable {}
package struct TokenStore: Sendable {
    package init() {}
    func grant(for token: RouteToken) -> TokenGrant? { nil }
}
struct CallerAccess: Sendable {
    static let local = CallerAccess(isLocal: true)
    var isLocal = false
    init(isLocal: Bool) { self.isLocal = isLocal }
    init(origin: Origin, grant: TokenGrant?) { isLocal = !origin.isRemote }
    func mayReach(_ entry: RouteTable.Entry, _ p: RouteParameters, in table: RouteTable) -> Bool {
        isLocal || entry.route.access == .public
    }
    func mayReachSome(of entry: RouteTable.Entry, in table: RouteTable) -> Bool {
        isLocal || entry.route.access == .public
    }
}
