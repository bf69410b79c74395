import AppService

extension Command {
    static let top = Command(
        name: "top", summary: "watch what the modules do",
        discussion: """
            A table of the modules that is drawn again and again: their states, the events that each of them
            handles, the share of the lane that it takes (of a module with a process or asynchronous
            handlers: the share of the time until its answers), the time within which 99 of 100 events were
            handled, what waits for it, how often its handlers threw and its process was restarted, and the
            memory of that. Events, lane and times are those since the last table, at the end of each event;
            'metrics' prints the sums. A module that is unresponsive takes all of its time.

            Keys: q ends it. l, e, p, b, f, r, m, s and n sort by lane, events, p99, behind, failures,
            restarts, memory, state and name; space shows the next rows where not all fit. If the host does
            not answer in time, the second line says so, and the last table stays. If the host ends, it waits
            for the next one.

            Where stdout is not a terminal that can move its cursor, it prints one table and ends, as with
            --once.
            """,
        options: [
            Option(name: "once", help: "print one table after the interval, and end"),
            Option(
                name: "interval", placeholder: "TIME",
                help: "time between two tables (default: \(interval.briefText))"),
            Option(
                name: "sort", placeholder: "COLUMN",
                choices: TopTable.Order.allCases.map(\.rawValue),
                help: "(default: \(TopTable().order.rawValue))"),
            .slatefile, .stateDirectory,
        ],
        exitCodes: clientExitCodes,
        exitMeanings: clientExitMeanings.merging([
            .unavailable: "no host runs on the state directory; only with --once"
        ]) { $1 },
        examples: [
            Example(line: "top", explanation: "until q is pressed"),
            Example(
                line: "top --once --interval 10s --sort events",
                explanation: "the mean of ten seconds"),
        ],
        usageError: { arguments in
            do throws(DurationError) {
                _ = try arguments["interval"].map { text throws(DurationError) in
                    try Duration(reading: text)
                }
                return nil
            } catch {
                return "--interval: \(error)"
            }
        },
        run: { arguments in
            var table = TopTable()
            table.order = arguments["sort"].flatMap(TopTable.Order.init) ?? table.order
            let interval = arguments["interval"].flatMap { try? Duration(reading: $0) } ?? interval
            if !arguments.has("once"), Console.canMoveCursor {
                return TopScreen(arguments, table, every: interval).run()
            }
            return HostCall.run(arguments) { call throws(HostClientError) in
                table.take(TopSample(try call.client.call("metrics")))
                _ = Signals.wait(for: SignalSet(), until: .now + interval)
                table.take(TopSample(try call.client.call("metrics")))
                let lines = table.lines(
                    width: TerminalScreen.size?.width, notice: table.busyNotice)
                return Console.write(lines.map { $0 + "\n" }.joined())
            }
        })

    private static let interval: Duration = .seconds(1)
}
