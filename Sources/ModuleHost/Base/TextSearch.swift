// The standard library has these only in `_StringProcessing`. A call of one would put that library and the parser of
// regular expressions into each statically linked host, and the first cast of a type to a protocol searches the
// conformances of both.

extension Collection<UInt8> {
    /// Returns the range of the first occurrence of a text, or nil if there is none.
    package func firstRange(ofBytes text: String) -> Range<Index>? {
        let text = text.utf8
        guard let first = text.first else { return startIndex..<startIndex }
        var rest = self[...]
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: text) {
                return start..<rest.index(start, offsetBy: text.count)
            }
            rest = rest.dropFirst()
        }
        return nil
    }
}

extension StringProtocol {
    /// Returns the range of the first occurrence of a text, compared byte by byte, or nil if there is none.
    package func firstRange(ofBytes text: String) -> Range<Index>? {
        utf8.firstRange(ofBytes: text)
    }

    /// Returns whether a text occurs in this one, compared byte by byte.
    package func contains(bytesOf text: String) -> Bool { firstRange(ofBytes: text) != nil }
}
