/// The lines of standard error, whatever their content.
struct ErrorLines {
    /// The number of bytes that are kept of a line.
    let limit: Int
    /// The last lines; before them, if it is not among them, the line with the reason of a Swift trap: a
    /// hundred others follow it.
    var last: [String] { (verdict.map { lines.contains($0) ? [] : [$0] } ?? []) + lines }

    private var lines: [String] = []
    private var verdict: String?
    private var line: [UInt8] = []
    private var isCut = false

    private static let kept = 10

    init(limit: Int) { self.limit = limit }

    /// Returns the lines that end in these bytes.
    mutating func lines(in bytes: ArraySlice<UInt8>) -> [String] {
        var found: [String] = []
        for part in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            if part.offset > 0 { found += end() }
            let room = limit - line.count
            line += part.element.prefix(room)
            if part.element.dropFirst(room).contains(where: { $0 != UInt8(ascii: "\r") }) {
                isCut = true
            }
        }
        return found
    }

    /// Returns whether a line is the one in which a Swift program gives the reason of its crash.
    static func isReason(_ line: String) -> Bool {
        line.contains(bytesOf: "Fatal error: ") || line.hasPrefix("*** Program crashed: ")
    }

    /// Returns the rest, which has no line break.
    mutating func rest() -> [String] { line.isEmpty ? [] : end() }

    private mutating func end() -> [String] {
        defer { (line, isCut) = ([], false) }
        while line.last == UInt8(ascii: "\r") { line.removeLast() }
        if line.isEmpty { return [] }
        let text = String(decoding: line, as: UTF8.self) + (isCut ? "…" : "")
        lines = lines.suffix(Self.kept - 1) + [text]
        if Self.isReason(text), verdict == nil { verdict = text }
        return [text]
    }
}
