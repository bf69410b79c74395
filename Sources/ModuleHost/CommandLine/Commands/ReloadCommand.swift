extension Command {
    static let reload = Command(
        name: "reload", summary: "reload the slatefile and print the outcome",
        discussion: """
            The host reads its slatefile again, creates and launches new modules, and then applies all
            changes at once, between two events. If the slatefile is invalid or a module fails, nothing
            changes.

            With --dry-run, nothing changes either way: it lists what a reload would change, and why. Whether
            new modules can be created and launched is not tried.
            """,
        options: [
            Option(name: "dry-run", help: "list what would change, and change nothing"),
            .slatefile, .stateDirectory, .json,
        ],
        exitCodes: clientExitCodes + [.noInput, .invalidSlatefile],
        exitMeanings: clientExitMeanings.merging([
            .success: "the slatefile took effect, or is unchanged",
            .failed: "a module could not be created or launched; everything stays as it was",
        ]) { $1 },
        examples: [
            Example(line: "reload --dry-run", explanation: "what would change, and why"),
            Example(line: "reload", explanation: "apply the changes"),
        ],
        run: { arguments in
            HostCall.run(arguments) { call throws(HostClientError) in
                // No limit on the wait: every step of a reload has a deadline of its own.
                let report = try call.client.call("reload", within: nil) { json in
                    json.object { if arguments.has("dry-run") { $0.member("dryRun", true) } }
                }
                return writeReload(report, arguments)
            }
        })

    /// Writes the outcome of `reload` or `apply`.
    static func writeReload(_ report: JSONValue, _ arguments: Arguments) -> ExitCode {
        let code =
            report["exitCode"]?.int.flatMap { ExitCode(rawValue: Int32(clamping: $0)) } ?? .failed
        if arguments.has("json") { return Console.write(json: report, then: code) }
        let summary = report["summary"]?.string ?? report.text
        switch report["outcome"]?.string {
        case "planned": return Console.write("would apply: \(summary)\n" + reasons(in: report))
        case "applied": return Console.write("applied: \(summary)\n")
        case "kept": return Console.write("kept: \(summary)\n")
        case "unchanged": return Console.write("\(summary)\n")
        case "invalid":
            // The host has rendered it: a line for each diagnostic, and the lines of the file.
            let diagnostics = report["text"]?.string.map(TerminalText.init(lines:))
            Console.printError(
                "\(diagnostics ?? "\(summary)\n")\(arguments.title): refused, the current slatefile stays in effect"
            )
        case "superseded": Console.printError("\(arguments.title): not kept: \(summary)")
        default:
            // One on probation was in effect.
            let state =
                arguments.command == "apply" ? "" : ", the current slatefile stays in effect"
            Console.printError("\(arguments.title): rolled back\(state): \(summary)")
        }
        return code
    }

    /// Returns a row for each module that would change, with what is different about it.
    private static func reasons(in report: JSONValue) -> TerminalText {
        let kinds = [
            "added", "onDemand", "removed", "recreated", "postponed", "reconfigured", "adjusted",
        ]
        let rows = kinds.flatMap { kind -> [[String]] in
            let ids = report["changes"]?[kind]?.elements.compactMap(\.string) ?? []
            let word = kind == "onDemand" ? "on demand" : kind
            return ids.map { id in
                let parts = report["reasons"]?[id]?.elements.compactMap(\.string) ?? []
                return ["  \(id)", word, parts.joined(separator: ", ")]
            }
        }
        return textTable(rows)
    }
}
