import AppService

extension Command {
    static let why = Command(
        name: "why", summary: "explain what is wrong or one module or event or URL",
        discussion: """
            Without an argument: what is wrong now, the worst first. With a MODULE: its state, since when
            and why, what needs it and waits for it, what happens next, the command that helps, and the
            last ten entries about it in the record. With an EVENT, a position in the inbox or the id that
            its sender gave it: whether it is done, and if not, which modules have yet to handle it or why
            it is a dead letter. A text that is a module and an id is the module. With a URL: the route that
            answers it, whether you may open it, and the state of its module; nothing is opened. With a
            TRACE, a traceparent or the id in it: the events and calls that are a part of it, each below
            what has set it off. Of these the record keeps those that took 1 ms or failed, and those whose
            traceparent ends in 1; see run --record.

            Where no host runs, this comes from the black box, the record and the inbox that the last one
            has left. That of an event always does: of another user's host it is not shown.
            """,
        operands: [
            Operand(
                placeholder: "MODULE|EVENT|URL|TRACE",
                help: "the id of a module; a position or id of an event; a URL; a trace")
        ],
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: clientExitCodes,
        exitMeanings: clientExitMeanings.merging([
            .success: "success, also when something is wrong",
            .unavailable:
                "no such module, event or trace; or no host runs, and none has left a record",
        ]) { $1 },
        examples: [
            Example(line: "why", explanation: "what is wrong now"),
            Example(line: "why com.mm.push", explanation: "the story of a module"),
            Example(line: "why 3:4096", explanation: "what became of an event"),
            Example(line: "why shop:///orders/7", explanation: "what answers a URL"),
            Example(
                line: "why 4bf92f3577b34da6a3ce929d0e0e4736",
                explanation: "what a request has set off"),
        ],
        run: { arguments in
            let name = arguments.operands.first
            let isPosition = name.flatMap(EventPosition.init) != nil
            return HostCall.run(
                arguments,
                recover: { error in
                    switch error {
                    // Which modules have which routes, only a host knows.
                    case .notRunning where name.map(WhyReport.isURL) == true:
                        explainEvent(name, whileRunning: false, arguments)
                    case .notRunning where isPosition:
                        explainEvent(name, whileRunning: false, arguments)
                    case .notRunning: explain(name, left: arguments)
                    case .refused(let refusal) where refusal.code == .notFound:
                        explainEvent(name, whileRunning: true, arguments, orElse: "\(error)")
                    // A module may keep the host from answering: perhaps in the very event.
                    case .refused(let refusal) where refusal.code == .overdue:
                        explainEvent(name, whileRunning: true, arguments)
                    case .notListening, .timedOut, .noResponse:
                        explainEvent(name, whileRunning: true, arguments)
                    default: nil
                    }
                },
                { call throws(HostClientError) in
                    if isPosition, let code = explainEvent(name, whileRunning: true, arguments) {
                        return code
                    }
                    let report = try call.client.call("why") { json in
                        json.object { if let name { $0.member("module", name) } }
                    }
                    if report["findings"]?.elements.map(\.self).first?["state"]?.string
                        == "no route",
                        let code = explainEvent(name, whileRunning: true, arguments)
                    {
                        return code
                    }
                    return write(report, arguments)
                })
        })

    /// Explains what the files of a host say that does not run any more; nil where there are none.
    private static func explain(_ name: String?, left arguments: Arguments) -> ExitCode? {
        let directory = arguments.stateDirectory
        CurrentProcess.actAsOwner(of: directory.path)
        do throws(NoSuchModule) {
            var found = try WhyReport.left(
                in: directory, of: name, program: arguments.program.name, at: .now())
            if name == nil, let invalid = slatefileFinding(arguments) {
                if found == nil {
                    found = WhyReport(
                        isRunning: false,
                        "no host runs on the state directory \(quoted(directory.path)), and none has left a record",
                        at: .now())
                }
                found?.findings.insert(invalid, at: 0)
            }
            if let found { return write(found, arguments) }
            return explainEvent(name, whileRunning: false, arguments)
        } catch  where TraceID(name ?? "") != nil {
            return explainEvent(
                name, whileRunning: false, arguments,
                orElse: "nothing of this trace is in the record: " + WhyReport.untraced)
        } catch {
            return explainEvent(name, whileRunning: false, arguments, orElse: "\(error)")
        }
    }

    /// Returns what keeps a host from starting: an invalid slatefile; nil for one that is valid, and where there is none.
    private static func slatefileFinding(_ arguments: Arguments) -> WhyReport.Finding? {
        let path = arguments["slatefile"] ?? defaultSlatefile
        guard fileExists(path) else { return nil }
        do throws(SlatefileFailure) {
            let slatefile = try Slatefile.load(path, environment: CurrentProcess.environment())
            _ = try slatefile.loadTokens(beside: path)
            return nil
        } catch {
            var finding = WhyReport.Finding(
                nil, "the slatefile is not valid: a host does not start")
            finding.reason = error.summary
            finding.command = "\(arguments.program.name) check \(shellQuoted(path))"
            return finding
        }
    }

