import ModuleHost

extension Command {
    static let reload = Command(
        name: "reload", summary: "reload the slatefile and print the outcome",
        discussion: """
            The host reads its slatefile again and waits for nobody else: new modules are made and
            launched, then all changes at one instant between two events. Where the slatefile is
            invalid, or a module fails, everything stays as it is.
            """,
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: clientExitCodes + [.noInput, .invalidSlatefile],
        exitMeanings: clientExitMeanings.merging([
            .success: "the slatefile holds, or is the same",
            .failed: "a module could not be made or launched: everything stays as it was",
        ]) { $1 },
        run: { arguments in
            HostCall.run("reload", arguments) { call throws(ControlClientError) in
                // As long as it takes: every step of it has a deadline of its own.
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
                    // The host has rendered it: a line for each fault, and the lines of the file.
                    let faults = report["text"]?.string.map(TerminalText.init(lines:))
                    Console.complain(
                        "\(faults ?? "\(summary)\n")hostd reload: refused, the running slatefile stays"
                    )
                default:
                    Console.complain(
                        "hostd reload: undone, the running slatefile stays: \(summary)")
                }
                return code
            }
        })
}
