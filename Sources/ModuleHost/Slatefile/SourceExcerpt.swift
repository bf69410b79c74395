/// The line of a diagnostic as a message shows it, and the marker under it.
struct SourceExcerpt: Hashable, Sendable {
    /// The line, cut around the place if it is long; no character in it moves a terminal's cursor but tabs.
    let line: String
    /// The caret, and before it a tab for each tab and a space for each other character.
    let marker: String

    /// An excerpt without a line, where none may be shown.
    static let none = SourceExcerpt(around: 0, in: [], lineStart: 0)

    /// The number of characters of a line that are shown: all of them, or this many before and after the
    /// first of the diagnostic.
    private static let reach = (whole: 120, before: 60, after: 40)
    /// The number of bytes that are read for each character; of longer clusters fewer are shown.
    private static let bytesPerCharacter = 4

    /// Cuts the line around `offset` out of a text, with `*` for tokens in it.
    ///
    /// - Parameter lineStart: The offset at which its line begins.
    init(around offset: Int, in bytes: [UInt8], lineStart: Int) {
        let offset = min(max(offset, lineStart), bytes.count)
        let limit = min(bytes.count, offset + Self.reach.whole * Self.bytesPerCharacter)
        var end = offset
        while end < limit, bytes[end] != UInt8(ascii: "\n") { end += 1 }
        let hasEnd = end == bytes.count || bytes[end] == UInt8(ascii: "\n")
        if hasEnd, end > offset, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }

        let start = max(lineStart, offset - Self.reach.whole * Self.bytesPerCharacter)
        let (before, after) = Self.parts(of: bytes, start, offset, end, lineStart: lineStart)
        let isWhole =
            start == lineStart && hasEnd && before.count + after.count <= Self.reach.whole
        let shownBefore = isWhole ? before[...] : before.suffix(Self.reach.before)
        let shownAfter = isWhole ? after[...] : after.prefix(Self.reach.after)
        let isCutBefore = start > lineStart || shownBefore.startIndex > before.startIndex
        let isCutAfter = !hasEnd || shownAfter.endIndex < after.endIndex

        line =
            (isCutBefore ? "…" : "") + Self.visible(shownBefore) + Self.visible(shownAfter)
            + (isCutAfter ? "…" : "")
        marker = (isCutBefore ? " " : "") + Self.blank(shownBefore) + "^"
    }

    /// Returns the text before and after `offset`, tokens masked; also a token that begins before `start`.
    private static func parts(
        of bytes: [UInt8], _ start: Int, _ offset: Int, _ end: Int, lineStart: Int
    ) -> (before: String, after: String) {
        let first = max(lineStart, start - TokenStore.Limits.tokenLength.upperBound - 16)
        var masked = Array(bytes[first..<end])
        RouteToken.mask(in: &masked)
        return (
            String(decoding: masked[(start - first)..<(offset - first)], as: UTF8.self),
            String(decoding: masked[(offset - first)...], as: UTF8.self)
        )
    }

    private static func visible(_ text: Substring) -> String {
        var visible = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            visible.append(scalar == "\t" ? scalar : printable(scalar))
        }
        return String(visible)
    }

    /// Returns white space as wide as `text`.
    private static func blank(_ text: Substring) -> String {
        var blank = ""
        for character in text { blank += character == "\t" ? "\t" : isWide(character) ? "  " : " " }
        return blank
    }

    /// Returns whether a terminal gives the character two columns: East Asian scripts and emoji.
    private static func isWide(_ character: Character) -> Bool {
        guard let scalar = character.unicodeScalars.first else { return false }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return true
        default: return false
        }
    }
}
