extension Command {
    static let run = Command(
        name: "run", summary: "run an app until it is stopped",
        discussion: """
            Creates the modules in the order of the slatefile, launches them, and delivers events until
            SIGTERM or SIGINT. Logs on stderr; prints one line on stdout, 'ready pid=… modules=… ms=… of=…',
            when the app has launched. The command 'signals' shows what each signal does.

            With --respawn this process is only a parent: it forwards signals to the host, restarts it
            after a crash or the failure of a required part, and otherwise ends with it. Use it only
            where no service manager or container runtime restarts the host. As process 1 of a container it
            is such a parent, too, which reaps orphaned processes; without --respawn it ends with the host.
            """,
        options: [
            .slatefile, .stateDirectory,
            Option(
                name: "log-format", placeholder: "FORMAT",
                choices: HostDaemonOptions.LogStyle.allCases.map(\.rawValue),
                help: "(default: text)"),
            Option(
                name: "log-level", placeholder: "LEVEL",
                choices: LogLevel.allCases.map(\.rawValue),
                help: "(default: logLevel of the slatefile, else info)"),
            Option(
                name: "watch", help: "reload the slatefile when its file is replaced"
            ),
            Option(
                name: "record-size", placeholder: "KIB",
                help: "size of the record in KiB, 64 to 262144 (default: 4096)"),
            Option(
                name: "record", placeholder: "WHAT", choices: ["slow", "all"],
                help: "the deliveries and calls that the record keeps (default: slow)"),
            Option(
                name: "respawn",
                help: "run the host as a child, and restart it when it dies"),
        ],
        exitCodes: [
            .success, .noInput, .failed, .cannotCreate, .busy, .notPermitted, .invalidSlatefile,
        ],
        examples: [
            Example(line: "", explanation: "run ./slatefile.json"),
            Example(
                line: "run --log-format json 2>app.log",
                explanation: "log for programs, into a file"),
        ],
        usageError: { arguments in
            guard let text = arguments["record-size"], recordSize(text) == nil else { return nil }
            return "--record-size: \(quoted(text)) is not a number from 64 to 262144"
        },
        isHost: true,
        run: { arguments in
            var options = HostDaemonOptions(slatefile: arguments["slatefile"] ?? defaultSlatefile)
            options.stateDirectory = arguments["state-dir"]
            if let style = arguments["log-format"].flatMap(HostDaemonOptions.LogStyle.init) {
                options.logStyle = style
            }
            if let level = arguments["log-level"].flatMap(LogLevel.init) {
                options.logLevel = level
            }
            if let size = arguments["record-size"].flatMap(recordSize) {
                options.recordSize = size
            }
            options.recordsAll = arguments["record"] == "all"
            options.program = arguments.program.identity
            options.observer = arguments.program.observer
            options.watchesSlatefile = arguments.has("watch")
            options.respawns = arguments.has("respawn")
            return HostDaemon.run(options)
        })

    /// Returns a size in bytes; nil for text that is not a possible number of KiB.
    private static func recordSize(_ text: String) -> Int? {
        let limits = HostDaemonOptions.recordSizes
        guard let number = Int(text),
            (limits.lowerBound >> 10...limits.upperBound >> 10).contains(number)
        else { return nil }
        return number << 10
    }

    /// The slatefile that is used where none is named.
    static let defaultSlatefile = "slatefile.json"
}

extension Command.Option {
    static let slatefile = Self(
        name: "slatefile", placeholder: "FILE", help: "the slatefile (default: slatefile.json)")
    /// The slatefile of a command that takes it as its argument, too.
    static let slatefileArgument = Self(
        name: "slatefile", placeholder: "FILE", help: "the same as the argument")

    static let stateDirectory = Self(
        name: "state-dir", placeholder: "DIR",
        help: "the state directory (default: $STATE_DIRECTORY, else .hostd beside FILE)")

    static let traceparent = Self(
        name: "traceparent", placeholder: "TEXT",
        help: "the trace that it is a part of, as W3C Trace Context has it")
    static let json = Self(name: "json", help: "print JSON, for programs")
}
