import AppService

extension Command {
    static let timeline = Command(
        name: "timeline", summary: "print what happened in the host and when",
        discussion: """
            The entries of the record: starts and ends of hosts, the states of modules, start-up tasks and
            events that took long, errors. Where no host runs, it reads the record that the last one left.

            The trace is in the format of Chrome: open it at https://ui.perfetto.dev. The SVG shows what took
            time, as bars.
            """,
        options: [
            Option(
                name: "since", placeholder: "TIME",
                help: """
                    how long ago it begins, as 10m, or a time, as 2026-03-01T09:41:00Z; or 'all' (default: \
                    launch, the start of the newest host)
                    """),
            Option(
                name: "limit", placeholder: "N",
                help: "the number of entries, the newest ones (default: \(TimelineReport.limit))"),
            Option(
                name: "format", placeholder: "FORMAT",
                choices: TimelineFormat.allCases.map(\.rawValue), help: "(default: text)"),
            .slatefile, .stateDirectory, .json,
        ],
        exitCodes: clientExitCodes,
        exitMeanings: clientExitMeanings.merging([
            .unavailable: "no host runs, and none has left a record; or the host keeps none"
        ]) { $1 },
        examples: [
            Example(line: "timeline --since 10m", explanation: "the last ten minutes"),
            Example(
                line: "timeline --since all --format trace >trace.json",
                explanation: "all that is known, for Perfetto"),
        ],
        usageError: { arguments in
            let since = arguments["since"] ?? "launch"
            guard TimelineReport.Start(since) != nil else {
                return """
                    '\(since)' is not a value of '--since': it is 'launch', 'all', a duration such as 10m or a \
                    time such as 2026-03-01T09:41:00Z
                    """
            }
            guard limit(of: arguments) != nil else {
                return """
                    '\(arguments["limit"] ?? "")' is not a value of '--limit', which takes a number from 1 to \
                    \(TimelineReport.limits.upperBound)
                    """
            }
            if arguments.has("json"), let format = arguments["format"], format != "json" {
                return "--json and --format \(format) exclude each other"
            }
            return nil
        },
        run: { arguments in
            HostCall.run(
                arguments,
                recover: { error in
                    guard case .notRunning = error else { return nil }
                    return show(left: arguments)
                },
                { call throws(HostClientError) in
                    let report = try call.client.call("timeline") { json in
                        json.object {
                            $0.member("since", arguments["since"] ?? "launch")
                            $0.member("limit", limit(of: arguments) ?? TimelineReport.limit)
                        }
                    }
                    return show(report, arguments)
                })
        })

    private static func limit(of arguments: Arguments) -> Int? {
        guard let text = arguments["limit"] else { return TimelineReport.limit }
        return Int(text).flatMap { TimelineReport.limits.contains($0) ? $0 : nil }
    }

    /// Shows the record that a host has left which does not run any more; nil where there is none.
    private static func show(left arguments: Arguments) -> ExitCode? {
        let directory = arguments.stateDirectory
        CurrentProcess.actAsOwner(of: directory.path)
        guard let start = TimelineReport.Start(arguments["since"] ?? "launch"),
            let limit = limit(of: arguments),
            let report = TimelineReport.left(in: directory, from: start, limit: limit, at: .now()),
            let value = JSONValue(writing: report.write)
        else { return nil }
        return show(value, arguments)
    }

    private static func show(_ report: JSONValue, _ arguments: Arguments) -> ExitCode {
        let format =
            arguments.has("json")
            ? .json : arguments["format"].flatMap(TimelineFormat.init(rawValue:)) ?? .text
        let entries = report["entries"]?.elements.map(\.self) ?? []
        switch format {
        case .json: return Console.write(json: report)
        case .text:
            return Console.write(
                recordText(entries, namesModules: true) + note(on: report, entries, arguments))
        case .trace:
            let trace = TimelineTrace(tracks: TimelineTracks(entries), title: title(of: report))
            return Console.write(json: trace.json)
        case .svg:
            let picture = TimelineTracks(entries).picture(titled: title(of: report))
            return Console.write(TerminalText(lines: picture.svg))
        }
    }

    private static func title(of report: JSONValue) -> String {
        let first = report["from"]?.string.map { " from \($0)" }
        return "Timeline\(first ?? "")"
    }

    /// Returns the end of the text: what is left out, or that there is nothing.
    private static func note(
        on report: JSONValue, _ entries: [JSONValue], _ arguments: Arguments
    ) -> TerminalText {
        let known = report["knownSince"]?.string.map { "; the record begins at \($0)" } ?? ""
        if entries.isEmpty { return lines("", "no entries since then\(known)", margin: 0) }
        guard report["cut"]?.bool == true else { return "" }
        let text =
            "earlier entries are left out: '--limit' shows more than \(entries.count)\(known)"
        return lines("", text, margin: 0)
    }
}

private enum TimelineFormat: String, CaseIterable {
    case text
    case json
    case trace
    case svg
}
