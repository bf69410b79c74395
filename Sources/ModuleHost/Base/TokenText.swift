extension RouteToken {
    /// Hides each token that a text carries as a URL would.
    ///
    /// - Parameter text: Any text; it need not be a URL.
    /// - Returns: The text as it may be shown, with `•••` in the place of tokens.
    package static func hide(in text: String) -> String {
        guard text.mayCarryToken else { return text }
        let utf8 = text.utf8
        var shown = ""
        var rest = utf8[...]
        // What follows a `#` is never a token of a URL, but who wrote it there may have meant it.
        while let end = rest.firstIndex(where: isDelimiter) {
            let next = utf8.index(after: end)
            shown += hide(inItem: Substring(rest[..<end]), after: rest.startIndex > text.startIndex)
            shown += text[end..<next]
            rest = rest[next...]
        }
        return shown + hide(inItem: Substring(rest), after: rest.startIndex > text.startIndex)
    }

    /// Overwrites each byte of a token with `*`, in a line of a file in which URLs stand among other
    /// things: so that what follows keeps its place.
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

    /// The bytes with those escapes resolved that are none too short.
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
    /// Whether there is anything like a query in it.
    ///
    /// One look at each byte, for the many texts of which nothing else need be asked.
    fileprivate var mayCarryToken: Bool {
        utf8.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "&") }
    }
}
