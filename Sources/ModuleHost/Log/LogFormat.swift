import AppService

/// The format of a line of the log.
package enum LogFormat: Hashable, Sendable {
    /// For people: the local time of day, columns, and colors if requested.
    case terminal(colors: Bool)
    /// For a file: as on a terminal, with the date, in UTC and without colors.
    case file
    /// For the journal of systemd: a priority in front, and no time, which the journal adds itself.
    case journal
    /// For programs: one JSON object per line.
    case json

    /// Appends the record as one line, its newline included.
    ///
    /// The content of the record cannot add a line break, or another character that a terminal obeys.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - bytes: The text to append to.
    ///   - width: The characters in a line of the terminal, in which a long one is broken between words; nil for another format.
    package func append(_ record: LogRecord, to bytes: inout [UInt8], width: Int? = nil) {
        switch self {
        case .json:
            appendJSON(record, to: &bytes)
        case .journal:
            bytes.append(UInt8(ascii: "<"))
            bytes.appendDecimal(record.level.priority)
            bytes.append(UInt8(ascii: ">"))
            appendColumns(record, colors: false, to: &bytes)
        case .file:
            record.time.appendISO8601(to: &bytes)
            bytes.append(UInt8(ascii: " "))
            appendColumns(record, colors: false, to: &bytes)
        case .terminal(let colors):
            if colors { bytes.append("\u{1B}[2m") }
            record.time.appendLocalTimeOfDay(to: &bytes)
            if colors { bytes.append("\u{1B}[0m") }
            bytes.append(UInt8(ascii: " "))
            appendColumns(record, colors: colors, to: &bytes, width: width)
        }
    }

    private func appendColumns(
        _ record: LogRecord, colors: Bool, to bytes: inout [UInt8], width: Int? = nil
    ) {
        if colors { bytes.append(record.level.color) }
        bytes.append(record.level.column)
        bytes.append(colors ? "\u{1B}[0m  " : "  ")
        let module = bytes.count
        bytes.append(column: record.module ?? "host", width: 16)
        // A time of 12 characters and a level of 7 stand before it, with the spaces behind them.
        let column = 22 + bytes.count - module
        let start = bytes.count
        if let event = record.event {
            bytes.append(escaping: event, with: LineEscape.self)
            bytes.append("  ")
        }
        bytes.append(escaping: record.message, with: LineEscape.self)
        if let duration = record.duration {
            bytes.append(" in ")
            bytes.append(contentsOf: duration.briefText.utf8)
        }
        bytes.append(fields: record.fields)
        if let width, column + bytes.count - start > width {
            let text = String(decoding: bytes[start...], as: UTF8.self)
            bytes.removeSubrange(start...)
            bytes += TerminalText.continued(text, after: column, to: width).utf8
        }
        bytes.append(UInt8(ascii: "\n"))
    }

    private func appendJSON(_ record: LogRecord, to bytes: inout [UInt8]) {
        var json = JSONWriter(appendingTo: bytes)
        bytes = []
        json.object {
            $0.member("time", record.time)
            $0.member("level", record.level.rawValue)
            if let module = record.module { $0.member("module", module) }
            if let event = record.event { $0.member("event", event) }
            if let duration = record.duration {
                $0.member("ms", millisecondsOf: duration.wholeNanoseconds)
            }
            $0.member("message", record.message)
            for field in record.fields {
                switch field.value {
                case .string(let text): $0.member(field.name, text)
                case .integer(let number): $0.member(field.name, number)
                case .bool(let bool): $0.member(field.name, bool)
                }
            }
        }
        json.newline()
        bytes = json.bytes
    }
}

extension LogRecord: CustomStringConvertible {
    /// The record as a line of a log file, without its line break.
    public var description: String {
        var bytes: [UInt8] = []
        LogFormat.file.append(self, to: &bytes)
        return String(decoding: bytes.dropLast(), as: UTF8.self)
    }

