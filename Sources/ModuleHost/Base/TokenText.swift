extension RouteToken {
    /// Hides each token in a text in which it stands as in a URL.
    ///
    /// - Parameter text: Any text; it need not be a URL.
    /// - Returns: The text as it may be shown, with `•••` in the place of tokens.
    package static func hide(in text: String) -> String {
        guard text.mayCarryToken else { return text }
        let utf8 = text.utf8
        var shown = ""
        var rest = utf8[...]
        // Text behind a `#` is never a token of a URL, but its author may have meant it as one: it is hidden
        // all the same.
        while let end = rest.firstIndex(where: isDelimiter) {
            let next = utf8.index(after: end)
            shown += hide(inItem: Substring(rest[..<end]), after: rest.startIndex > text.startIndex)
            shown += text[end..<next]
            rest = rest[next...]
        }
        return shown + hide(inItem: Substring(rest), after: rest.startIndex > text.startIndex)
    }

    /// Overwrites each byte of a token with `*`, in a line of a file that contains URLs among other content;
    /// the text behind it keeps its place.
    static func mask(in line: inout [UInt8]) {
        var offset = 0
        while let start = line[offset...].firstIndex(where: isDelimiter) {
            offset = start + 1
            // The name, each letter escaped, and the sign.
            let item = line[offset...].prefix(16)
            guard let equals = item.firstIndex(of: UInt8(ascii: "=")),
                decoded(item[..<equals]).elementsEqual("token".utf8)
            else { continue }
            offset = equals + 1
            while offset < line.count, line[offset] > 0x20, line[offset] != UInt8(ascii: "\""),
                !isDelimiter(line[offset])
            {
                line[offset] = UInt8(ascii: "*")
                offset += 1
            }
        }
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "?") || byte == UInt8(ascii: "&") || byte == UInt8(ascii: "#")
    }

    private static func hide(inItem item: Substring, after isItem: Bool) -> String {
        guard isItem, let equals = item.utf8.firstIndex(of: UInt8(ascii: "=")),
            item.utf8.index(after: equals) < item.endIndex,
            decoded(Array(item.utf8[..<equals])[...]).elementsEqual("token".utf8)
        else { return String(item) }
        return item[...equals] + "•••"
    }

    /// Returns the bytes with escapes resolved; incomplete escapes stay.
    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap(hexadecimalValue)
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                decoded.append(digits[0] << 4 | digits[1])
                rest.removeFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }
}

extension String {
    /// Whether the text contains anything like a query.
    ///
    /// One pass over the bytes, for the many texts that need no further check.
    fileprivate var mayCarryToken: Bool {
        utf8.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "&") }
    }
}
