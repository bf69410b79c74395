/// The faults of a JSON text, or of a value that was to be decoded, in the order of the text.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The faults, sorted by place; never empty.
    public let faults: [JSONFault]

    /// One line for each fault, such as `line 3, column 12 (/uriKey): expected a string, found 5`.
    public var description: String {
        faults.map(\.description).joined(separator: "\n")
    }
}

/// One fault of a JSON text: where it is, what is wrong, and what would be right.
public struct JSONFault: Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault.
    public let kind: Kind
    /// The value it concerns as a JSON Pointer (RFC 6901), such as `/modules/2/id`; of the whole
    /// text, the empty string.
    public let pointer: String
    /// Its place in the text.
    public let place: TextPlace
    /// Its offset in the text in bytes.
    let offset: Int

    /// The fault in words, without its place.
    public var message: String { kind.description }

    /// Place and message on one line.
    public var description: String {
        "line \(place.line), column \(place.column)"
            + (pointer.isEmpty ? "" : " (\(pointer))") + ": \(kind)"
    }

    /// The kinds of fault, each with the values its message needs.
    @nonexhaustive public enum Kind: Hashable, Sendable {
        // The text as a whole.

        /// More bytes than are read.
        case tooLarge(bytes: Int)
        /// Nothing but white space, or nothing at all.
        case empty
        /// A byte order mark at the start.
        case byteOrderMark
        /// Text in UTF-16 or UTF-32.
        case notUTF8
        /// A NUL byte near the start: no text at all.
        case binary
        /// Something after the one value that a text consists of.
        case trailingText
        /// Arrays and objects nested deeper than is read.
        case tooDeep(limit: Int)
        /// The text ends inside of something that began at `line`, `column`.
        case endsInside(String, TextPlace)

        // Structure.

        /// A comma with nothing after it before the closing bracket.
        case trailingComma
        /// A comma with nothing before it.
        case strayComma
        /// Two values or members with no comma between them.
        case missingComma
        /// A key with no colon after it.
        case missingColon
        /// No value where one must be.
        case missingValue
        /// A closing bracket that does not match the open one, which stands at `opened`.
        case mismatchedBracket(found: Character, open: Character, opened: TextPlace)
        /// A key that is not a string.
        case keyNotString
        /// A key without quotes.
        case unquotedKey(String)
        /// A key that the object has already, first at `first`.
        case duplicateKey(String, first: TextPlace)
        /// A comment.
        case comment
        /// A character that JSON has no use for.
        case unexpectedCharacter(Unicode.Scalar)
        /// A word that is not `true`, `false` or `null`.
        case unknownWord(String)

        // Strings.

        /// Single or typographic quotes.
        case wrongQuotes(Character)
        /// No closing quote before the end of the line.
        case unterminatedString
        /// A control character that stands in a string unescaped.
        case controlCharacter(UInt8)
        /// Bytes that are not UTF-8.
        case invalidUTF8
        /// A backslash before a character that needs none.
        case unknownEscape(Unicode.Scalar)
        /// `\u` without four hexadecimal digits.
        case shortUnicodeEscape
        /// Half of a surrogate pair.
        case loneSurrogate(String)

        // Numbers.

        /// A number not written as JSON wants it.
        case number(String, NumberFault)

        // Decoding.

        /// A value of another type than the one wanted.
        case mismatch(expected: String, found: String)
        /// A number that the type wanted cannot hold.
        case outOfRange(String, type: String)
        /// A key that must be there and is not.
        case missingKey(String)
        /// An unknown key; `nearest` is the known one that it most resembles.
        case unknownKey(String, nearest: String?)
        /// The type itself refused the value.
        case refused(String)
    }

    /// The faults of a number.
    public enum NumberFault: Hashable, Sendable {
        /// Such as `007`.
        case leadingZero
        /// Such as `+1`.
        case plusSign
        /// Such as `.5`, `5.` or `1e`.
        case missingDigits
        /// Such as `0x1F`.
        case otherBase
        /// Anything else that begins like a number, such as `1_000` or `12px`.
        case malformed
    }
}

/// A place in a text as an editor shows it.
public struct TextPlace: Hashable, Sendable {
    /// The line, counted from 1.
    public let line: Int
    /// The column in characters, counted from 1.
    public let column: Int

    /// Makes a place from a line and a column, both counted from 1.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}
