extension Command {
    static let modules = Command(
        name: "modules", summary: "list the modules and their states",
        discussion: """
            Under "isolation": "auto", a module that was running when two hosts died gets a process of its
            own. '--reset-crashes' returns it to the host at the next start or reload. The option works
            on files, whether a host runs or not.

            With --available no host and no slatefile are needed: it lists all classes of this program that
            can be the "entry" of a module, with their settings and routes.
            """,
        options: [
            .slatefile, .stateDirectory,
            Option(
                name: "reset-crashes", placeholder: "MODULE",
                help: "reset the number of host deaths counted for a module"),
            Option(name: "available", help: "list the classes of this program that are modules"),
            .json,
        ],
        exitCodes: clientExitCodes + [.inputOutput],
        exitMeanings: clientExitMeanings.merging([
            .unavailable:
                "no host runs on the state directory; or no crashes are counted for the module"
        ]) { $1 },
        usageError: { arguments in
            arguments.has("available") && arguments.has("reset-crashes")
                ? "'--available' and '--reset-crashes' exclude each other" : nil
        },
        run: { arguments in
            if arguments.has("available") {
                let modules = AvailableModules(of: arguments.program.composition)
                return arguments.has("json")
                    ? Console.write(json: modules.json) : Console.write(modules.text)
            }
            if let module = arguments["reset-crashes"] { return resetCrashes(module, arguments) }
            return HostCall.run(arguments) { call throws(HostClientError) in
                let modules = try call.client.call("modules")
                return arguments.has("json")
                    ? Console.write(json: modules)
                    : Console.write(table(ofModules: modules, arguments.program.name, at: .now()))
            }
        })

    /// Returns what restarts a failed module.
    private static func remedy(forFailed module: JSONValue, _ program: String) -> String {
        if let left = module["retryInMs"]?.int {
            return "restarting in \(Duration.milliseconds(left).briefText)"
        }
        if let need = module["failedNeed"]?.string { return "restarting with \(need)" }
        return "'\(program) restart \(module["id"]?.string ?? "")' recreates it"
    }

    private static func parts(
        ofProcess process: JSONValue?, of module: JSONValue, _ program: String, at now: WallTime
    ) -> [String] {
        // The reason of a failure is sufficient, and the state of a program that is done.
        guard let process, module["reason"] == nil, module["state"]?.string != "done" else {
            return []
        }
        let restarts = process["restarts"]?.int ?? 0
        let isRunning = process["pid"] != nil
        let time = process[isRunning ? "startedAt" : "endedAt"]
        return [
            process["pid"].map { "process \($0.text)" }
                ?? (module["state"]?.string == "unresponsive" ? "restarting" : "no process"),
            age(since: time, at: now).map { "for \($0)" },
            // Rounded without a sum that overflows for the number of a faulty host.
            process["residentBytes"]?.int.map { "\((($0 >> 19) + 1) >> 1) MiB" },
            restarts > 0 ? "\(restarts) \(restarts == 1 ? "restart" : "restarts")" : nil,
            process["lastEnd"]?.string.map { "last: \($0)" },
        ].compactMap(\.self)
    }

    /// Returns what makes a module run the file that has replaced its program; nil where none has.
    private static func outdated(
        _ process: JSONValue, _ id: String, _ program: String
    ) -> String? {
        let file = process["program"]?.string.map { excerpt($0, limit: 100) } ?? "its program"
        return switch process["outdated"]?.string {
        case "module": "\(file) has changed: '\(program) restart \(id)' runs it"
        case "host": "\(file) was replaced: restart the host to run it"
        default: nil
        }
    }

    private static func describe(waiting: JSONValue) -> String {
        let count = waiting["events"]?.int ?? 0
        let events = count == 1 ? "1 event of the inbox waits" : "\(count) events of the inbox wait"
        return "\(events), from \(waiting["from"]?.string ?? "?") on"
    }

    private static func table(
        ofModules modules: JSONValue, _ program: String, at now: WallTime
    ) -> TerminalText {
        func text(_ module: JSONValue, _ key: String) -> String { module[key]?.string ?? "" }
        let rows = modules.elements.map { module in
            [
                text(module, "id"), state(of: module),
                age(since: module["since"], at: now) ?? "", text(module, "entry"),
                properties(of: module).joined(separator: ", "),
            ]
        }
        return textTable(
            [["module", "state", "for", "entry", ""]] + rows,
            notes: modules.elements.map { notes(on: $0, program, at: now) }, keeping: 3)
    }

    /// Returns what is short enough for a column.
    private static func properties(of module: JSONValue) -> [String] {
        var words = ["main", "required"].filter { module[$0]?.bool == true }
        if module["lazy"]?.bool == true, module["state"]?.string != "on-demand" {
            words.append("lazy")
        }
        if let behind = module["behind"]?.int, behind > 0 { words.append("\(behind) behind") }
        return words
    }

    /// Returns the lines below a module.
    private static func notes(
        on module: JSONValue, _ program: String, at now: WallTime
    ) -> [String] {
        let id = module["id"]?.string ?? ""
        let state = module["state"]?.string
        let holds = module["holds"]?.elements.map { "holds \(describe($0))" }
        let process = parts(ofProcess: module["process"], of: module, program, at: now)
        let notes: [String?] = [
            module["reason"]?.string,
            state == "failed" ? remedy(forFailed: module, program) : nil,
            state == "disabled" ? "'\(program) enable \(id)' runs it again" : nil,
            module["instead"]?.string.map { "instead: \($0)" },
            module["waiting"].map(describe(waiting:)),
            process.isEmpty ? nil : process.joined(separator: ", "),
            module["process"].flatMap { outdated($0, id, program) },
            module["hostDeaths"]?.int.map { "isolated: it was running when \($0) hosts died" },
        ]
        return (notes + (holds ?? [])).compactMap(\.self)
    }

    /// Returns how long ago a time is, in whole seconds; nil for none.
    private static func age(since time: JSONValue?, at now: WallTime) -> String? {
        guard let time = time?.string.flatMap(WallTime.init) else { return nil }
        return ageText(seconds: now.seconds - time.seconds)
    }

    /// Returns the state in words.
    private static func state(of module: JSONValue) -> String {
        let state = module["state"]?.string ?? ""
        return state == "on-demand" ? "on demand" : state
    }

    // MARK: --reset-crashes

    private static func resetCrashes(_ name: String, _ arguments: Arguments) -> ExitCode {
        let directory = arguments.stateDirectory
        CurrentProcess.actAsOwner(of: directory.path)
        do throws(CrashHistoryError) {
            let before = try CrashHistory(in: directory)
            guard let module = before.records.keys.first(where: { $0.text == name }) else {
                let names = before.records.keys.map(\.text).sorted()
                let others = names.isEmpty ? "" : "; only for \(names.joined(separator: ", "))"
                Console.printError(
                    "\(arguments.title): no crashes are counted for '\(name)'\(others)")
                return .unavailable
            }
            var deaths = 0
            try CrashHistory.update(in: directory) { history in
                deaths = history.resetCrashes(module)?.deaths ?? 0
                return deaths > 0
            }
            if arguments.has("json") {
                var json = JSONWriter()
                json.object {
                    $0.member("reset", module.text)
                    $0.member("deaths", deaths)
                }
                json.newline()
                return Console.write(json: json.bytes)
            }
            return Console.write(
                "crashes reset: it runs in the host from the next start on, or after '\(arguments.program.name) reload'\n"
            )
        } catch {
            Console.printError("\(arguments.title): \(error)")
            return error.exitCode
        }
    }
}
