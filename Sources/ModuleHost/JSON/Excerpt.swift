/// Text of a file as it may stand in a message: no control characters, which a terminal would obey,
/// and not more than a reader wants to see.
package func excerpt(_ text: String, limit: Int = 60) -> String {
    let shown = text.prefix(limit)
    // A character has no end of its own: hundreds of accents may stand on one letter.
    let scalars = shown.unicodeScalars.prefix(limit * 4)
    var result = printable(scalars)
    if scalars.endIndex < text.endIndex { result += "…" }
    return result
}

/// ``excerpt(_:limit:)`` in single quotes.
func quoted(_ text: String) -> String { "'\(excerpt(text))'" }

/// The text, with U+FFFD for whatever a terminal would obey instead of showing it.
func printable(_ text: Substring.UnicodeScalarView) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text { result.append(printable(scalar)) }
    return String(result)
}

/// The scalar, or U+FFFD for one that a terminal would obey instead of showing it.
func printable(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    isObeyed(scalar.value) ? "\u{FFFD}" : scalar
}

/// A character by what it looks like, or by its number where it looks like nothing.
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
