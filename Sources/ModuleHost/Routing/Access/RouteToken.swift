/// The secret that a remote call may carry to reach more than what is public.
///
/// It is shown by nothing: not by `print`, by interpolation, by the debugger's reflection.
package struct RouteToken: Sendable {
    private let bytes: [UInt8]

    package init(_ text: String) { bytes = Array(text.utf8) }

    /// Whether the token is `other`, found out in a time that depends on the length of `other` alone.
    package func matches(_ other: String) -> Bool { matches(RouteToken(other)) }

    /// Whether the token is `other`, found out in a time that depends on the length of `other` alone.
    package func matches(_ other: RouteToken) -> Bool {
        let other = other.bytes
        var difference = bytes.count ^ other.count
        for (index, byte) in other.enumerated() {
            let mine = index < bytes.count ? bytes[index] : ~byte
            difference |= Int(mine ^ byte)
        }
        return difference == 0
    }
}

extension RouteToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "•••" }
    package var debugDescription: String { "•••" }
    package var customMirror: Mirror { Mirror(self, children: [] as [Mirror.Child]) }
}

extension RouteURL {
    /// Takes the token out: the query item `token`, however its name is encoded.
    ///
    /// - Returns: The URL without it, and the token; an empty one counts as none.
    /// - Throws: ``URLFault/Kind/repeatedToken`` where there are two.
    package func separatingToken() throws(URLFault) -> (url: RouteURL, token: RouteToken?) {
        guard spans.count > segmentCount, let item = try tokenItem() else { return (self, nil) }
        var rest = withoutQuery
        let kept = writtenItems.enumerated().filter { $0.offset != item }.map(\.element)
        if !kept.isEmpty { rest += "?" + kept.joined(separator: "&") }
        rest += text(queryEnd, text.utf8.count)
        let value = string(spans[segmentCount + 2 * item + 1])
        return (try RouteURL(rest), value.isEmpty ? nil : RouteToken(value))
    }

    private func tokenItem() throws(URLFault) -> Int? {
        var found: Int?
        for item in 0..<(spans.count - segmentCount) / 2 {
            let isToken = withBytes {
                $0.bytes(of: spans[segmentCount + 2 * item]).elementsEqual("token".utf8)
            }
            guard isToken else { continue }
            if found != nil { throw URLFault(.repeatedToken, at: offset(ofItem: item)) }
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
