extension Command {
    static let disable = Command(
        name: "disable", summary: "disable a module beside the slatefile",
        discussion: """
            The host runs without the module, as if its entry had "enabled": false, until 'enable': also after a
            restart. A running host applies it at once, by a reload. Where no host runs, the command works on
            files, and the next start applies it. Durable events that the module has not received become dead
            letters; a running host counts them in the answer.

            The main module, a required one and the fallback cannot be disabled, nor a module that another
            needs or declares it uses: --with-dependents disables modules that need it, too. 'status' lists
            disabled modules.
            """,
        operands: [Operand(placeholder: "MODULE", isRequired: true, help: "the id of the module")],
        options: [
            Option(name: "with-dependents", help: "disable the modules that need it, too"),
            .slatefile, .stateDirectory, .json,
        ],
        exitCodes: clientExitCodes + [.noInput, .invalidSlatefile],
        exitMeanings: disablingMeanings,
        examples: [
            Example(line: "disable com.mm.push", explanation: "until it is enabled"),
            Example(
                line: "disable com.mm.store --with-dependents",
                explanation: "with the modules that need it"),
        ],
        run: { arguments in
            change(.disable(withDependents: arguments.has("with-dependents")), arguments)
        })

    static let enable = Command(
        name: "enable", summary: "enable a module that was disabled",
        discussion: """
            Takes 'disable' back: the slatefile decides again. A running host applies it at once, by a reload;
            if the module cannot be created or launched, or ends the host, it stays disabled.
            """,
        operands: [Operand(placeholder: "MODULE", isRequired: true, help: "the id of the module")],
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: clientExitCodes + [.noInput, .invalidSlatefile],
        exitMeanings: disablingMeanings,
        examples: [Example(line: "enable com.mm.push", explanation: "as the slatefile says")],
        run: { arguments in change(.enable, arguments) })

    private static let disablingMeanings = clientExitMeanings.merging([
        .unavailable: "there is no such module",
        .failed: "a module could not be created or launched; everything stays as it was",
        .inputOutput: "input or output failed; without a host also: no state directory",
        .invalidSlatefile: "refused, for the reason on stderr; or the slatefile is invalid",
    ]) { $1 }

    private static func change(
        _ change: DisabledModules.Change, _ arguments: Arguments
    ) -> ExitCode {
        HostCall.run(
            arguments,
            recover: { error in
                guard case .notRunning = error else { return nil }
                return changeFiles(change, arguments)
            },
            { call throws(HostClientError) in
                // No limit on the wait: every step of a reload has a deadline of its own.
                let report = try call.client.call(arguments.command, within: nil) {
                    HostClient.writeDisabling(change, of: arguments.operands[0], to: &$0)
                }
                return write(report, arguments)
            })
    }

    /// Changes the list that the next start of a host reads.
    private static func changeFiles(
        _ change: DisabledModules.Change, _ arguments: Arguments
    ) -> ExitCode {
        let slatefile: Slatefile
        do throws(SlatefileFailure) {
            // Settings do not matter here, and this shell need not have the variables of the host.
            slatefile = try Slatefile.readWithoutEntries(
                arguments["slatefile"] ?? defaultSlatefile, environment: { _ in "" }
            ).slatefile
        } catch {
            Console.printError(error, in: arguments)
            return error.exitCode
        }
        let directory = arguments.stateDirectory
        CurrentProcess.actAsOwner(of: directory.path)
        do throws(NoSuchModule) {
            let report = try DisablingReport(
                change, of: arguments.operands[0], in: slatefile, directory)
            return JSONValue(writing: report.write).map { write($0, arguments) } ?? .failed
        } catch {
            Console.printError("\(arguments.title): \(error)")
            return .unavailable
        }
    }

    private static func write(_ report: JSONValue, _ arguments: Arguments) -> ExitCode {
        let code =
            report["exitCode"]?.int.flatMap { ExitCode(rawValue: Int32(clamping: $0)) } ?? .failed
        if arguments.has("json") { return Console.write(json: report, then: code) }
        let outcome = report["outcome"]?.string ?? ""
        switch outcome {
        case "disabled", "enabled":
            let modules = report["modules"]?.elements.compactMap(\.string) ?? []
            let effect =
                report["reload"]?["summary"]?.string.map { "applied: \($0)" }
                ?? "no host runs: it takes effect at the next start"
            var text: TerminalText = "\(outcome) \(modules.joined(separator: ", "))\n\(effect)\n"
            if let reason = report["reason"]?.string { text += "\(reason)\n" }
            return Console.write(text)
        case "unchanged":
            let state = arguments.command == "enable" ? "is not disabled" : "is disabled already"
            return Console.write("nothing changed: \(arguments.operands[0]) \(state)\n")
        default:
            Console.printError(
                "\(arguments.title): \(outcome): \(report["reason"]?.string ?? report.text)")
            return code
        }
    }
}
