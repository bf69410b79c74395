/// The text of `hostd tail`: a line of columns for each record.
package enum TailText {
    /// The members with columns of their own, in this order; all others follow as `name=value`.
    private static let columns = ["time", "level", "module", "event", "message"]

    /// Returns the line for an `event` notification, its newline included.
    package static func line(of event: JSONValue) -> TerminalText {
        var parts: [String] = []
        for column in columns {
            let text = event[column].map(text) ?? (column == "module" ? "host" : "")
            // The first three are usually present, and of about one length.
            let width = ["time": 24, "level": 7, "module": 16][column] ?? 0
            if !text.isEmpty || width > 0 { parts.append(text.padded(to: width)) }
        }
        for member in event.members where !columns.contains(member.key) {
            parts.append("\(member.key)=\(text(member.value))")
        }
        return "\(parts.joined(separator: "  "))\n"
    }

    private static func text(_ value: JSONValue) -> String { value.string ?? value.text }
}
