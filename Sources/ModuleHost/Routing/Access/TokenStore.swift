/// The tokens that an app takes, and what each of them grants.
///
/// A value that never changes: a reload makes another. It shows the names, never a token.
package struct TokenStore: Sendable {
    struct Entry: Sendable {
        let token: RouteToken
        let grant: Grant
        /// The first instant at which it is no longer taken.
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

    /// A store without tokens: remote callers reach only what is public.
    package static let empty = TokenStore([])

    /// The names of the tokens, in the order of the file.
    package var names: [String] { entries.map(\.grant.name) }

    /// Returns the grant of a token at an instant.
    ///
    /// The token is compared with every one there is, whichever it is and whether it is any, so that
    /// the time this takes says nothing but how many there are and how long they are.
    ///
    /// - Parameters:
    ///   - token: What the caller gave.
    ///   - now: The time of day: an expired token grants nothing.
    /// - Returns: The grant, or nil for a token that is unknown or has expired.
    package func grant(for token: RouteToken, now: WallTime) -> Grant? {
        grant(for: token, now: now) { $0.matches($1) }
    }

    /// The same with another comparison, which is called once for each token there is.
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
    /// The names, such as `tokens of ci, phone`.
    package var description: String {
        entries.isEmpty ? "no tokens" : "tokens of \(names.joined(separator: ", "))"
    }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["names": names]) }
}
