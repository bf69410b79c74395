/// The escapes of JSON strings and JSON Pointers.
enum JSONEscapes {
    /// Returns the bytes of a string with its escapes resolved.
    ///
    /// Accepts any bytes: each escape that the parser has rejected (an unknown escape, half a surrogate pair)
    /// becomes U+FFFD.
    static func resolved(_ content: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(content.count)
        var at = content.startIndex
        while at < content.endIndex {
            guard content[at] == UInt8(ascii: "\\"), at + 1 < content.endIndex else {
                result.append(content[at])
                at += 1
                continue
            }
            if content[at + 1] == UInt8(ascii: "u") {
                let (scalar, length) = unicode(content, at: at)
                result.append(contentsOf: Array(String(Character(scalar)).utf8))
                at += length
            } else {
                if let byte = byte(escapedBy: content[at + 1]) {
                    result.append(byte)
                } else {
                    result.append(contentsOf: [0xEF, 0xBF, 0xBD])
                }
                at += 2
            }
        }
        return result
    }

    /// Returns the byte that a backslash and `letter` stand for, or nil where they are not an escape.
    static func byte(escapedBy letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// Returns the four hexadecimal digits after the `\u` at `at`, or nil where there are not four.
    static func codeUnit(_ content: ArraySlice<UInt8>, at: Int) -> UInt32? {
        guard content.endIndex - at >= 6, content[at] == UInt8(ascii: "\\"),
            content[at + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt32 = 0
        for offset in 2..<6 {
            guard let digit = Character(Unicode.Scalar(content[at + offset])).hexDigitValue,
                content[at + offset] < 0x80
            else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Returns the scalar of the `\u` escape, or pair of them, at `at`, and its length in bytes.
    private static func unicode(
        _ content: ArraySlice<UInt8>, at: Int
    ) -> (scalar: Unicode.Scalar, length: Int) {
        guard let unit = codeUnit(content, at: at) else { return ("\u{FFFD}", 2) }
        if 0xD800..<0xDC00 ~= unit, let low = codeUnit(content, at: at + 6),
            0xDC00..<0xE000 ~= low,
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        {
            return (scalar, 12)
        }
        return (Unicode.Scalar(unit) ?? "\u{FFFD}", 6)
    }

    /// Returns `key` as a token of a JSON Pointer: `~` becomes `~0`, `/` becomes `~1`.
    static func pointerToken(_ key: String) -> String {
        guard key.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") })
        else { return key }
        var token = ""
        for scalar in key.unicodeScalars {
            switch scalar {
            case "~": token += "~0"
            case "/": token += "~1"
            default: token.unicodeScalars.append(scalar)
            }
        }
        return token
    }
}
