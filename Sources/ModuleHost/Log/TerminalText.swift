/// Text for a terminal, in which only characters from the host's own literals are obeyed.
///
/// A literal is the host's own, and is written unchanged, with its line breaks and colors. Every value in it
/// is escaped (``isObeyed(_:)``): a name, a path or the error of a module can neither move the cursor nor
/// begin a line of its own.
///
/// ```swift
/// let text: TerminalText = "applied: \(summary)\n"
/// ```
///
/// The only other ways from a string to this type are ``init(lines:)`` and ``init(json:)``. Code that writes
/// to a terminal takes this type and no strings, so that no command can forget to escape.
package struct TerminalText: Hashable, Sendable, CustomStringConvertible {
    /// The text, which is written unchanged.
    package private(set) var string: String

    package var description: String { string }

    private init(verbatim string: String) { self.string = string }

    /// Creates a text from a foreign string, escaped.
    package init(escaping text: String) {
        self.init(verbatim: Self.escaped(text, LineEscape.self))
    }

    /// Creates a text of several lines whose line breaks and tabs the host made, such as a document that it
    /// rendered; all else is escaped.
    package init(lines text: String) {
        self.init(verbatim: Self.escaped(text, LinesEscape.self))
    }

    /// Creates a text from JSON: the same JSON, without characters that a terminal obeys.
    package init(json bytes: some Sequence<UInt8>) {
        let text = String(decoding: Array(bytes), as: UTF8.self)
        self.init(verbatim: Self.escaped(text, JSONTextEscape.self))
    }

    private static func escaped(_ text: String, _ escape: (some TextEscape).Type) -> String {
        var bytes: [UInt8] = []
        bytes.append(escaping: text, with: escape)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text up to the first space.
    package var firstWord: TerminalText {
        TerminalText(verbatim: String(string.prefix { $0 != " " }))
    }

    /// The number of characters.
    package var count: Int { string.count }

    /// Returns the text with its long lines broken between words; a line that is set, such as one of a table, stays.
    package func wrapped(to width: Int) -> TerminalText {
        let lines = string.split(separator: "\n", omittingEmptySubsequences: false)
        let wrapped = lines.flatMap { line in
            line.hasPrefix(" ") || line.contains(bytesOf: "  ")
                ? [String(line)] : Self.fill(line, to: width)
        }
        return TerminalText(verbatim: wrapped.joined(separator: "\n"))
    }

    /// Returns the text for the rest of a line: where it is too long, broken between words.
    ///
    /// Further lines stand below its beginning, or more to the left where there is little room.
    ///
    /// - Parameters:
    ///   - column: The number of characters before it.
    ///   - width: The number of characters in a line.
    package func continued(after column: Int, to width: Int) -> TerminalText {
        TerminalText(verbatim: Self.continued(string, after: column, to: width))
    }

    static func continued(_ text: String, after column: Int, to width: Int) -> String {
        guard column + text.count > width else { return text }
        let indentation = column <= width / 2 ? column : 8
        let lines = fill(text[...], to: max(1, width - column), others: width - indentation)
        return lines.joined(separator: "\n" + String(repeating: " ", count: indentation))
    }

    /// Returns a line in lines: a text in quotes, such as a command that is to be copied, stays in one.
    private static func fill(
        _ line: Substring, to width: Int, others: Int? = nil
    ) -> [String] {
        // No text has this character unescaped.
        let joint: Character = "\u{1}"
        var isQuoted = false
        var marked = ""
        for word in line.split(separator: " ") {
            if !marked.isEmpty { marked.append(isQuoted ? joint : " ") }
            marked += word
            let letters = word.drop { !$0.isLetter && $0 != "'" }
            if !isQuoted, letters.first == "'" { isQuoted = true }
            let end = word.last { !",.;:)".contains($0) }
            if isQuoted, end == "'", letters.count > 1 { isQuoted = false }
        }
        return filled(marked, to: width, others: others).map {
            String($0.map { $0 == joint ? " " : $0 })
        }
    }

    /// Returns the text, padded with spaces to `width` characters.
    package func padded(to width: Int) -> TerminalText {
        TerminalText(verbatim: string.padded(to: width))
    }

    package static func + (left: TerminalText, right: TerminalText) -> TerminalText {
        TerminalText(verbatim: left.string + right.string)
    }

    package static func += (left: inout TerminalText, right: TerminalText) {
        left.string += right.string
    }
}

extension TerminalText: ExpressibleByStringInterpolation {
    /// Literals are static: text that is assembled at run time is never taken for one.
    package init(stringLiteral literal: StaticString) { self.init(verbatim: "\(literal)") }

    package init(stringInterpolation parts: StringInterpolation) {
        self.init(verbatim: parts.string)
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var string = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            string.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: StaticString) { string += "\(literal)" }

        /// Appends text that is escaped already.
        package mutating func appendInterpolation(_ text: TerminalText) { string += text.string }

        /// Appends any other value, escaped.
        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            string += TerminalText(escaping: value.description).string
        }
    }
}

extension Sequence<TerminalText> {
    package func joined(separator: TerminalText = "") -> TerminalText {
        var text: TerminalText = ""
        var isFirst = true
        for element in self {
            if !isFirst { text += separator }
            isFirst = false
            text += element
        }
        return text
    }
}

/// The escaping of text in several lines whose breaks the host made.
private enum LinesEscape: TextEscape {
    static func needsEscape(_ scalar: UInt32) -> Bool {
        scalar != 0x0A && scalar != 0x09 && isObeyed(scalar)
    }

    static func appendEscape(of scalar: UInt32, to bytes: inout [UInt8]) {
        LineEscape.appendEscape(of: scalar, to: &bytes)
    }
}

/// The escaping of JSON text on a terminal: it stays the same JSON.
///
/// Characters that a terminal would obey are in strings, and are written there as an escape of JSON; between
/// tokens there may be white space, of which line breaks stay.
private enum JSONTextEscape: TextEscape {
    static func needsEscape(_ scalar: UInt32) -> Bool { scalar != 0x0A && isObeyed(scalar) }

    static func appendEscape(of scalar: UInt32, to bytes: inout [UInt8]) {
        guard scalar >= 0x20 else { return bytes.append(UInt8(ascii: " ")) }
        bytes.append(contentsOf: "\\u".utf8)
        bytes.appendHexadecimal(scalar, digits: 4)
    }
}
