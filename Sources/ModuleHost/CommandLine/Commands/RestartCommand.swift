extension Command {
    static let restart = Command(
        name: "restart", summary: "restart a module",
        discussion: """
            A new instance of the module is created and launched beside the old one, and replaces it
            between two events; if that fails, nothing changes. With --stop-first, or "replace":
            "stop-first" in its entry, the old one is stopped before: for a module that owns a port, a
            lock or a device. What is for it waits; if the new one fails, the old one is started again.
            The process of a module that does not
            answer is killed and restarted. As at any reload, modules that take settings receive them again.
            """,
        operands: [Operand(placeholder: "MODULE", isRequired: true, help: "the id of the module")],
        options: [
            .slatefile, .stateDirectory,
            Option(name: "stop-first", help: "stop the old instance before the new one is made"),
            .json,
        ],
        exitCodes: clientExitCodes,
        exitMeanings: clientExitMeanings.merging([
            .success: "it runs again, or is about to",
            .unavailable: "no host runs on the state directory, or it has no such module",
            .failed:
                "it could not be created or launched; what ran before runs, if it can",
        ]) { $1 },
        run: { arguments in
            HostCall.run(arguments) { call throws(HostClientError) in
                let module = arguments.operands[0]
                // No limit on the wait: every step of a restart has a deadline of its own.
                let result = try call.client.call("restart", within: nil) {
                    $0.object {
                        $0.member("module", module)
                        if arguments.has("stop-first") { $0.member("stopFirst", true) }
                    }
                }
                let outcome = result["outcome"]?.string
                let code: ExitCode = outcome == "failed" ? .failed : .success
                if arguments.has("json") { return Console.write(json: result, then: code) }
                defer {
                    for note in result["notes"]?.elements.compactMap(\.string) ?? [] {
                        Console.printError("\(arguments.title): \(note)")
                    }
                }
                switch outcome {
                case "restarted": return Console.write("restarted\n")
                case "not-made":
                    return Console.write(
                        "nothing to restart: it has not been made, and its next use makes it\n")
                case "killed":
                    return Console.write("it did not answer: killed, and started again\n")
                case "postponed":
                    return Console.write(
                        """
                        it is unresponsive: recreated if it returns; else restart the host, or disable the \
                        module and reload

                        """)
                default:
                    let reason = result["reason"]?.string ?? result.text
                    Console.printError("\(arguments.title): not restarted: \(reason)")
                    if !arguments.has("stop-first"), namesWhatIsInUse(reason) {
                        Console.printError(
                            """
                            \(arguments.title): the old instance may have what the new one needs: try \
                            '\(arguments.program.name) restart --stop-first \(module)', or add \
                            "replace": "stop-first" to its entry
                            """)
                    }
                    return code
                }
            }
        })
}

/// Returns whether an error says that an address, a lock or a device is in use.
private func namesWhatIsInUse(_ reason: String) -> Bool {
    let text = reason.lowercased()
    return ["in use", "busy", "locked", "temporarily unavailable", "already running"]
        .contains { text.contains(bytesOf: $0) }
}
