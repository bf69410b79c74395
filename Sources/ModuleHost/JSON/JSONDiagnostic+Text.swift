extension JSONDiagnostic.Kind: CustomStringConvertible {
    /// The message, with the remedy where there is one.
    public var description: String {
        switch self {
        case .tooLarge(let bytes):
            "\(megabytes(bytes)) is more than the 16 MiB that are read"
        case .empty:
            "expected a JSON value, found nothing"
        case .byteOrderMark:
            "a byte order mark; save the file as UTF-8 without one"
        case .notUTF8:
            "this is UTF-16 or UTF-32; save the file as UTF-8"
        case .binary:
            "this is not text: it has a NUL byte"
        case .trailingText:
            "nothing may follow the end of the JSON value"
        case .tooDeep(let limit):
            "nested deeper than \(limit) arrays and objects"
        case .endsInside(let what, let place):
            "the text ends inside the \(what) that begins at \(place)"

        case .trailingComma:
            "a comma before a closing bracket; remove it"
        case .strayComma:
            "a comma with no value before it; remove it"
        case .missingComma:
            "expected ',' after this value"
        case .missingColon:
            "expected ':' after this key"
        case .missingValue:
            "expected a value"
        case .mismatchedBracket(let found, let open, let opened):
            "'\(found)' does not close the '\(open)' of \(opened)"
        case .keyNotString:
            "a key must be a string in double quotes"
        case .unquotedKey(let key):
            "a key must be in double quotes: \"\(excerpt(key))\""
        case .duplicateKey(let key, let first):
            "key \(quoted(key)) is here already, at \(first)"
        case .comment:
            "JSON has no comments; remove it"
        case .unexpectedCharacter(let scalar):
            "unexpected \(named(scalar))"
        case .unknownWord(let word):
            unknownWordText(word)

        case .wrongQuotes(let quote):
            "\(quote) is not a quote of JSON; use \""
        case .unterminatedString:
            "this string has no closing quote on its line"
        case .controlCharacter(let byte):
            "\(named(Unicode.Scalar(byte))) in a string must be written \(escape(of: byte))"
        case .invalidUTF8:
            "these bytes are not UTF-8; save the file as UTF-8"
        case .unknownEscape(let scalar):
            "\\\(printable(scalar)) is not an escape of JSON; for a backslash write \\\\"
        case .shortUnicodeEscape:
            "\\u must be followed by four hexadecimal digits"
        case .loneSurrogate(let digits):
            "\\u\(digits) is half of a surrogate pair; the other half is missing"

        case .number(let text, let error):
            numberText(excerpt(text), error)

        case .mismatch(let expected, let found):
            "expected \(expected), found \(found)"
        case .outOfRange(let text, let type):
            "\(excerpt(text)) does not fit \(type)"
        case .missingKey(let key):
            "missing key \(quoted(key))"
        case .unknownKey(let key, let nearest?):
            "unknown key \(quoted(key)); did you mean \(quoted(nearest))?"
        case .unknownKey(let key, nil):
            "unknown key \(quoted(key))"
        case .refused(let reason):
            reason
        }
    }
}

extension TextPlace: CustomStringConvertible {
    /// The place in words, such as `line 3, column 12`.
    public var description: String { "line \(line), column \(column)" }
}

private func numberText(_ text: String, _ error: JSONDiagnostic.NumberError) -> String {
    switch error {
    case .leadingZero: "a number has no leading zero: \(text)"
    case .plusSign: "a number has no plus sign: \(text)"
    case .missingDigits: "a number needs digits before and after its point and exponent: \(text)"
    case .otherBase: "a number is decimal: \(text)"
    case .malformed: "\(text) is not a number"
    }
}

private func unknownWordText(_ word: String) -> String {
    switch word.lowercased() {
    case "-infinity", "-inf", "+infinity", "+inf", "-nan", "nan", "infinity", "inf":
        "\(excerpt(word)) is not a number of JSON"
    case "true", "yes", "on": "expected a value, found \(excerpt(word)); did you mean true?"
    case "false", "no", "off": "expected a value, found \(excerpt(word)); did you mean false?"
    case "null", "nil", "none", "undefined":
        "expected a value, found \(excerpt(word)); did you mean null?"
    default: "expected a value, found \(excerpt(word)); a string must be in double quotes"
    }
}

private func escape(of byte: UInt8) -> String {
    switch byte {
    case 0x08: "\\b"
    case 0x09: "\\t"
    case 0x0A: "\\n"
    case 0x0C: "\\f"
    case 0x0D: "\\r"
    default: "\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}

/// Returns a size in words, such as `20.0 MiB`.
private func megabytes(_ bytes: Int) -> String {
    let tenths = (bytes * 10 + (1 << 20) - 1) >> 20
    return "\(tenths / 10).\(tenths % 10) MiB"
}
