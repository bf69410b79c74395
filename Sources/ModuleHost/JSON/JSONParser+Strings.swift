extension JSONParser {
    /// Reads the string that begins with the current double quote.
    mutating func string() {
        let start = at
        var flags: JSONNode.Flags = []
        var end = start + 1
        while true {
            end = bytes.withUnsafeBytes { $0.endOfPlainText(from: end) }
            guard end < bytes.count else { return endOfText(in: start) }
            switch bytes[end] {
            case UInt8(ascii: "\""):
                at = end + 1
                return append(.string, from: start, flags: flags)
            case UInt8(ascii: "$"):
                flags.insert(.dollar)
                hasDollar = true
                end += 1
            case UInt8(ascii: "\\"):
                flags.insert(.escaped)
                end = checkEscape(at: end, of: start, &flags)
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                report(.unterminatedString, at: start)
                at = isWhole ? end : bytes.count
                forgivesComma = true
                flags.insert(.faulty)
                return append(.string, from: start, flags: flags)
            case let byte where byte < 0x20:
                if !flags.contains(.faulty) { report(.controlCharacter(byte), at: end) }
                flags.insert(.faulty)
                end += 1
            default:
                let length = Self.lengthOfScalar(bytes, at: end)
                if length == 0, !flags.contains(.faulty) {
                    report(.invalidUTF8, at: end)
                    flags.insert(.faulty)
                }
                end += max(1, length)
            }
            guard isWhole else { return append(.string, from: start, flags: [.faulty]) }
        }
    }

    private mutating func endOfText(in start: Int) {
        let opened = source.place(of: start)
        stop(.endsInside("string", opened), at: bytes.count)
        append(.string, from: start, flags: .faulty)
    }

    /// Reports the error in the escape at `offset`, and returns the offset at which the text continues.
    private mutating func checkEscape(
        at offset: Int, of start: Int, _ flags: inout JSONNode.Flags
    ) -> Int {
        guard offset + 1 < bytes.count else { return bytes.count }
        guard bytes[offset + 1] == UInt8(ascii: "u") else {
            if JSONEscapes.byte(escapedBy: bytes[offset + 1]) != nil { return offset + 2 }
            let length = Self.lengthOfScalar(bytes, at: offset + 1)
            // A line break, or bytes that are not text, have a diagnostic of their own.
            guard length > 0, bytes[offset + 1] >= 0x20 else { return offset + 1 }
            report(.unknownEscape(scalar(at: offset + 1)), at: offset)
            flags.insert(.faulty)
            return offset + 1 + length
        }
        guard let unit = JSONEscapes.codeUnit(bytes[...], at: offset) else {
            report(.shortUnicodeEscape, at: offset)
            flags.insert(.faulty)
            return offset + 2
        }
        guard 0xD800..<0xE000 ~= unit else { return offset + 6 }
        if unit < 0xDC00, let low = JSONEscapes.codeUnit(bytes[...], at: offset + 6),
            0xDC00..<0xE000 ~= low
        {
            return offset + 12
        }
        report(.loneSurrogate(String(unit, radix: 16, uppercase: true)), at: offset)
        flags.insert(.faulty)
        return offset + 6
    }

    /// Returns the length of the UTF-8 sequence at `offset`, or 0 where it is not valid (Unicode, table 3-7).
    static func lengthOfScalar(_ bytes: [UInt8], at offset: Int) -> Int {
        func byte(_ index: Int) -> UInt8 {
            offset + index < bytes.count ? bytes[offset + index] : 0
        }
        func isContinuation(_ index: Int) -> Bool { byte(index) & 0xC0 == 0x80 }
        switch byte(0) {
        case 0..<0x80:
            return 1
        case 0xC2...0xDF:
            return isContinuation(1) ? 2 : 0
        case 0xE0...0xEF:
            let second: ClosedRange<UInt8> =
                switch byte(0) {
                case 0xE0: 0xA0...0xBF
                case 0xED: 0x80...0x9F
                default: 0x80...0xBF
                }
            return second ~= byte(1) && isContinuation(2) ? 3 : 0
        case 0xF0...0xF4:
            let second: ClosedRange<UInt8> =
                switch byte(0) {
                case 0xF0: 0x90...0xBF
                case 0xF4: 0x80...0x8F
                default: 0x80...0xBF
                }
            return second ~= byte(1) && isContinuation(2) && isContinuation(3) ? 4 : 0
        default:
            return 0
        }
    }

    func scalar(at offset: Int) -> Unicode.Scalar {
        let length = Self.lengthOfScalar(bytes, at: offset)
        let text = String(decoding: bytes[offset..<offset + length], as: UTF8.self)
        return text.unicodeScalars.first ?? "\u{FFFD}"
    }
}
