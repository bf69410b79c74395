extension Command {
    static let metrics = Command(
        name: "metrics", summary: "print the metrics of the host and its modules",
        discussion: """
            Prints the metrics in the text format of Prometheus, whether or not the slatefile has the module
            Modules.MetricsModule, which writes the same text to a file. With --json they are an array with an
            object for each metric.
            """,
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: clientExitCodes, exitMeanings: clientExitMeanings,
        examples: [
            Example(line: "metrics", explanation: "the metrics of the running host"),
            Example(
                line: "metrics | grep unresponsive", explanation: "the modules that hang"),
        ],
        run: { arguments in
            HostCall.run(arguments) { call throws(HostClientError) in
                let isJSON = arguments.has("json")
                let metrics = try call.client.call("metrics") {
                    $0.object { $0.member("format", isJSON ? "json" : "text") }
                }
                guard !isJSON, let text = metrics.string else {
                    return Console.write(json: metrics)
                }
                // The labels are escaped in it.
                return Console.write(TerminalText(lines: text))
            }
        })
}
