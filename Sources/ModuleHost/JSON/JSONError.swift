/// The diagnostics of a JSON text, or of a value that was to be decoded, in the order of the text.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The diagnostics, sorted by place; never empty.
    package let diagnostics: [JSONDiagnostic]

    /// One line for each diagnostic, such as `line 3, column 12 (/uriKey): expected a string, found 5`.
    public var description: String {
        diagnostics.map(\.description).joined(separator: "\n")
    }
}

/// One diagnostic of a JSON text: the place, the problem, and the remedy.
package struct JSONDiagnostic: Hashable, Sendable, CustomStringConvertible {
    /// The kind of problem.
    package let kind: Kind
    /// The value it concerns as a JSON Pointer (RFC 6901), such as `/modules/2/id`; for the whole text, the
    /// empty string.
    package let pointer: String
    /// The place in the text.
    package let place: TextPlace
    /// The offset in the text in bytes.
    let offset: Int

    /// The message, without the place.
    package var message: String { kind.description }

    /// Place and message on one line.
    package var description: String {
        "line \(place.line), column \(place.column)"
            + (pointer.isEmpty ? "" : " (\(pointer))") + ": \(kind)"
    }

    /// The kinds of problem, each with the values its message needs.
    package enum Kind: Hashable, Sendable {
        // The text as a whole.

        /// The text has more bytes than the limit.
        case tooLarge(bytes: Int)
        /// The text is empty, or consists of white space.
        case empty
        /// The text begins with a byte order mark.
        case byteOrderMark
        /// The text is UTF-16 or UTF-32.
        case notUTF8
        /// A NUL byte is near the start: the file is not text.
        case binary
        /// There is text after the one value of the document.
        case trailingText
        /// Arrays and objects are nested deeper than the limit.
        case tooDeep(limit: Int)
        /// The text ends inside something that began at `line`, `column`.
        case endsInside(String, TextPlace)

        // Structure.

        /// A comma is followed directly by the closing bracket.
        case trailingComma
        /// A comma has nothing before it.
        case strayComma
        /// Two values or members have no comma between them.
        case missingComma
        /// A key has no colon after it.
        case missingColon
        /// A value is missing.
        case missingValue
        /// A closing bracket does not match the open one, which stands at `opened`.
        case mismatchedBracket(found: Character, open: Character, opened: TextPlace)
        /// A key is not a string.
        case keyNotString
        /// A key has no quotes.
        case unquotedKey(String)
        /// The object has this key already, first at `first`.
        case duplicateKey(String, first: TextPlace)
        /// There is a comment.
        case comment
        /// The character has no meaning in JSON.
        case unexpectedCharacter(Unicode.Scalar)
        /// The word is not `true`, `false` or `null`.
        case unknownWord(String)

        // Strings.

        /// The quotes are single or typographic.
        case wrongQuotes(Character)
        /// There is no closing quote before the end of the line.
        case unterminatedString
        /// A string contains an unescaped control character.
        case controlCharacter(UInt8)
        /// The bytes are not UTF-8.
        case invalidUTF8
        /// A backslash stands before a character that needs none.
        case unknownEscape(Unicode.Scalar)
        /// `\u` is not followed by four hexadecimal digits.
        case shortUnicodeEscape
        /// Half of a surrogate pair stands alone.
        case loneSurrogate(String)

        // Numbers.

        /// A number is not in the form of JSON.
        case number(String, NumberError)

        // Decoding.

        /// The value has another type than expected.
        case mismatch(expected: String, found: String)
        /// The number does not fit the expected type.
        case outOfRange(String, type: String)
        /// A required key is missing.
        case missingKey(String)
        /// The key is unknown; `nearest` is the most similar known key.
        case unknownKey(String, nearest: String?)
        /// The type itself rejected the value.
        case refused(String)
    }

    /// The errors in the form of a number.
    package enum NumberError: Hashable, Sendable {
        /// A leading zero, such as `007`.
        case leadingZero
        /// A plus sign, such as `+1`.
        case plusSign
        /// Missing digits, such as `.5`, `5.` or `1e`.
        case missingDigits
        /// Another base, such as `0x1F`.
        case otherBase
        /// Any other text that begins like a number, such as `1_000` or `12px`.
        case malformed
    }
}

/// A place in a text as an editor shows it.
package struct TextPlace: Hashable, Sendable {
    /// The line, counted from 1.
    package let line: Int
    /// The column in characters, counted from 1.
    package let column: Int

    /// Creates a place from a line and a column, both counted from 1.
    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}
