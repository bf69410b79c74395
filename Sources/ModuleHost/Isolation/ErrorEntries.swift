/// The lines of standard error, grouped into entries of the log: a traceback of Python, or the crash report
/// of Swift's runtime, is one entry with all its lines, at `error`; any other line is an entry at `info`.
struct ErrorEntries {
    typealias Entry = (level: LogLevel, text: String)

    /// The maximum number of lines of an entry; further lines begin another.
    static let limit = 256

    private enum Kind {
        /// An entry that ends with the first line that is not indented: the error itself.
        case traceback
        /// An entry that continues to the end of the process.
        case crash
    }

    private var kind: Kind?
    private var lines: [String] = []

    /// Whether lines are kept that may be the beginning of a longer entry.
    var isPending: Bool { !lines.isEmpty }

    /// Adds a line.
    ///
    /// - Returns: The entries that it ends.
    mutating func add(_ line: String) -> [Entry] {
        var ended: [Entry] = []
        if kind == nil {
            kind = Self.kind(ofFirst: line)
            if kind == nil { return [(.info, line)] }
        } else if kind == .traceback, Self.isCrash(line) {
            ended += flush()
            kind = .crash
        }
        lines.append(line)
        let isLast = kind == .traceback && !line.hasPrefix(" ") && !Self.isTraceback(line)
        if isLast {
            ended += flush()
        } else if lines.count == Self.limit {
            let kind = kind
            ended += flush()
            self.kind = kind
        }
        return ended
    }

    /// Ends the current entry, if there is one.
    mutating func flush() -> [Entry] {
        defer { (kind, lines) = (nil, []) }
        return lines.isEmpty ? [] : [(.error, lines.joined(separator: "\n"))]
    }

    private static func kind(ofFirst line: String) -> Kind? {
        isTraceback(line) ? .traceback : isCrash(line) ? .crash : nil
    }

    private static func isTraceback(_ line: String) -> Bool {
        line == "Traceback (most recent call last):"
            || line == "During handling of the above exception, another exception occurred:"
            || line == "The above exception was the direct cause of the following exception:"
    }

    private static func isCrash(_ line: String) -> Bool {
        line.hasPrefix("*** Signal ") || ErrorLines.isReason(line)
    }
}
