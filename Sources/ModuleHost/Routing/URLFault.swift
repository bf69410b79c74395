/// The reason why a text is not a URL that can be routed, and the byte at which it is.
///
/// The text itself is not shown: it may hold a token.
public struct URLFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault.
    public let kind: Kind
    /// The byte at which it is wrong, counted from 0 in the text's UTF-8.
    public let offset: Int

    init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    /// The kinds of fault, each with the values its message needs.
    @nonexhaustive public enum Kind: Hashable, Sendable {
        /// No text at all.
        case empty
        /// More bytes than are read.
        case tooLong(bytes: Int)
        /// No scheme and colon at the start.
        case noScheme
        /// A name or a password before the host.
        case userInfo
        /// A character that no URL has unescaped at this place.
        case character(Unicode.Scalar)
        /// A percent sign without two hexadecimal digits.
        case escape
        /// Bytes that are not UTF-8, as they stand or once they are unescaped.
        case invalidUTF8
        /// A segment that is `.` or `..` once it is unescaped.
        case dotSegment(String)
        /// More segments than are read.
        case tooManySegments
        /// More query items than are read.
        case tooManyItems
        /// A second query item `token`.
        case repeatedToken
    }

    /// Place, fault and remedy, such as
    /// `malformed URL: byte 7 is a space; write it as %20`.
    public var description: String { "malformed URL: \(message)" }

    private var message: String {
        switch kind {
        case .empty: "it is empty; write one such as slate://userInfo"
        case .tooLong(let bytes):
            "\(bytes) bytes are more than the \(RouteURL.Limits.bytes) that a URL may have"
        case .noScheme: "it begins with no scheme, such as the slate of slate://userInfo"
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
