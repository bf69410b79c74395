extension JSONParser {
    // MARK: Strings

    /// Reads the string whose opening double quote is at hand.
    mutating func string() {
        let start = at
        var flags: JSONNode.Flags = []
        var end = start + 1
        while true {
            end = Self.endOfPlainText(bytes, from: end)
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

    /// The first offset from `start` on with a byte that a string must look at.
    @inline(__always)
    private static func endOfPlainText(_ bytes: [UInt8], from start: Int) -> Int {
        var end = start
        while end < bytes.count {
            let byte = bytes[end]
            guard
                0x20..<0x80 ~= byte, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"),
                byte != UInt8(ascii: "$")
            else { break }
            end += 1
        }
        return end
    }

    /// Reports what is wrong with the escape at `offset` and returns where the text goes on.
    private mutating func checkEscape(
        at offset: Int, of start: Int, _ flags: inout JSONNode.Flags
    ) -> Int {
        guard offset + 1 < bytes.count else { return bytes.count }
        guard bytes[offset + 1] == UInt8(ascii: "u") else {
            if JSONEscapes.byte(escapedBy: bytes[offset + 1]) != nil { return offset + 2 }
            let length = Self.lengthOfScalar(bytes, at: offset + 1)
            // A line break or bytes that are no text are reported as what they are.
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

    /// The length of the UTF-8 sequence at `offset`, or 0 where there is none (Unicode, table 3-7).
    private static func lengthOfScalar(_ bytes: [UInt8], at offset: Int) -> Int {
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

    private func scalar(at offset: Int) -> Unicode.Scalar {
        let length = Self.lengthOfScalar(bytes, at: offset)
        let text = String(decoding: bytes[offset..<offset + length], as: UTF8.self)
        return text.unicodeScalars.first ?? "\u{FFFD}"
    }

    // MARK: Numbers

    /// Reads the number whose first digit or minus is at hand.
    mutating func number() {
        let start = at
        var flags: JSONNode.Flags = []
        if byte == UInt8(ascii: "-") { at += 1 }
        let isZero = byte == UInt8(ascii: "0")
        var isValid = skipDigits(upTo: isZero ? 1 : .max)
        if byte == UInt8(ascii: ".") {
            flags = .fractional
            at += 1
            isValid = skipDigits() && isValid
        }
        if byte | 0x20 == UInt8(ascii: "e") {
            flags = .fractional
            at += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { at += 1 }
            isValid = skipDigits() && isValid
        }
        if isValid, !Self.isPartOfWord(byte) { return append(.number, from: start, flags: flags) }
        oddNumber(from: start)
    }

    private mutating func skipDigits(upTo limit: Int = .max) -> Bool {
        let start = at
        while at < bytes.count, 0x30..<0x3A ~= bytes[at], at - start < limit { at += 1 }
        return at > start
    }

    /// Reports the number that begins at `start` and is not one.
    private mutating func oddNumber(from start: Int) {
        at = start
        while Self.isPartOfWord(byte) { at += 1 }
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        report(Self.fault(inNumber: text), at: start)
        append(.invalid, from: start)
    }

    private static func fault(inNumber text: String) -> JSONFault.Kind {
        let unsigned = text.drop { $0 == "-" || $0 == "+" }
        let isDecimal = unsigned.utf8.allSatisfy {
            0x30..<0x3A ~= $0 || $0 | 0x20 == UInt8(ascii: "e") || "+-.".utf8.contains($0)
        }
        if ["infinity", "inf", "nan"].contains(unsigned.lowercased()) { return .unknownWord(text) }
        if unsigned.lowercased().hasPrefix("0x") || unsigned.lowercased().hasPrefix("0b") {
            return .number(text, .otherBase)
        }
        guard isDecimal, Double(text) != nil || unsigned.contains(where: \.isNumber) else {
            return .number(text, .malformed)
        }
        if text.hasPrefix("+") { return .number(text, .plusSign) }
        if unsigned.hasPrefix("0"), unsigned.dropFirst().first?.isNumber == true {
            return .number(text, .leadingZero)
        }
        let isPointed = unsigned.split(separator: ".", omittingEmptySubsequences: false).count < 3
        return .number(text, isPointed ? .missingDigits : .malformed)
    }

    // MARK: Words and what is none

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
            UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), 0x80...:
            true
        default: false
        }
    }

    /// Reads `true`, `false`, `null`, or whatever stands where a value should.
    mutating func word() {
        let start = at
        switch byte {
        case UInt8(ascii: "t") where skip("true"): return append(.true, from: start)
        case UInt8(ascii: "f") where skip("false"): return append(.false, from: start)
        case UInt8(ascii: "n") where skip("null"): return append(.null, from: start)
        case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"):
            report(.missingValue, at: start)
            return append(.invalid, from: at)
        case UInt8(ascii: "'"):
            return singleQuoted()
        case UInt8(ascii: "+"), UInt8(ascii: "."):
            return oddNumber(from: start)
        default:
            break
        }
        guard at < bytes.count else { return append(.invalid, from: at) }
        if let quote = typographicQuote { return wrongQuotes(quote) }
        guard let text = takeWord() else { return append(.invalid, from: start) }
        report(.unknownWord(text), at: start)
        append(.invalid, from: start)
    }

    @inline(__always)
    private mutating func skip(_ word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        guard bytes.count - at >= length else { return false }
        let isSame = word.withUTF8Buffer { bytes[at..<at + length].elementsEqual($0) }
        guard isSame, at + length == bytes.count || !Self.isPartOfWord(bytes[at + length]) else {
            return false
        }
        at += length
        return true
    }

    /// Takes the word at hand; reports and skips one character where there is none.
    private mutating func takeWord() -> String? {
        let start = at
        while Self.isPartOfWord(byte) {
            let length = Self.lengthOfScalar(bytes, at: at)
            guard length > 0 else {
                report(.invalidUTF8, at: at)
                if isWhole { at += 1 }
                return nil
            }
            at += length
        }
        guard at == start else { return String(decoding: bytes[start..<at], as: UTF8.self) }
        report(.unexpectedCharacter(Unicode.Scalar(byte)), at: at)
        if isWhole { at += 1 }
        return nil
    }

    /// Reads a key that is no string in double quotes, and adds one node all the same.
    mutating func oddKey() {
        let node = nodes.count
        switch byte {
        case UInt8(ascii: "'"):
            singleQuoted()
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            append(.string, from: at)
            stop(.keyNotString, at: at)
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
            UInt8(ascii: "."):
            let start = at
            while Self.isPartOfWord(byte) { at += 1 }
            append(.string, from: start)
            report(.keyNotString, at: start)
        default:
            let start = at
            if let quote = typographicQuote {
                wrongQuotes(quote)
            } else {
                let text = takeWord()
                append(.string, from: start)
                if let text { report(.unquotedKey(text), at: start) }
            }
        }
        nodes[node].kind = .string
        nodes[node].flags = .faulty
    }

    /// Reads a string in single quotes, which ends at the next one or at the end of the line.
    private mutating func singleQuoted() {
        let start = at
        report(.wrongQuotes("'"), at: start)
        guard isWhole else { return append(.invalid, from: start) }
        var end = start + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "'"), bytes[end] >= 0x20 { end += 1 }
        at = end < bytes.count && bytes[end] == UInt8(ascii: "'") ? end + 1 : end
        append(.string, from: start, flags: .faulty)
    }

    /// The quote at hand, if it is one that word processors make.
    private var typographicQuote: Character? {
        guard byte == 0xE2, Self.lengthOfScalar(bytes, at: at) == 3 else { return nil }
        switch scalar(at: at) {
        case "\u{201C}", "\u{201D}", "\u{201E}", "\u{2018}", "\u{2019}":
            return Character(scalar(at: at))
        default: return nil
        }
    }

    /// Reads a string in typographic quotes, which ends at the next one or where a string cannot.
    private mutating func wrongQuotes(_ quote: Character) {
        let start = at
        report(.wrongQuotes(quote), at: start)
        guard isWhole else { return append(.invalid, from: start) }
        at += 3
        while at < bytes.count, bytes[at] >= 0x20, byte != UInt8(ascii: ","),
            byte != UInt8(ascii: "\""), typographicQuote == nil
        {
            at += 1
        }
        if typographicQuote != nil { at += 3 }
        append(.invalid, from: start)
    }

    // MARK: White space

    @inline(__always)
    mutating func skipSpace() {
        while at < bytes.count {
            switch bytes[at] {
            case 0x20, 0x0A, 0x0D, 0x09: at += 1
            case UInt8(ascii: "/"), UInt8(ascii: "#"), 0x0B, 0x0C, 0x80...:
                guard skipOddSpace() else { return }
            default: return
            }
        }
    }

    /// Reports and skips a comment or a space that is none to JSON; false where there is neither.
    private mutating func skipOddSpace() -> Bool {
        let start = at
        switch (byte, at + 1 < bytes.count ? bytes[at + 1] : 0) {
        case (UInt8(ascii: "/"), UInt8(ascii: "*")):
            at += 2
            while at < bytes.count, !bytes[at...].starts(with: [0x2A, 0x2F]) { at += 1 }
            at = min(at + 2, bytes.count)
        case (UInt8(ascii: "#"), _), (UInt8(ascii: "/"), UInt8(ascii: "/")):
            while at < bytes.count, bytes[at] != UInt8(ascii: "\n") { at += 1 }
        default:
            let length = Self.lengthOfScalar(bytes, at: at)
            guard length > 0 else { return false }
            let scalar = scalar(at: at)
            let isSpace =
                scalar.properties.isWhitespace || scalar.properties.generalCategory == .format
            guard isSpace else { return false }
            at += length
            report(.unexpectedCharacter(scalar), at: start)
            return isWhole
        }
        report(.comment, at: start)
        return isWhole
    }
}
