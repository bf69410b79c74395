/// The dead letters that a command line names: by position, by id, or all.
struct DeadLetterChoice {
    private let folder: InboxFolder
    private let asJSON: Bool
    /// The command, as its messages begin.
    private let title: String
    private let events: [DeadLetter]
    /// The names without a dead letter.
    private let unknown: [String]

    /// - Throws: An error where `dead-letters.ndjson` cannot be read.
    init(_ folder: InboxFolder, _ arguments: Arguments) throws(InboxError) {
        self.folder = folder
        asJSON = arguments.has("json")
        title = arguments.title
        let all = try DeadLetters(folder).contents().events
        let names = Set(arguments.operands.dropFirst())
        if arguments.has("all") {
            events = all
            unknown = []
        } else {
            events = all.filter { !names.isDisjoint(with: $0.names) }
            unknown = names.subtracting(all.flatMap(\.names)).sorted()
        }
    }

    /// Prints them, and then removes them permanently: what cannot be printed is not removed, and what is
    /// removed was printed.
    func drop() throws(InboxError) -> ExitCode {
        guard unknown.isEmpty else { return reportUnknown("dropped") }
        let code = printDropped()
        guard code == .success else {
            Console.printError("\(title): nothing was dropped, since it cannot be printed")
            return code
        }
        let chosen = Set(events)
        do throws(InboxError) {
            _ = try DeadLetters(folder).take { chosen.contains($0) }
            return .success
        } catch {
            Console.printError("\(title): nothing was dropped: what is printed stays a dead letter")
            throw error
        }
    }

    private func printDropped() -> ExitCode {
        if asJSON {
            return printJSON { json in
                json.member("dropped") { $0.array { for event in events { event.write(&$0) } } }
            }
        }
        if events.isEmpty { return Console.write("no dead letters\n") }
        return Console.write(
            events.map { event -> TerminalText in
                "dropped \(event.title): \(excerpt(event.reason, limit: 500))\n  \(event.shownLine)\n"
            }.joined())
    }

    /// Appends them to the inbox and then removes them: if the process dies in between, an event is there
    /// twice, but never not at all.
    func retry() throws(InboxError) -> ExitCode {
        guard unknown.isEmpty else { return reportUnknown("retried") }
        var batch = RetryBatch()
        for event in events { batch.add(event) }
        let (places, failure) = try batch.append(to: folder)
        let retried = Set(places.map(\.event))
        _ = try DeadLetters(folder).take { retried.contains($0) }
        for (event, error) in batch.diagnostics {
            Console.printError(
                """
                \(title): \(event.title) cannot be retried: \(error)
                send it again as it should be, and drop this one
                """)
        }
        if let failure {
            Console.printError("\(title): \(failure); what is not retried stays a dead letter")
        }
        let code = failure?.exitCode ?? (batch.diagnostics.isEmpty ? .success : .failed)
        if asJSON {
            return printJSON(then: code) { json in
                json.member("retried") { list in
                    list.objects(for: places) { place, json in
                        json.member("position", place.event.position.description)
                        if let id = place.event.id { json.member("id", id) }
                        json.member("as", place.place.description)
                    }
                }
            }
        }
        if events.isEmpty { return Console.write("no dead letters\n") }
        return Console.write(
            places.map { place -> TerminalText in
                "retried \(place.event.title) as \(place.place)\n"
            }.joined(), then: code)
    }

    private func reportUnknown(_ done: String) -> ExitCode {
        let names = unknown.map { "'\(excerpt($0, limit: 200))'" }.joined(separator: ", ")
        Console.printError(
            """
            \(title): no dead letter has the position or id \(names); nothing was \(done)
            see '\(title) list'
            """)
        return .unavailable
    }

    private func printJSON(
        then code: ExitCode = .success, _ write: (inout JSONWriter) -> Void
    ) -> ExitCode {
        var json = JSONWriter()
        json.object(write)
        json.newline()
        return Console.write(json: json.bytes, then: code)
    }
}

/// Dead letters on their way back into the inbox.
private struct RetryBatch {
    /// The size of a write that does not keep the inbox's lock too long.
    private static let size = 1 << 20

    private(set) var diagnostics: [(event: DeadLetter, error: InboxRecordError)] = []
    private var chunks: [(events: [DeadLetter], lines: [[UInt8]])] = []
    private var bytes = 0

    mutating func add(_ event: DeadLetter) {
        do throws(InboxRecordError) {
            let line = try event.lineForRetry()
            if chunks.isEmpty || bytes + line.count > Self.size {
                chunks.append(([], []))
                bytes = 0
            }
            bytes += line.count
            chunks[chunks.count - 1].events.append(event)
            chunks[chunks.count - 1].lines.append(line)
        } catch {
            diagnostics.append((event, error))
        }
    }

    /// - Returns: The new position of each, and where the disk took only some, the reason.
    /// - Throws: An error where it took none.
    func append(
        to folder: InboxFolder
    ) throws(InboxError) -> (
        places: [(event: DeadLetter, place: EventPosition)], failure: InboxError?
    ) {
        guard !chunks.isEmpty else { return ([], nil) }
        let writer = try InboxWriter(folder)
        var places: [(event: DeadLetter, place: EventPosition)] = []
        for chunk in chunks {
            do throws(InboxError) {
                places += zip(chunk.events, try writer.append(chunk.lines)).map { ($0, $1) }
            } catch {
                if places.isEmpty { throw error }
                return (places, error)
            }
        }
        return (places, nil)
    }
}

extension DeadLetter {
    /// The names that select it on a command line.
    fileprivate var names: [String] { [position.description, id].compactMap(\.self) }

    /// The event in short, such as `1:4096 push order-17`.
    fileprivate var title: String {
        [position.description, kindName, id, modules.map { "for \($0.list)" }]
            .compactMap { $0.map { excerpt($0, limit: 200) } }.joined(separator: " ")
    }
}
