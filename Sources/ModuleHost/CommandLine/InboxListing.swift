/// The listing of `hostd inbox list`.
struct InboxListing {
    private let pending: InboxFilesListing
    private let rejected: DeadLetters.Contents
    private let limit: Int

    /// - Parameters:
    ///   - directory: The state directory, in which there is an inbox.
    ///   - limit: The maximum number of events of each kind.
    /// - Throws: An error where the files cannot be read.
    init(of directory: StateDirectory, limit: Int) throws(InboxError) {
        pending = try InboxFilesListing(in: directory, limit: limit)
        rejected = try DeadLetters(InboxFolder(in: directory)).contents()
        self.limit = limit
    }

    func report(_ arguments: Arguments) -> ExitCode {
        for notice in pending.notices { Console.printError("\(arguments.title): \(notice)") }
        if rejected.unreadable > 0 {
            Console.printError(
                """
                \(arguments.title): not as a host writes them, and left alone: lines of dead-letters.ndjson, \
                \(rejected.unreadable) of them
                """)
        }
        return arguments.has("json")
            ? Console.write(json: json) : Console.write(text(arguments.program.name))
    }

    private func text(_ program: String) -> TerminalText {
        var text: TerminalText = "\(pending.count) pending\n"
        if !pending.first.isEmpty {
            let head = ["  position", "event", "id", "time", "modules"]
            text += textTable(
                [head] + pending.first.map(row),
                notes: pending.first.map { event in
                    event.error.map { ["to be moved to the dead letters: \($0)"] } ?? []
                }, keeping: 4)
        }
        text += rest(pending.count)
        if !behind.isEmpty {
            text += behind.count == 1 ? "1 module behind\n" : "\(behind.count) modules behind\n"
            let rows = behind.map { ["  \($0.id)", "\($0.from)"] }
            text += textTable([["  module", "from"]] + rows)
        }
        text +=
            rejected.events.count == 1
            ? "1 dead letter\n" : "\(rejected.events.count) dead letters\n"
        let shown = rejected.events.prefix(limit)
        if !shown.isEmpty {
            let head = ["  position", "event", "id", "moved", "reason"]
            text += textTable([head] + shown.map(row), keeping: 4)
        }
        text += rest(rejected.events.count)
        guard !shown.isEmpty else { return text }
        let command = "\(program) inbox"
        return text
            + "'\(command) retry POSITION' delivers one once more, '… drop POSITION' removes it\n"
    }

    private var behind: [(id: ModuleID, from: EventPosition)] {
        pending.behind.sortedByText(\.key.text).map { ($0.key, $0.value) }
    }

    private func rest(_ count: Int) -> TerminalText {
        count > limit ? "  … and \(count - limit) more; '--limit N' shows more\n" : ""
    }

    private func row(_ event: InboxFilesListing.Event) -> [String] {
        let modules = event.modules?.list ?? "all"
        return [
            "  \(event.position)", event.kind?.rawValue ?? "?", shown(event.id), shown(event.time),
            event.error == nil ? modules : "",
        ]
    }

    private func row(_ event: DeadLetter) -> [String] {
        let modules = event.modules.map { "\($0.list): " } ?? ""
        return [
            "  \(event.position)", shown(event.kindName ?? "?"), shown(event.id), event.time,
            modules + excerpt(event.reason, limit: 500),
        ]
    }

    /// Returns foreign text in a form that cannot control a terminal.
    private func shown(_ text: String?) -> String { excerpt(text ?? "", limit: 200) }

    private var json: [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.member("pending") { $0.object { write(pending, to: &$0) } }
            $0.member("deadLetters") { $0.object { writeDeadLetters(to: &$0) } }
        }
        json.newline()
        return json.bytes
    }

    private func writeDeadLetters(to json: inout JSONWriter) {
        json.member("count", rejected.events.count)
        json.member("unreadable", rejected.unreadable)
        json.member("events") {
            $0.array { for event in rejected.events.prefix(limit) { event.write(&$0) } }
        }
    }

    private func write(_ pending: InboxFilesListing, to json: inout JSONWriter) {
        json.member("count", pending.count)
        if let next = pending.next { json.member("next", next.description) }
        if !behind.isEmpty {
            json.member("behind") {
                $0.object { for module in behind { $0.member(module.id.text, "\(module.from)") } }
            }
        }
        json.member("events") {
            $0.objects(for: pending.first) { event, json in
                json.member("position", event.position.description)
                if let kind = event.kind { json.member("event", kind.rawValue) }
                if let id = event.id { json.member("id", id) }
                if let time = event.time { json.member("time", time) }
                if let source = event.source { json.member("source", source) }
                if let modules = event.modules { json.member("modules", modules) }
                if let error = event.error {
                    json.member("error", error)
                }
            }
        }
    }
}

extension DeadLetter {
    /// The name of the event, where the line has one.
    var kindName: String? { (try? JSONValue(parsing: line))?["event"]?.string }

    /// The line for people, cut where it is long, without tokens of URLs.
    var shownLine: String {
        guard let record = try? JSONValue(parsing: line) else {
            return excerpt(RouteToken.hide(in: String(decoding: line, as: UTF8.self)), limit: 500)
        }
        var json = JSONWriter()
        json.redacted(record)
        return excerpt(String(decoding: json.bytes, as: UTF8.self), limit: 500)
    }

    /// Writes the event for a program: the record without tokens of URLs, or the line where it is not a
    /// record.
    func write(_ json: inout JSONWriter) {
        json.object {
            $0.member("position", position.description)
            if let id { $0.member("id", id) }
            $0.member("time", time)
            $0.member("reason", reason)
            if let attempt { $0.member("attempt", attempt) }
            if let modules { $0.member("modules", modules) }
            if let record = try? JSONValue(parsing: line) {
                $0.member("record") { $0.redacted(record) }
            } else {
                $0.member("line", RouteToken.hide(in: String(decoding: line, as: UTF8.self)))
            }
        }
    }
}

extension [ModuleID] {
    /// The modules as a list for people.
    var list: String { map(\.text).joined(separator: ", ") }
}
