/// The tokens that an app accepts, with the grant of each.
///
/// An immutable value: a reload creates another. It shows the names, never a token.
package struct TokenStore: Sendable {
    struct Entry: Sendable {
        let token: RouteToken
        let grant: Grant
        /// The first instant at which the token is no longer accepted.
        let expires: DateTime?
    }

    /// The limits of a file of tokens.
    enum Limits {
        static let bytes = 1 << 20
        static let tokens = 1000
        static let scopes = 64
        static let tokenLength = 16...1024
    }

    private let entries: [Entry]

    init(_ entries: [Entry]) { self.entries = entries }

    /// A store without tokens: remote callers reach only public routes.
    package static let empty = TokenStore([])

    /// Returns whether the other store has the same tokens with the same grants, in the same order.
    func isSame(as other: TokenStore) -> Bool {
        entries.elementsEqual(other.entries) {
            $0.token.matches($1.token) && $0.grant == $1.grant && $0.expires == $1.expires
        }
    }

    /// The names of the tokens, in the order of the file.
    package var names: [String] { entries.map(\.grant.name) }

    /// Returns the grant of a token at an instant.
    ///
    /// The token is compared with every token in the store, whether it is valid or not, so that the time this
    /// takes reveals only their number and lengths.
    ///
    /// - Parameters:
    ///   - token: The token from the caller.
    ///   - now: The time of day: an expired token grants nothing.
    /// - Returns: The grant, or nil for a token that is unknown or has expired.
    package func grant(for token: RouteToken, now: WallTime) -> Grant? {
        grant(for: token, now: now) { $0.matches($1) }
    }

    /// Returns the grant of a token, with another comparison, which is called once for each token in the
    /// store.
    func grant(
        for token: RouteToken, now: WallTime, comparing isSame: (RouteToken, RouteToken) -> Bool
    ) -> Grant? {
        var found: Int?
        for (index, entry) in entries.enumerated() where isSame(token, entry.token) {
            found = index
        }
        guard let entry = found.map({ entries[$0] }) else { return nil }
        if let end = entry.expires, (end.seconds, end.nanoseconds) <= (now.seconds, now.nanoseconds)
        {
            return nil
        }
        return entry.grant
    }
}

extension TokenStore: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names in words, such as `tokens of ci, phone`.
    package var description: String {
        entries.isEmpty ? "no tokens" : "tokens of \(names.joined(separator: ", "))"
    }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["names": names]) }
}
