extension RouteURL {
    /// Removes the token: the query item `token`, however its name is encoded.
    ///
    /// - Returns: The URL without it, and the token; an empty one counts as none.
    /// - Throws: ``RouteURLError/Kind/repeatedToken`` where there are two.
    package func separatingToken() throws(RouteURLError) -> (url: RouteURL, token: RouteToken?) {
        guard spans.count > segmentCount, let item = try tokenItem() else { return (self, nil) }
        var rest = withoutQuery
        let kept = writtenItems.enumerated().filter { $0.offset != item }.map(\.element)
        if !kept.isEmpty { rest += "?" + kept.joined(separator: "&") }
        rest += text(queryEnd, text.utf8.count)
        let value = string(spans[segmentCount + 2 * item + 1])
        return (try RouteURL(rest), value.isEmpty ? nil : RouteToken(value))
    }

    private func tokenItem() throws(RouteURLError) -> Int? {
        var found: Int?
        for item in 0..<(spans.count - segmentCount) / 2 {
            let isToken = withBytes {
                $0.bytes(of: spans[segmentCount + 2 * item]).elementsEqual("token".utf8)
            }
            guard isToken else { continue }
            if found != nil { throw RouteURLError(.repeatedToken, at: offset(ofItem: item)) }
            found = item
        }
        return found
    }

    /// The query items as they were written, still encoded.
    var writtenItems: [Substring] {
        guard pathEnd < queryEnd else { return [] }
        let utf8 = text.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: pathEnd + 1)
        let end = utf8.index(utf8.startIndex, offsetBy: queryEnd)
        return utf8[start..<end].split(separator: UInt8(ascii: "&")).map(Substring.init)
    }

    private func offset(ofItem item: Int) -> Int {
        let utf8 = text.utf8
        return utf8.distance(from: utf8.startIndex, to: writtenItems[item].startIndex)
    }
}
