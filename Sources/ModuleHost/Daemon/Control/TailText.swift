/// The text of `hostd tail`: a line for each record, in the form of a log file.
package enum TailText {
    /// The members with a place of their own; all others follow as `name=value`.
    private static let columns = ["time", "level", "module", "event", "message", "ms"]

    /// Returns the line for an `event` notification, its newline included.
    ///
    /// - Parameters:
    ///   - event: The parameters of the notification.
    ///   - width: The characters in a line of the terminal, in which a long one is broken between words; nil for no terminal.
    package static func line(of event: JSONValue, width: Int? = nil) -> TerminalText {
        func text(_ column: String) -> String { event[column].map(Self.text) ?? "" }
        let module = event["module"].map(Self.text) ?? "host"
        let head: TerminalText =
            "\(text("time")) \(text("level").padded(to: 7))  \(module.padded(to: 16))  "
        var line = ""
        if event["event"] != nil { line += text("event") + "  " }
        line += text("message")
        if let took = event["ms"]?.milliseconds { line += " in \(took.briefText)" }
        for member in event.members where !columns.contains(member.key) {
            line += " \(member.key)=\(value(member.value))"
        }
        let rest: TerminalText = "\(line)"
        return head + (width.map { rest.continued(after: head.count, to: $0) } ?? rest) + "\n"
    }

    private static func text(_ value: JSONValue) -> String { value.string ?? value.text }

    /// Returns a text in quotes where it would not be recognized as one value.
    private static func value(_ value: JSONValue) -> String {
        guard let text = value.string else { return value.text }
        return text.isEmpty || text.contains { $0 == " " || $0 == "=" || $0 == "\"" }
            ? value.text : text
    }
}
