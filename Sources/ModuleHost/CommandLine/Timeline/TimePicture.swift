import AppService

/// A picture of what took how long: a row for each thing, with the time as the horizontal axis.
struct TimePicture {
    /// A thing that took time, once or several times.
    struct Row {
        var label: String
        /// The kind of thing, which decides the color.
        var kind: String
        var spans: [Span]

        /// The time of all spans; nil where one is not over.
        var time: Duration? {
            spans.reduce(Duration.zero) { sum, span in
                guard let sum, let end = span.end else { return nil }
                return sum + (end - span.start)
            }
        }
        var problem: String? { spans.lazy.compactMap(\.problem).last }
        fileprivate var isCritical: Bool { spans.contains(where: \.isCritical) }
    }

    /// A time that a thing took.
    struct Span {
        /// The time from which on it could have begun; the same as `start` where it did not wait.
        var waits: Duration
        var start: Duration
        /// Nil where it is not over.
        var end: Duration?
        var isCritical = false
        var problem: String?
    }

    /// An instant, drawn as a line.
    struct Mark {
        var time: Duration
        var name: String
    }

    var title: String
    var rows: [Row]
    var marks: [Mark] = []

    var spans: [Span] { rows.flatMap(\.spans) }

    /// The time at the right edge.
    var end: Duration {
        let ends = spans.map { $0.end ?? $0.start } + marks.map(\.time)
        return max(ends.max() ?? .zero, .nanoseconds(1))
    }

    /// Returns the picture as text, a line for each row.
    ///
    /// - Parameter columns: The width of a line.
    func text(columns: Int) -> TerminalText {
        let end = end
        let labels = rows.map { $0.label.cut(to: 30) }
        let labelWidth = labels.map(\.count).max() ?? 0
        let times = rows.map { $0.time?.briefText ?? "…" }
        let timeWidth = times.map(\.count).max() ?? 0
        let width = max(10, columns - labelWidth - timeWidth - 5)
        func column(_ time: Duration) -> Int { min(max(Int(time / end * Double(width)), 0), width) }
        var text: TerminalText = ""
        for (index, row) in rows.enumerated() {
            var line = Array(repeating: Character(" "), count: width)
            for span in row.spans {
                let from = min(column(span.start), width - 1)
                for place in min(column(span.waits), from)..<from { line[place] = "·" }
                let to = max(from + 1, column(span.end ?? end))
                for place in from..<to { line[place] = span.isCritical ? "█" : "▒" }
            }
            let time = String(repeating: " ", count: timeWidth - times[index].count) + times[index]
            text +=
                "\(labels[index].padded(to: labelWidth)) \(time) │\(String(line))│"
                + "\(row.problem == nil ? "" : "!")\n"
        }
        return text + "\(key)\n"
    }

    private var key: String {
        let spans = spans
        var parts = ["0 to \(end.briefText)"]
        if spans.contains(where: \.isCritical) { parts.append("█ READY waited for it") }
        if spans.contains(where: { !$0.isCritical }) { parts.append("▒ other steps") }
        if spans.contains(where: { $0.waits < $0.start }) { parts.append("· waits") }
        if spans.contains(where: { $0.problem != nil }) { parts.append("! a problem") }
        return parts.joined(separator: ", ")
    }
}

extension String {
    /// Returns the text, or its end behind an ellipsis: the ends of ids differ more than their beginnings.
    func cut(to width: Int) -> String { count <= width ? self : "…" + suffix(width - 1) }
}
