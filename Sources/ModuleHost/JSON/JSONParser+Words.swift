extension JSONParser {
    // MARK: Words and other text

    static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
            UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), 0x80...:
            true
        default: false
        }
    }

    /// Reads `true`, `false`, `null`, or any other text in the place of a value.
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

    /// Takes the current word; reports and skips one character where there is none.
    mutating func takeWord() -> String? {
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

    /// Reports and skips a comment, or a space that is not valid in JSON; false where there is neither.
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
