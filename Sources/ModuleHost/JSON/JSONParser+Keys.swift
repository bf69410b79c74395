extension JSONParser {
    // MARK: Keys and strings in other quotes

    /// Reads a key that is not a string in double quotes, and adds one node for it.
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
    mutating func singleQuoted() {
        let start = at
        report(.wrongQuotes("'"), at: start)
        guard isWhole else { return append(.invalid, from: start) }
        var end = start + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "'"), bytes[end] >= 0x20 { end += 1 }
        at = end < bytes.count && bytes[end] == UInt8(ascii: "'") ? end + 1 : end
        append(.string, from: start, flags: .faulty)
    }

    /// The current character, if it is a typographic quote.
    var typographicQuote: Character? {
        guard byte == 0xE2, Self.lengthOfScalar(bytes, at: at) == 3 else { return nil }
        switch scalar(at: at) {
        case "\u{201C}", "\u{201D}", "\u{201E}", "\u{2018}", "\u{2019}":
            return Character(scalar(at: at))
        default: return nil
        }
    }

    /// Reads a string in typographic quotes, which ends at the next one or where a string must end.
    mutating func wrongQuotes(_ quote: Character) {
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

    // MARK: Duplicate keys

    @inline(__always)
    func keyBit(_ key: Int) -> UInt64 {
        let node = nodes[key]
        // An escape can make any key equal to any other.
        guard node.flags.isDisjoint(with: [.escaped, .faulty]), node.length > 2 else { return .max }
        let first = bytes[Int(node.start) + 1]
        let last = bytes[Int(node.start &+ node.length) - 2]
        return 1 << UInt64((UInt32(first) &* 7 &+ UInt32(last) &* 13 &+ node.length) & 63)
    }

    mutating func findDuplicates(among firstKey: Int) {
        guard isWhole else { return }
        let keys = keys[firstKey...].map(Int.init)
        // Few keys are compared pairwise; for many keys that would take too long.
        guard keys.count > 16 else {
            for (index, key) in keys.enumerated() {
                if let earlier = keys[..<index].first(where: { isSame($0, key) }) {
                    reportDuplicate(key, of: earlier)
                }
            }
            return
        }
        // By bytes: to a `String` a composed accent equals a decomposed one.
        var first: [[UInt8]: Int] = [:]
        for key in keys {
            let text = Array(JSONDocument(bytes: bytes, nodes: nodes).writtenString(key).utf8)
            if let earlier = first[text] {
                reportDuplicate(key, of: earlier)
            } else {
                first[text] = key
            }
        }
    }

    private func isSame(_ one: Int, _ other: Int) -> Bool {
        let flags = nodes[one].flags.union(nodes[other].flags)
        guard flags.isDisjoint(with: [.escaped, .faulty]) else {
            let document = JSONDocument(bytes: bytes, nodes: nodes)
            return document.writtenString(one).utf8
                .elementsEqual(document.writtenString(other).utf8)
        }
        return nodes[one].length == nodes[other].length
            && bytes[nodes[one].range] == bytes[nodes[other].range]
    }

    mutating func reportDuplicate(_ key: Int, of earlier: Int) {
        guard isWhole else { return }
        let text = JSONDocument(bytes: bytes, nodes: nodes).writtenString(key)
        let first = source.place(of: nodes[earlier].range.lowerBound)
        report(.duplicateKey(text, first: first), at: nodes[key].range.lowerBound)
    }
}
