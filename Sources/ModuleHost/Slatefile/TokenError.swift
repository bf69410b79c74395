/// The problems of a token of the file of tokens; no token is part of them.
package enum TokenError: Hashable, Sendable {
    /// The token is too short, too long, or has other than visible ASCII characters.
    case malformed
    /// The token is in the file already, at `first`.
    case repeated(first: TextPlace)
    /// The name is not one that a log can show.
    case name
    /// The token has no scope.
    case noScopes
    /// The scope is not a valid pattern.
    case scope(RoutePatternError)
    /// The scope has no scheme.
    case scopeScheme
    /// The scope has a query.
    case scopeQuery
    /// The time is not an instant of ISO 8601.
    case time
}

extension TokenError: CustomStringConvertible {
    /// The message, with the remedy.
    package var description: String {
        switch self {
        case .malformed:
            let length = TokenStore.Limits.tokenLength
            return
                "a token has \(length.lowerBound) to \(length.upperBound) visible ASCII characters "
                + "and no space; make one with: head -c 24 /dev/urandom | base64"
        case .repeated(let first): return "this token is here already, at \(first)"
        case .name:
            return "a name has 1 to \(Slatefile.Limits.nameLength) characters, "
                + "no control characters"
        case .noScopes: return "a token needs a scope, such as \"slate://com.mm.community/*\""
        case .scope(let error): return "a scope is a pattern of URLs: \(error.message)"
        case .scopeScheme:
            return "a scope begins with a scheme, as \"slate://com.mm.community/*\" does"
        case .scopeQuery: return "a scope has no query; leave out what follows the '?'"
        case .time: return "this is not a time; write one such as \"2027-01-01T00:00:00Z\""
        }
    }

    /// The same problem without any text of the file.
    fileprivate var concealed: TokenError {
        guard case .scope(let error) = self else { return self }
        return .scope(error.concealed)
    }
}

extension SlatefileDiagnostic.Kind {
    /// The same problem without any text of the file, except for keys of a token or nearly such.
    var concealed: SlatefileDiagnostic.Kind {
        switch self {
        case .json(let kind): .json(kind.concealed)
        case .token(let error): .token(error.concealed)
        // Of the other kinds, a file of tokens can only have a list that is too long.
        default: self
        }
    }
}

/// The replacement of text that is not shown.
private let hidden = "•••"

extension JSONDiagnostic.Kind {
    fileprivate var concealed: JSONDiagnostic.Kind {
        switch self {
        case .unknownKey(_, nearest: nil):
            .refused(
                "unknown key; a token has "
                    + TokenKey.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", "))
        case .unquotedKey(let key): TokenKey(rawValue: key) == nil ? .keyNotString : self
        case .duplicateKey(let key, let first):
            TokenKey(rawValue: key) == nil ? .duplicateKey(hidden, first: first) : self
        case .mismatch(let expected, let found):
            .mismatch(
                expected: expected,
                found: found.hasPrefix("the string") || found.hasPrefix("a string")
                    ? "a string" : found.hasPrefix("the number") ? "a number" : found)
        case .unknownWord: .unknownWord(hidden)
        case .number(_, let error): .number(hidden, error)
        case .outOfRange(_, let type): .outOfRange(hidden, type: type)
        case .loneSurrogate: .loneSurrogate(hidden)
        case .unknownEscape: .unknownEscape("•")
        case .unexpectedCharacter(let scalar):
            // Between values there are only punctuation and space; any other character was meant to be part
            // of a value.
            scalar.properties.isAlphabetic ? .unexpectedCharacter("•") : self
        default: self
        }
    }
}

extension RoutePatternError {
    fileprivate var concealed: RoutePatternError {
        let kind: Kind =
            switch kind {
            case .malformedScheme: .malformedScheme(hidden)
            case .singleSlash: .singleSlash(scheme: hidden)
            case .repeatedName: .repeatedName(hidden)
            case .query: .query(hidden)
            // The others show at most a single character, which no URL has.
            default: kind
            }
        return RoutePatternError(pattern: hidden, kind: kind, offset: offset)
    }
}

extension JSONDocument {
    /// Returns the place of the text at `offset`, as far as it consists of indexes of arrays and keys of a
    /// token.
    func concealedPointer(atOffset offset: Int) -> String {
        let parts = pointer(atOffset: offset).split(separator: "/").prefix { part in
            TokenKey(rawValue: String(part)) != nil
                || part.utf8.count < 8 && part.utf8.allSatisfy { 0x30...0x39 ~= $0 }
        }
        return parts.map { "/" + $0 }.joined()
    }
}