    /// Explains what became of an event, or what is kept of a trace.
    ///
    /// - Parameters:
    ///   - name: Its position or id; the id of a trace.
    ///   - isRunning: Whether a host runs.
    ///   - arguments: The arguments of the command.
    ///   - problem: The message where there is no such event.
    /// - Returns: Nil where there is no such event, and no message.
    private static func explainEvent(
        _ name: String?, whileRunning isRunning: Bool, _ arguments: Arguments,
        orElse problem: String? = nil
    ) -> ExitCode? {
        guard let name else { return nil }
        let (directory, program) = (arguments.stateDirectory, arguments.program.name)
        CurrentProcess.actAsOwner(of: directory.path)
        if let trace = TraceID(name),
            let found = WhyReport.of(
                trace, in: RecordContents(in: directory), isRunning: isRunning, at: .now())
        {
            return write(found, arguments)
        }
        do throws(InboxError) {
            let found = try WhyReport.event(
                name, in: directory, isRunning: isRunning, program: program, at: .now())
            if let found { return write(found, arguments) }
        } catch {
            Console.printError("\(arguments.title): \(error)")
            return error.exitCode
        }
        guard EventPosition(name) == nil else {
            Console.printError(
                "\(arguments.title): no event is at \(name) in the inbox of the state directory "
                    + "\(quoted(directory.path)); '\(program) inbox' shows those that are not done")
            return .unavailable
        }
        guard let problem else { return nil }
        Console.printError("\(arguments.title): \(problem)")
        Console.printError("no event in the inbox has this id either")
        return .unavailable
    }

    private static func write(_ report: WhyReport, _ arguments: Arguments) -> ExitCode {
        JSONValue(writing: report.write).map { write($0, arguments) } ?? .failed
    }

    private static func write(_ report: JSONValue, _ arguments: Arguments) -> ExitCode {
        if arguments.has("json") { return Console.write(json: report) }
        let isOfModule = report["findings"]?.elements.map(\.self).first?["module"] != nil
        return Console.write(
            text(
                ofReport: report, namesModules: !isOfModule || arguments.operands.isEmpty,
                arguments))
    }

    /// Returns the report in words, in lines of 80 characters at most but for long words.
    private static func text(
        ofReport report: JSONValue, namesModules: Bool, _ arguments: Arguments
    ) -> TerminalText {
        var text = lines("", report["summary"]?.string ?? "", margin: 0)
        let findings = report["findings"]?.elements.map(\.self) ?? []
        for finding in findings { text += "\n" + block(finding, arguments) }
        let record = report["record"]?.elements.map(\.self) ?? []
        if findings.isEmpty, record.isEmpty, report["running"]?.bool == true {
            text += "nothing is wrong\n"
        }
        if !record.isEmpty { text += "\n" }
        return text + recordText(record, namesModules: namesModules)
    }

    /// Returns entries of the record, a line or several for each.
    static func recordText(_ entries: [JSONValue], namesModules: Bool) -> TerminalText {
        entries.map { entry in
            let name = namesModules ? entry["module"]?.string.map { "\($0): " } ?? "" : ""
            // As far as a text has room beside it.
            let depth = max(0, min(entry["depth"]?.int ?? 0, 12))
            return lines(
                entry["time"]?.string ?? "", name + (entry["text"]?.string ?? ""),
                margin: 26 + 2 * depth)
        }.joined()
    }

    private static func block(_ finding: JSONValue, _ arguments: Arguments) -> TerminalText {
        let state = finding["state"]?.string ?? ""
        let time = finding["since"]?.string.map { " since \($0)" } ?? ""
        let age = finding["forMs"]?.milliseconds.map { " (\($0.briefText))" } ?? ""
        var text = lines(
            "", (finding["module"]?.string.map { "\($0): " } ?? "") + state + time + age, margin: 0)
        func row(_ name: String, _ value: String?) {
            if let value { text += lines("  \(name)", value, margin: 13) }
        }
        row("reason", finding["reason"]?.string)
        let needing = finding["neededBy"]?.elements.compactMap(\.string) ?? []
        row("needed by", needing.isEmpty ? nil : needing.shortList())
        let waiting = [("events", "event"), ("calls", "call")].compactMap { key, word in
            finding[key]?.int.map { "\($0) \($0 == 1 ? word : key)" }
        }
        row("waiting", waiting.isEmpty ? nil : waiting.joined(separator: ", "))
        row("next", finding["next"]?.string)
        // Not filled: it is to be copied.
        if let command = finding["command"]?.string {
            text += "  command    \(arguments.selectingHost(command))\n"
        }
        return text
    }

    /// Returns a text in lines behind a heading.
    static func lines(_ head: String, _ text: String, margin: Int) -> TerminalText {
        let indent = String(repeating: " ", count: margin)
        return filled(text, to: helpWidth - margin).enumerated().map {
            index, line -> TerminalText in
            "\(index == 0 ? head.padded(to: margin) : indent)\(line)\n"
        }.joined()
    }
}
