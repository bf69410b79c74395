/// The escaping of a text format: the characters to escape, and how they are written.
protocol TextEscape {
    /// Returns whether a character of one, two or three bytes must be escaped; one of four bytes never is, nor
    /// one of plain text (``Swift/UnsafeRawBufferPointer/endOfPlainText(from:)``).
    static func needsEscape(_ scalar: UInt32) -> Bool
    static func appendEscape(of scalar: UInt32, to bytes: inout [UInt8])
}

extension [UInt8] {
    /// Appends the text as UTF-8, and escapes the characters that the format forbids.
    mutating func append<Escape: TextEscape>(escaping text: String, with escape: Escape.Type) {
        var text = text
        text.withUTF8 { utf8 in
            guard utf8.isPlain else { return append(escaping: utf8, with: escape) }
            append(copying: utf8)
        }
    }

    /// Appends the text in quotes, escaped, with a comma before it and a colon behind it where these are wanted.
    @inline(__always)
    mutating func append<Escape: TextEscape>(
        quoting text: String, with escape: Escape.Type, comma: Bool = false, colon: Bool = false
    ) {
        var text = text
        text.withUTF8 { utf8 in
            guard utf8.isPlain else {
                append(comma ? ",\"" : "\"")
                append(escaping: utf8, with: escape)
                return append(colon ? "\":" : "\"")
            }
            // All at once, since to look for room before each byte takes longer than to write it.
            append(addingCapacity: utf8.count + 4) { output in
                if comma { output.append(UInt8(ascii: ",")) }
                output.append(UInt8(ascii: "\""))
                output.append(utf8)
                output.append(UInt8(ascii: "\""))
                if colon { output.append(UInt8(ascii: ":")) }
            }
        }
    }

    /// Appends a text of the format itself, which is not escaped.
    mutating func append(_ literal: StaticString) {
        literal.withUTF8Buffer { append(copying: $0) }
    }

    @inline(__always)
    private mutating func append(copying utf8: UnsafeBufferPointer<UInt8>) {
        // With room for nothing, the standard library (Swift 6.3) writes the count of an empty array, into memory
        // that all empty arrays share: a data race.
        guard !utf8.isEmpty else { return }
        append(addingCapacity: utf8.count) { $0.append(utf8) }
    }

    /// Copies runs that need no escape whole.
    private mutating func append<Escape: TextEscape>(
        escaping utf8: UnsafeBufferPointer<UInt8>, with escape: Escape.Type
    ) {
        var index = UnsafeRawBufferPointer(utf8).endOfPlainText(from: 0)
        var copied = 0
        while index < utf8.count {
            let (scalar, length) = Self.scalar(in: utf8, at: index)
            if escape.needsEscape(scalar) {
                append(contentsOf: utf8[copied..<index])
                escape.appendEscape(of: scalar, to: &self)
                copied = index + length
            }
            index = UnsafeRawBufferPointer(utf8).endOfPlainText(from: index + length)
        }
        append(contentsOf: utf8[copied...])
    }

    /// Returns the character that begins at `index`, where it has one, two or three bytes; a String's bytes
    /// are valid UTF-8.
    ///
    /// Of a character of four bytes only the length is returned.
    @inline(__always)
    private static func scalar(
        in utf8: UnsafeBufferPointer<UInt8>, at index: Int
    ) -> (scalar: UInt32, length: Int) {
        let first = UInt32(utf8[index])
        if first < 0x80 { return (first, 1) }
        func continuation(_ offset: Int) -> UInt32 { UInt32(utf8[index + offset]) & 0x3F }
        if first < 0xE0 { return ((first & 0x1F) << 6 | continuation(1), 2) }
        if first < 0xF0 {
            return ((first & 0x0F) << 12 | continuation(1) << 6 | continuation(2), 3)
        }
        return (0x10000, 4)
    }

    /// Appends the number in decimal.
    mutating func appendDecimal(_ value: Int) {
        append(addingCapacity: 20) { output in
            if value < 0 { output.append(UInt8(ascii: "-")) }
            output.append(decimal: value.magnitude)
        }
    }

    /// Appends the last `digits` hexadecimal digits of the number.
    mutating func appendHexadecimal(_ value: UInt32, digits: Int) {
        for place in (0..<digits).reversed() {
            let digit = UInt8(truncatingIfNeeded: value >> (4 * UInt32(place)) & 0xF)
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }

    /// Appends nanoseconds as milliseconds, exactly and without needless zeros: `84120` is `0.08412`.
    mutating func appendMilliseconds(ofNanoseconds nanoseconds: Int) {
        if nanoseconds < 0 { append(UInt8(ascii: "-")) }
        let (whole, fraction) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        appendDecimal(Int(whole))
        guard fraction > 0 else { return }
        append(UInt8(ascii: "."))
        var divisor: UInt = 100_000
        var rest = fraction
        while rest > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / divisor))
            rest %= divisor
            divisor /= 10
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the index of the first byte from `start` on that is not plain text; the number of bytes where
    /// there is none.
    ///
    /// Plain are the characters of ASCII except control characters, `"`, `\` and `$`. Examines eight bytes at
    /// a time.
    @inline(__always)
    func endOfPlainText(from start: Int) -> Int {
        var index = start
        while index + 8 <= count {
            let bytes = UInt64(
                littleEndian: loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let found = Self.notPlain(bytes)
            if found != 0 { return index + found.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, Self.isPlain(self[index]) { index += 1 }
        return index
    }

    /// Returns whether the byte is plain text: what ``notPlain(_:)`` finds in eight bytes at a time.
    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"): false
        default: 0x20..<0x7F ~= byte
        }
    }

    private static var ones: UInt64 { 0x0101_0101_0101_0101 }

    /// Returns eight bytes of which the first one that is not zero is at the place of the first byte that is
    /// not plain text.
    ///
    /// Each term sets the highest bit of such a byte. A carry or a borrow comes from such a byte alone, so that
    /// it changes only bytes after the first one.
    @inline(__always)
    private static func notPlain(_ bytes: UInt64) -> UInt64 {
        func isEqual(to character: Unicode.Scalar) -> UInt64 {
            (bytes ^ (ones &* UInt64(UInt8(ascii: character)))) &- ones
        }
        let isControl = (bytes &- ones &* 0x20) | (bytes &+ ones)
        let isOther = isEqual(to: "\"") | isEqual(to: "\\") | isEqual(to: "$")
        return (bytes | isControl | isOther) & (ones &* 0x80)
    }
}

extension UnsafeBufferPointer<UInt8> {
    @inline(__always)
    fileprivate var isPlain: Bool { UnsafeRawBufferPointer(self).endOfPlainText(from: 0) == count }
}

extension OutputSpan<UInt8> {
    @inline(__always)
    fileprivate mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        withUnsafeMutableBufferPointer { buffer, count in
            count = buffer[count...].initialize(fromContentsOf: bytes)
        }
    }

    fileprivate mutating func append(decimal number: UInt) {
        if number >= 10 { append(decimal: number / 10) }
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }
}
