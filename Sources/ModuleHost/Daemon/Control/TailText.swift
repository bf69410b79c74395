/// The text of `hostd tail`: a line for each record, in the form of a log file.
package enum TailText {
    /// The members with a place of their own; all others follow as `name=value`.
    private static let columns = ["time", "level", "module", "event", "message", "ms"]

    /// Returns the line for an `event` notification, its newline included.
    package static func line(of event: JSONValue) -> TerminalText {
        func text(_ column: String) -> String { event[column].map(Self.text) ?? "" }
        let module = event["module"].map(Self.text) ?? "host"
        var line =
            "\(text("time")) \(text("level").padded(to: 7))  \(module.padded(to: 16))  "
        if event["event"] != nil { line += text("event") + "  " }
        line += text("message")
        if let took = event["ms"]?.milliseconds { line += " in \(took.briefText)" }
        for member in event.members where !columns.contains(member.key) {
            line += " \(member.key)=\(value(member.value))"
        }
        return "\(line)\n"
    }

    private static func text(_ value: JSONValue) -> String { value.string ?? value.text }

    /// Returns a text in quotes where it would not be recognized as one value.
    private static func value(_ value: JSONValue) -> String {
        guard let text = value.string else { return value.text }
        return text.isEmpty || text.contains { $0 == " " || $0 == "=" || $0 == "\"" }
            ? value.text : text
    }
}
