extension JSONParser {
    /// Reads the number that begins with the current digit or minus.
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

    /// Reports the malformed number that begins at `start`.
    mutating func oddNumber(from start: Int) {
        at = start
        while Self.isPartOfWord(byte) { at += 1 }
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        report(Self.error(inNumber: text), at: start)
        append(.invalid, from: start)
    }

    private static func error(inNumber text: String) -> JSONDiagnostic.Kind {
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
}
