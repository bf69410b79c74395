/// A second opinion on what JSON is: the grammar of RFC 8259 word by word, as slow as it is plain.
///
/// Shares nothing with the reader, so that the two do not share an error either.
struct PlainJSONCheck {
    private var rest: Substring.UnicodeScalarView
    private var hasDuplicate = false

    /// Whether `bytes` are one JSON value without duplicate keys.
    static func accepts(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        var check = PlainJSONCheck(rest: text[...].unicodeScalars)
        return check.element() && check.rest.isEmpty && !check.hasDuplicate
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func take(_ word: String) -> Bool {
        guard rest.starts(with: word.unicodeScalars) else { return false }
        rest.removeFirst(word.unicodeScalars.count)
        return true
    }

    private mutating func element() -> Bool {
        space()
        defer { space() }
        switch rest.first {
        case "{": return object()
        case "[": return array()
        case "\"": return string() != nil
        case "t": return take("true")
        case "f": return take("false")
        case "n": return take("null")
        default: return number()
        }
    }

    private mutating func space() {
        while let first = rest.first, " \t\r\n".unicodeScalars.contains(first) {
            rest.removeFirst()
        }
    }

    private mutating func object() -> Bool {
        var keys: [[Unicode.Scalar]] = []
        guard take("{") else { return false }
        space()
        if take("}") { return true }
        while true {
            space()
            guard let key = string() else { return false }
            if keys.contains(key) { hasDuplicate = true }
            keys.append(key)
            space()
            guard take(":"), element() else { return false }
            if take("}") { return true }
            guard take(",") else { return false }
        }
    }

    private mutating func array() -> Bool {
        guard take("[") else { return false }
        space()
        if take("]") { return true }
        while true {
            guard element() else { return false }
            if take("]") { return true }
            guard take(",") else { return false }
        }
    }

    private mutating func string() -> [Unicode.Scalar]? {
        guard take("\"") else { return nil }
        var text: [Unicode.Scalar] = []
        while let scalar = rest.popFirst() {
            if scalar == "\"" { return text }
            if scalar.value < 0x20 { return nil }
            guard scalar == "\\" else {
                text.append(scalar)
                continue
            }
            guard let escaped = escape() else { return nil }
            text.append(escaped)
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        let plain: [Unicode.Scalar: Unicode.Scalar] = [
            "\"": "\"", "\\": "\\", "/": "/", "b": "\u{8}", "f": "\u{C}", "n": "\n", "r": "\r",
            "t": "\t",
        ]
        guard let letter = rest.popFirst() else { return nil }
        guard letter == "u" else { return plain[letter] }
        guard let unit = hexadecimal() else { return nil }
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, take("\\u"), let low = hexadecimal(), 0xDC00...0xDFFF ~= low else {
            return nil
        }
        return Unicode.Scalar((unit - 0xD800) * 0x400 + (low - 0xDC00) + 0x10000)
    }

    private mutating func hexadecimal() -> UInt32? {
        let digits = String(String.UnicodeScalarView(rest.prefix(4)))
        let isHexadecimal = digits.unicodeScalars.allSatisfy {
            "0123456789abcdefABCDEF".unicodeScalars.contains($0)
        }
        guard digits.unicodeScalars.count == 4, isHexadecimal else { return nil }
        rest.removeFirst(4)
        return UInt32(digits, radix: 16)
    }

    private mutating func number() -> Bool {
        _ = take("-")
        if !take("0"), !digits() { return false }
        if take("."), !digits() { return false }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            return digits()
        }
        return true
    }

    private mutating func digits() -> Bool {
        let count = rest.prefix { "0"..."9" ~= $0 }.count
        rest.removeFirst(count)
        return count > 0
    }
}
