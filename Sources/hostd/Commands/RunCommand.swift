import ModuleHost

extension Command {
    static let run = Command(
        name: "run", summary: "run an app until it is told to stop",
        discussion: """
            Makes the modules in the order of the slatefile, launches them, and delivers what happens,
            until SIGTERM or SIGINT. Logs on stderr; on stdout one line, 'ready pid=… modules=… ms=… of=…',
            when the app has launched. 'hostd signals' shows what each signal does.

            With --respawn this process is only a parent: it passes signals on to the host, starts it
            again when it dies or loses a part that it cannot do without, and ends with it otherwise.
            Where a service manager or a container runtime does that, leave it to them.
            """,
        options: [
            .slatefile, .stateDirectory,
            Option(
                name: "log-format", placeholder: "FORMAT",
                choices: HostDaemonOptions.LogStyle.allCases.map(\.rawValue),
                help: "(default: text)"),
            Option(
                name: "log-level", placeholder: "LEVEL",
                choices: LogLevel.allCases.map(\.rawValue), help: "(default: info)"),
            Option(
                name: "watch", help: "reload the slatefile when another takes the place of its file"
            ),
            Option(
                name: "respawn",
                help: "run the host as a child, and start it again when it dies"),
        ],
        exitCodes: [
            .success, .noInput, .failed, .cannotCreate, .busy, .notPermitted, .invalidSlatefile,
        ],
        examples: [
            Example(line: "hostd", explanation: "run ./slatefile.json"),
            Example(
                line: "hostd run --log-format json 2>app.log",
                explanation: "log for programs, into a file"),
        ],
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
            options.watchesSlatefile = arguments.has("watch")
            options.respawns = arguments.has("respawn")
            return HostDaemon.run(options)
        })

    /// The slatefile that is meant where none is named.
    static let defaultSlatefile = "slatefile.json"
}

extension Command.Option {
    static let slatefile = Self(
        name: "slatefile", placeholder: "FILE", help: "the slatefile (default: slatefile.json)")

    static let stateDirectory = Self(
        name: "state-dir", placeholder: "DIR",
        help: "where state is kept (default: $STATE_DIRECTORY, else .hostd beside FILE)")

    static let json = Self(name: "json", help: "print JSON, for programs")
}