    /// The record with each character that a terminal obeys shown as an escape, such as `\n` or `\u{1b}`.
    ///
    /// For a log that writes texts as they are: modules and senders of events choose parts of them.
    public var escaped: LogRecord {
        func escaped(_ text: String) -> String { TerminalText(escaping: text).string }
        var record = self
        record.message = escaped(message)
        record.event = event.map(escaped)
        record.fields = fields.map { field in
            switch field.value {
            case .string(let text): LogField(escaped(field.name), escaped(text))
            case .integer(let number): LogField(escaped(field.name), number)
            case .bool(let bool): LogField(escaped(field.name), bool)
            }
        }
        return record
    }

    /// The message with its fields behind it, for a log without fields.
    var messageWithFields: String {
        guard !fields.isEmpty else { return message }
        var bytes = Array(message.utf8)
        bytes.append(fields: fields)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension LogLevel {
    /// The priority of syslog and the journal.
    fileprivate var priority: Int {
        switch self {
        case .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        }
    }

    /// The name, padded with spaces to the longest one.
    fileprivate var column: StaticString {
        switch self {
        case .debug: "debug  "
        case .info: "info   "
        case .notice: "notice "
        case .warning: "warning"
        case .error: "error  "
        }
    }

    fileprivate var color: StaticString {
        switch self {
        case .debug: "\u{1B}[2m"
        case .info: "\u{1B}[32m"
        case .notice: "\u{1B}[36m"
        case .warning: "\u{1B}[33m"
        case .error: "\u{1B}[1;31m"
        }
    }
}

extension [UInt8] {
    /// Appends the text, padded with spaces to `width` bytes, and two more; longer text is not cut.
    fileprivate mutating func append(column text: String, width: Int) {
        let start = count
        append(escaping: text, with: LineEscape.self)
        let spaces = Swift.max(width - (count - start), 0) + 2
        append(addingCapacity: spaces) {
            $0.append(repeating: UInt8(ascii: " "), count: spaces)
        }
    }

    /// Appends each field, with a space in front.
    fileprivate mutating func append(fields: [LogField]) {
        for field in fields {
            append(UInt8(ascii: " "))
            append(escaping: field.name, with: LineEscape.self)
            append(UInt8(ascii: "="))
            switch field.value {
            case .string(let text): append(fieldValue: text)
            case .integer(let number): appendDecimal(number)
            case .bool(let bool): append(bool ? "true" : "false")
            }
        }
    }

    /// Appends the text, in quotes where it would not be recognized as one value.
    fileprivate mutating func append(fieldValue text: String) {
        let isOneWord = text.utf8.allSatisfy {
            $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "\"")
        }
        if isOneWord, !text.isEmpty { return append(escaping: text, with: LineEscape.self) }
        append(quoting: text, with: QuotedEscape.self)
    }
}

/// The escaping of text in a line for people: characters that would move the cursor, end the line, start an
/// escape sequence or turn the direction of writing are shown instead of obeyed.
enum LineEscape: TextEscape {
    static func needsEscape(_ scalar: UInt32) -> Bool { isObeyed(scalar) }

    static func appendEscape(of scalar: UInt32, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch scalar {
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        default:
            bytes.append(UInt8(ascii: "u"))
            bytes.append(UInt8(ascii: "{"))
            bytes.appendHexadecimal(scalar, digits: scalar < 0x100 ? 2 : 4)
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

/// The escaping of text between quotes in such a line.
private enum QuotedEscape: TextEscape {
    static func needsEscape(_ scalar: UInt32) -> Bool {
        scalar == 0x22 || LineEscape.needsEscape(scalar)
    }

    static func appendEscape(of scalar: UInt32, to bytes: inout [UInt8]) {
        guard scalar == 0x22 else { return LineEscape.appendEscape(of: scalar, to: &bytes) }
        bytes.append("\\\"")
    }
}
