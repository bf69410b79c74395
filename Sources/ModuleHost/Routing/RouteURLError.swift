/// The reason why a text is not a URL that can be routed, and the byte of the error.
///
/// The text itself is not shown: it may contain a token.
public struct RouteURLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    package let kind: Kind
    /// The byte of the error, counted from 0 in the text's UTF-8.
    public let offset: Int
    /// A scheme of the app, for an example.
    private var scheme = "slate"

    init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    /// Returns the error with a scheme of the app in its example.
    func naming(_ scheme: String?) -> RouteURLError {
        var error = self
        if let scheme { error.scheme = scheme }
        return error
    }

    /// The kinds of error, each with the values its message needs.
    package enum Kind: Hashable, Sendable {
        /// The text is empty.
        case empty
        /// The text has more bytes than the limit.
        case tooLong(bytes: Int)
        /// The text does not begin with a scheme and a colon.
        case noScheme
        /// There is a name or a password before the host.
        case userInfo
        /// The character must be encoded at this place in a URL.
        case character(Unicode.Scalar)
        /// A percent sign is not followed by two hexadecimal digits.
        case escape
        /// The bytes are not UTF-8, as written or decoded.
        case invalidUTF8
        /// A segment is `.` or `..` after decoding.
        case dotSegment(String)
        /// There are more segments than the limit.
        case tooManySegments
        /// There are more query items than the limit.
        case tooManyItems
        /// There is a second query item `token`.
        case repeatedToken
    }

    /// The place, the error and the remedy, such as
    /// `malformed URL: byte 7 is a space; write it as %20`.
    public var description: String { "malformed URL: \(message)" }

    private var message: String {
        switch kind {
        case .empty: "it is empty; write one such as \(scheme)://userInfo"
        case .tooLong(let bytes):
            "\(bytes) bytes are more than the \(RouteURL.Limits.bytes) that a URL may have"
        case .noScheme: "it begins with no scheme, such as the \(scheme) of \(scheme)://userInfo"
        case .userInfo:
            "byte \(offset) is an '@': a name or password before the host is not allowed"
        case .character(let scalar):
            "byte \(offset) is \(named(scalar)); write it as \(percentEncoded(scalar))"
        case .escape:
            "byte \(offset) is a '%' without two hexadecimal digits; for the sign itself write %25"
        case .invalidUTF8: "byte \(offset) is not UTF-8"
        case .dotSegment(let segment):
            "the segment '\(segment)' at byte \(offset) is not allowed; write the path it leads to"
        case .tooManySegments:
            "the segment at byte \(offset) is one more than the \(RouteURL.Limits.segments) allowed"
        case .tooManyItems:
            "the query item at byte \(offset) is one more than the \(RouteURL.Limits.items) allowed"
        case .repeatedToken: "the query item at byte \(offset) is a second 'token'; give one"
        }
    }
}
