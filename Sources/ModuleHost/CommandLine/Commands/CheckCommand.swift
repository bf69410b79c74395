extension Command {
    static let check = Command(
        name: "check", summary: "check a slatefile and show all of its errors",
        discussion: """
            Shows each error with its place (file:line:column), the line, and how to correct it. The
            token file, if the slatefile names one, is checked too; its lines are not shown. Warnings
            are about this machine, such as a missing command; they do not make the slatefile invalid.
            """,
        operands: [
            Operand(placeholder: "FILE", help: "the slatefile to check (default: slatefile.json)")
        ],
        options: [
            .slatefileArgument,
            Option(
                name: "state-dir", placeholder: "DIR",
                help: "apply what 'disable' has disabled in this state directory"),
            .json,
        ],
        exitCodes: [.success, .noInput, .inputOutput, .notPermitted, .invalidSlatefile],
        examples: [
            Example(line: "check", explanation: "check ./slatefile.json"),
            Example(
                line: "check app.json --json", explanation: "the errors, for an editor"),
        ],
        usageError: { $0.slatefileTwice },
        run: { arguments in
            let path = arguments.slatefileArgument
            let environment = CurrentProcess.environment()
            do throws(SlatefileFailure) {
                var slatefile = try Slatefile.load(path, environment: environment)
                _ = try slatefile.loadTokens(beside: path)
                var warnings = slatefile.warnings(at: path, environment: environment)
                if let directory = arguments["state-dir"] {
                    let kept: [KeptModule]
                    do throws(DisabledModulesError) {
                        (slatefile, kept) = slatefile.disabling(
                            try DisabledModules(in: StateDirectory(path: directory)))
                    } catch {
                        Console.printError("\(arguments.title): \(error)")
                        return error.exitCode
                    }
                    warnings += kept.map { "'disable' has no effect: \($0)" }
                }
                if arguments.has("json") {
                    return Console.write(json: report(path, slatefile, warnings))
                }
                for warning in warnings {
                    Console.printError("\(excerpt(path, limit: 4096)): warning: \(warning)")
                }
                let count = slatefile.modules.count
                var text: TerminalText =
                    "\(path): ok, \(count) \(count == 1 ? "module" : "modules")\n"
                for module in slatefile.modules where module.isDisabled {
                    text += "  \(module.id): disabled by '\(arguments.program.name) disable'\n"
                }
                for forecast in slatefile.isolationForecasts {
                    text += "  \(forecast.description)\n"
                }
                return Console.write(text)
            } catch {
                if arguments.has("json") {
                    return Console.write(json: report(error), then: error.exitCode)
                }
                Console.printError(error, in: arguments)
                return error.exitCode
            }
        })

    private static func report(
        _ path: String, _ slatefile: Slatefile, _ warnings: [String]
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.member("ok", true)
            $0.member("file", path)
            $0.member("modules", slatefile.modules.count)
            $0.member("errors") { $0.array { _ in } }
            $0.member("warnings", warnings)
            let disabled = slatefile.modules.filter(\.isDisabled).map(\.id.text)
            if !disabled.isEmpty { $0.member("disabled", disabled) }
            let forecasts = slatefile.isolationForecasts
            guard !forecasts.isEmpty else { return }
            $0.member("isolation") {
                $0.objects(for: forecasts) { forecast, json in
                    json.member("module", forecast.module.text)
                    json.member("canBeIsolated", forecast.obstacle == nil)
                    if let obstacle = forecast.obstacle { json.member("obstacle", obstacle) }
                }
            }
        }
        json.newline()
        return json.bytes
    }

    private static func report(_ failure: SlatefileFailure) -> [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.member("ok", false)
            $0.member("file", failure.path)
            $0.member("errors") { write(failure, to: &$0) }
        }
        json.newline()
        return json.bytes
    }

    private static func write(_ failure: SlatefileFailure, to json: inout JSONWriter) {
        json.array { array in
            switch failure {
            case .unreadable(let error), .tokens(let error, _):
                array.object { $0.member("message", error.reason.description) }
            case .invalid(let error):
                for diagnostic in error.diagnostics {
                    array.object {
                        $0.member("line", diagnostic.place.line)
                        $0.member("column", diagnostic.place.column)
                        $0.member("pointer", diagnostic.pointer)
                        $0.member("message", diagnostic.message)
                    }
                }
            }
        }
    }
}
