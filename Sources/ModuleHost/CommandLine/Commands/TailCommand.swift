extension Command {
    static let tail = Command(
        name: "tail", summary: "follow the log from its last lines on",
        discussion: """
            Where no host runs, it waits for one. It ends when the host ends, or by Ctrl-C.

            The level is its own: with --level debug it shows more than the log has. A line is about a module
            if the module wrote it, or if it names the module. Earlier lines are those that the log wrote: the
            host keeps the last \(TailRequest.counts.upperBound). 'timeline' prints what its record keeps longer.

            The host never waits for its followers: one that reads too slowly loses the oldest lines, and is
            notified how many.
            """,
        options: [
            Option(
                name: "lines", letter: "n", placeholder: "N",
                help: """
                    the number of lines to begin with, 0 to \(TailRequest.counts.upperBound) (default: \(defaultCount), or all \
                    since --since)
                    """),
            Option(
                name: "since", placeholder: "TIME",
                help: """
                    how long ago the lines begin, as 10m, or a time, as 2026-03-01T09:41:00Z
                    """),
            Option(name: "module", placeholder: "MODULE", help: "only lines about this module"),
            Option(
                name: "event", placeholder: "EVENT", choices: EventKind.allCases.map(\.rawValue),
                help: "(default: every line)"),
            Option(
                name: "level", placeholder: "LEVEL", choices: LogLevel.allCases.map(\.rawValue),
                help: "(default: \(TailRequest.level.rawValue))"),
            .slatefile, .stateDirectory, .json,
        ],
        exitCodes: clientExitCodes,
        exitMeanings: clientExitMeanings.merging([
            .unavailable: "the host has no such module"
        ]) { $1 },
        examples: [
            Example(line: "tail -n 100", explanation: "a hundred lines, and those that follow"),
            Example(
                line: "tail --module com.mm.push --level debug",
                explanation: "all that one module does"),
            Example(line: "tail --since 5m --event push --json", explanation: "for programs"),
        ],
        usageError: { arguments in
            if let text = arguments["lines"], count(of: arguments) == nil {
                return """
                    '\(text)' is not a value of '--lines', which takes a number from 0 to \
                    \(TailRequest.counts.upperBound)
                    """
            }
            if let text = arguments["since"], TimelineReport.Start(text)?.time(at: .now()) == nil {
                return """
                    '\(text)' is not a value of '--since': it is a duration such as 10m or a time such as \
                    2026-03-01T09:41:00Z
                    """
            }
            return nil
        },
        run: { arguments in
            do throws(HostClientError) {
                let client = try HostWaiter(arguments, within: nil).firstAnswer {
                    let elsewhere =
                        arguments.has("state-dir") ? "" : " ('--state-dir' chooses another one)"
                    Console.printError("\(arguments.title): \($0)\(elsewhere); waiting for one")
                } _: { client throws(HostClientError) in
                    try begin(client, arguments)
                    return client
                }
                return show(client, arguments)
            } catch {
                Console.printError("\(arguments.title): \(error)")
                return error.exitCode
            }
        })

    private static let defaultCount = 10

    private static func count(of arguments: Arguments) -> Int? {
        guard let text = arguments["lines"] else {
            return arguments.has("since") ? TailRequest.counts.upperBound : defaultCount
        }
        return Int(text).flatMap { TailRequest.counts.contains($0) ? $0 : nil }
    }

    private static func begin(
        _ client: HostClient, _ arguments: Arguments
    ) throws(HostClientError) {
        let start = try client.call("tail") {
            HostClient.writeTail(
                of: arguments["module"], event: arguments["event"], level: arguments["level"],
                last: count(of: arguments) ?? defaultCount, since: arguments["since"], to: &$0)
        }
        guard let since = arguments["since"].flatMap(TimelineReport.Start.init)?.time(at: .now()),
            let kept = start["keptSince"]?.string.flatMap(WallTime.init), since < kept
        else { return }
        Console.printError(
            "\(arguments.title): lines before \(kept.iso8601) are not kept; 'timeline' has more")
    }

    private static func show(_ client: HostClient, _ arguments: Arguments) -> ExitCode {
        while let news = client.nextNotification() {
            guard let what = news.parameters else { continue }
            let code = Console.write(line(news.method, what, arguments.has("json")))
            if code != .success { return code }
        }
        return .success
    }

    private static func line(
        _ method: String, _ what: JSONValue, _ asJSON: Bool
    ) -> TerminalText {
        if asJSON { return TerminalText(json: "\(what.text)\n".utf8) }
        guard method == "lost" else {
            return TailText.line(of: what, width: TerminalScreen.size?.width)
        }
        return "… \(what["lost"]?.text ?? "some") lost: read too slowly\n"
    }
}
