extension Command {
    static let reload = Command(
        name: "reload", summary: "reload the slatefile and print the outcome",
        discussion: """
            The host reads its slatefile again, creates and launches new modules, and then applies all
            changes at once, between two events. If the slatefile is invalid or a module fails, nothing
            changes.
            """,
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: clientExitCodes + [.noInput, .invalidSlatefile],
        exitMeanings: clientExitMeanings.merging([
            .success: "the slatefile took effect, or is unchanged",
            .failed: "a module could not be created or launched; everything stays as it was",
        ]) { $1 },
        run: { arguments in
            HostCall.run(arguments) { call throws(HostClientError) in
                // No limit on the wait: every step of a reload has a deadline of its own.
                let report = try call.client.call("reload", within: nil)
                let code =
                    report["exitCode"]?.int.flatMap { ExitCode(rawValue: Int32(clamping: $0)) }
                    ?? .failed
                if arguments.has("json") { return Console.write(json: report, then: code) }
                let summary = report["summary"]?.string ?? report.text
                switch report["outcome"]?.string {
                case "applied": return Console.write("applied: \(summary)\n")
                case "unchanged": return Console.write("\(summary)\n")
                case "invalid":
                    // The host has rendered it: a line for each diagnostic, and the lines of the file.
                    let diagnostics = report["text"]?.string.map(TerminalText.init(lines:))
                    Console.printError(
                        "\(diagnostics ?? "\(summary)\n")\(arguments.title): refused, the current slatefile stays in effect"
                    )
                default:
                    Console.printError(
                        "\(arguments.title): rolled back, the current slatefile stays in effect: \(summary)"
                    )
                }
                return code
            }
        })
}
