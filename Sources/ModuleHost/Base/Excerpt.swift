/// Returns text of a file for a message: without control characters, which a terminal would obey, and cut to
/// a length that is easy to read.
package func excerpt(_ text: String, limit: Int = 60) -> String {
    let shown = text.prefix(limit)
    // A character has no limit of its own: hundreds of accents may stand on one letter.
    let scalars = shown.unicodeScalars.prefix(limit * 4)
    var result = printable(scalars)
    if scalars.endIndex < text.endIndex { result += "…" }
    return result
}

/// Returns ``excerpt(_:limit:)`` in single quotes.
package func quoted(_ text: String) -> String { "'\(excerpt(text))'" }

/// Returns the text, with U+FFFD for each character that a terminal would obey instead of showing it.
func printable(_ text: Substring.UnicodeScalarView) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text { result.append(printable(scalar)) }
    return String(result)
}

/// Returns the scalar, or U+FFFD for one that a terminal would obey instead of showing it.
func printable(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    isObeyed(scalar.value) ? "\u{FFFD}" : scalar
}

/// Returns a visible character in quotes, and any other by its name or number.
func named(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case " ": return "a space"
    case "\t": return "a tab"
    case "\n", "\r": return "a line break"
    case "\u{A0}": return "no-break space (U+00A0)"
    default: break
    }
    let hidden =
        printable(scalar) != scalar || scalar.properties.isWhitespace
        || scalar.properties.generalCategory == .format
    guard hidden else { return "'\(scalar)'" }
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}

/// Returns whether a terminal, or a reader of lines, obeys the character instead of showing it.
///
/// The single list of these characters: controls (C0, DEL, C1), line and paragraph separators, the marks,
/// overrides and isolates of text direction, and characters that take no room and have no part in writing a
/// language. The joiners U+200C and U+200D are not among them: scripts and emoji need them.
@inline(__always)
func isObeyed(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x20..<0x7F, 0xA0..<0x61C: false
    case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F,
        0xFEFF, 0xFFF9...0xFFFB:
        true
    default: false
    }
}
