/// The reason why a text is not a valid pattern, and the byte of the error.
public struct RoutePatternError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The pattern.
    public let pattern: String
    /// The kind of error.
    package let kind: Kind
    /// The byte of the error, counted from 0 in the pattern's UTF-8.
    public let offset: Int

    /// The kinds of error, each with the values its message needs.
    package enum Kind: Hashable, Sendable {
        /// The text is empty.
        case empty
        /// The text has more bytes than a URL may have.
        case tooLong(bytes: Int)
        /// The text before `://` is not a valid scheme.
        case malformedScheme(String)
        /// The scheme is followed by a colon and only one slash.
        case singleSlash(scheme: String)
        /// There is a name or a password before the host.
        case userInfo
        /// The character must be encoded at this place in a URL.
        case character(Unicode.Scalar)
        /// A percent sign is not followed by two hexadecimal digits.
        case escape
        /// The escape is not valid UTF-8.
        case invalidUTF8
        /// A segment is `.` or `..`, which does not exist in a URL.
        case dotSegment(String)
        /// There are more segments than a URL may have.
        case tooManySegments
        /// A colon is not followed by a name.
        case missingName
        /// The pattern has this name already.
        case repeatedName(String)
        /// The text between `<` and `>` after a name is not a type.
        case unknownType(String, nearest: String?)
        /// A `<` after a name has no `>`.
        case unclosedType
        /// The character is not valid in a name.
        case nameCharacter(Unicode.Scalar)
        /// A `*` is not at the beginning of the last segment.
        case starBeforeEnd
        /// A `(` has no `)`, or the reverse.
        case unmatchedParenthesis
        /// A group is empty: `()`.
        case emptyGroup
        /// There are more groups than are expanded.
        case tooManyGroups
        /// A query item is not `name=:name`.
        case query(String)
        /// There is a fragment, which is never matched.
        case fragment
    }

    /// The pattern, the place, the error and the remedy, such as
    /// `pattern 'a/*/b': the '*' at byte 2 is not in the last segment; …`.
    public var description: String { "pattern \(quoted(pattern)): \(message)" }

    var message: String {
        switch kind {
        case .empty: "it is empty; the root of a module is '/'"
        case .tooLong(let bytes):
            "\(bytes) bytes are more than the \(RouteURL.Limits.bytes) that a URL may have"
        case .malformedScheme(let scheme):
            "\(quoted(scheme)) is not a scheme; letters, digits, '+', '-' and '.' make one"
        case .singleSlash(let scheme):
            "'\(scheme):/' belongs to no module and to no scheme; write \(scheme):///"
        case .userInfo:
            "byte \(offset) is an '@': a name or password before the host is not allowed"
        case .character(let scalar):
            "byte \(offset) is \(named(scalar)); write it as \(percentEncoded(scalar))"
        case .escape:
            "byte \(offset) is a '%' without two hexadecimal digits; for the sign itself write %25"
        case .invalidUTF8: "byte \(offset) is escaped, but no UTF-8"
        case .dotSegment(let dots): "no URL has the segment '\(dots)' at byte \(offset)"
        case .tooManySegments:
            "the segment at byte \(offset) is one more than the \(RouteURL.Limits.segments) allowed"
        case .missingName:
            "the ':' at byte \(offset) has no name after it; for the sign itself write %3A"
        case .repeatedName(let name): "the name '\(name)' at byte \(offset) is there already"
        case .unknownType(let type, let nearest):
            "\(quoted(type)) at byte \(offset) is not a type; "
                + (nearest.map { "did you mean '\($0)'?" }
                    ?? "the types are \(SegmentType.allCases.map(\.name).joined(separator: ", "))")
        case .unclosedType: "the '<' at byte \(offset) has no '>'"
        case .nameCharacter(let scalar):
            "byte \(offset) is \(named(scalar)), but a name is made of letters, digits, '_' and '-'; "
                + "what follows it in its segment is a type such as <int>, or begins with '.'"
        case .starBeforeEnd:
            "the '*' at byte \(offset) does not begin the last segment; for the sign itself write %2A"
        case .unmatchedParenthesis: "the parenthesis at byte \(offset) has no partner"
        case .emptyGroup: "the group at byte \(offset) is empty"
        case .tooManyGroups:
            "the group at byte \(offset) is one more than the \(RoutePattern.groupLimit) allowed"
        case .query(let item):
            "\(quoted(item)) at byte \(offset) declares no query parameter; write name=:name"
        case .fragment: "the fragment at byte \(offset) is never matched; leave it out"
        }
    }
}
