extension Command {
    static let logLevel = Command(
        name: "log-level", summary: "show or change what the host logs while it runs",
        discussion: """
            Without an argument, shows the least level that the log writes: of the host, and of modules with a
            level of their own. A module without one has that of the host.

            A level stays until the host ends. A reload keeps it, unless the slatefile's own level changes.
            'default' goes back to the level of the start (--log-level), or else of the slatefile (logLevel).
            Lines of a module are those that it writes and those of the host about it, also if the module runs
            in a process of its own. 'tail' follows what is logged.
            """,
        operands: [
            Operand(
                placeholder: "LEVEL", choices: LogLevel.words,
                help: "(without it, the levels are shown)"),
            Operand(placeholder: "MODULE", help: "the id of a module (default: the host)"),
        ],
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: clientExitCodes,
        exitMeanings: clientExitMeanings.merging([
            .unavailable: "no host runs on the state directory, or it has no such module"
        ]) { $1 },
        examples: [
            Example(line: "log-level", explanation: "the levels in effect"),
            Example(line: "log-level debug com.mm.push", explanation: "all lines of a module"),
            Example(line: "log-level default com.mm.push", explanation: "as before"),
        ],
        run: { arguments in
            HostCall.run(arguments) { call throws(HostClientError) in
                let words = arguments.operands
                let result = try call.client.call("log.level") {
                    HostClient.writeLogLevel(
                        words.first, of: words.count > 1 ? words[1] : nil, to: &$0)
                }
                if arguments.has("json") { return Console.write(json: result) }
                return Console.write(levels(in: result))
            }
        })

    /// Returns a line for the host, and for each module with a level of its own.
    private static func levels(in result: JSONValue) -> TerminalText {
        func row(_ name: String, _ setting: JSONValue, else other: String) -> [String] {
            let level = setting["level"]?.string ?? ""
            let standard = setting["default"]?.string ?? other
            return [name, level, standard == level ? "" : "default: \(standard)"]
        }
        let modules = result["modules"]?.elements.map {
            row($0["module"]?.string ?? "", $0, else: "that of the host")
        }
        return textTable([row("host", result, else: "")] + (modules ?? []))
    }
}
