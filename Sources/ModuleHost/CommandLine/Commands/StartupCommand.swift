import AppService

extension Command {
    static let startup = Command(
        name: "startup", summary: "show what the start of the host took its time for",
        discussion: """
              blame  list the steps of the launch, the slowest first
              chain  list the steps that READY waited for, in their order
              plot   draw all steps, with the time as the horizontal axis

            A step is the creation of a module with its process if it has one, a program that ends, a
            start-up task, the delivery of 'launch' to all modules, or the root with 'activate'. Creations
            that took less than 1 ms are left out.

            The last three launches are kept in the state directory, also those that failed, but not of a host
            that was killed before READY. Where no host runs, the newest one of them is shown.
            """,
        operands: [
            Operand(
                placeholder: "ACTION", choices: StartupAction.allCases.map(\.rawValue),
                help: "(default: chain)")
        ],
        options: [
            Option(
                name: "format", placeholder: "FORMAT", choices: ["text", "svg"],
                help: "of plot (default: text)"),
            Option(
                name: "launch", placeholder: "N",
                help: "-1 for the launch before this one, -2 for the one before that"),
            Option(
                name: "file", placeholder: "FILE",
                help: "a report that '--json' has printed"),
            .slatefile, .stateDirectory, .json,
        ],
        exitCodes: clientExitCodes + [.noInput, .invalidSlatefile],
        exitMeanings: clientExitMeanings.merging([
            .unavailable: "no host runs on the state directory, or no such launch is kept",
            .noInput: "FILE cannot be read",
            .invalidSlatefile: "FILE is not a report",
        ]) { $1 },
        examples: [
            Example(line: "startup", explanation: "what READY waited for"),
            Example(
                line: "startup blame --launch -1",
                explanation: "what took longest in the launch before this one"),
            Example(
                line: "startup plot --format svg >start.svg", explanation: "a picture of the start"),
        ],
        usageError: { arguments in
            if arguments["format"] != nil, StartupAction(arguments) != .plot {
                return "'--format' is for plot"
            }
            guard launch(of: arguments) != nil else {
                return
                    "'\(arguments["launch"] ?? "")' is not a value of '--launch', which takes 0 or a negative number"
            }
            return arguments["file"] != nil && arguments["launch"] != nil
                ? "'--file' and '--launch' exclude each other" : nil
        },
        run: { arguments in
            if let path = arguments["file"] { return show(file: path, arguments) }
            return HostCall.run(
                arguments,
                recover: { error in
                    guard case .notRunning = error else { return nil }
                    return show(keptIn: arguments.stateDirectory, arguments)
                },
                { call throws(HostClientError) in
                    let report = try call.client.call("startup")
                    if launch(of: arguments) == 0 { return show(report, arguments) }
                    return show(keptIn: call.directory, besides: report, arguments)
                        ?? .unavailable
                })
        })

    /// Returns which launch is asked for: 0 for the newest, -1 for the one before; nil for an invalid value.
    private static func launch(of arguments: Arguments) -> Int? {
        guard let text = arguments["launch"] else { return 0 }
        return Int(text).flatMap { (-1000...0).contains($0) ? $0 : nil }
    }

    /// Shows a launch that was kept.
    ///
    /// - Parameter current: The report on the launch of the running host; nil where none runs.
    /// - Returns: Nil where none is asked for, and none is kept.
    private static func show(
        keptIn directory: StateDirectory, besides current: JSONValue? = nil, _ arguments: Arguments
    ) -> ExitCode? {
        CurrentProcess.actAsOwner(of: directory.path)
        do throws(FileReadError) {
            var kept = try LaunchHistory(in: directory).launches()
            if let current {
                kept = kept.filter { $0["startedAt"] != current["startedAt"] } + [current]
            }
            let number = launch(of: arguments) ?? 0
            let index = kept.count - 1 + number
            if kept.indices.contains(index) { return show(kept[index], arguments, isFormer: true) }
            guard number < 0 else { return nil }
            Console.printError(
                "\(arguments.title): launch \(number) is not kept: there \(kept.count == 1 ? "is 1" : "are \(kept.count)"), "
                    + "the newest of which is 0")
            return .unavailable
        } catch {
            Console.printError("\(arguments.title): \(error)")
            return .inputOutput
        }
    }

    private static func show(file path: String, _ arguments: Arguments) -> ExitCode {
        do throws(FileReadError) {
            let bytes = try readFile(at: path, limit: 16 << 20)
            if let report = try? JSONValue(parsing: bytes), report["steps"]?.kind == .array {
                return show(report, arguments, isFormer: true)
            }
            Console.printError(
                "\(arguments.title): \(quoted(path)) is not a report that 'startup --json' has printed"
            )
            return .invalidSlatefile
        } catch {
            Console.printError("\(arguments.title): \(error)")
            return .noInput
        }
    }

    private static func show(
        _ report: JSONValue, _ arguments: Arguments, isFormer: Bool = false
    ) -> ExitCode {
        if arguments.has("json") { return Console.write(json: report) }
        let isText = arguments["format"] != "svg"
        let start = isFormer && isText ? report["startedAt"]?.string : nil
        let head: TerminalText = start.map { "the host that started at \($0)\n" } ?? ""
        return Console.write(head + text(of: report, arguments))
    }

    private static func text(of report: JSONValue, _ arguments: Arguments) -> TerminalText {
        let steps = report["steps"]?.elements.map(StartupStep.init) ?? []
        switch StartupAction(arguments) {
        case .blame:
            let slowest = steps.filter { $0.duration != nil }
                .sorted { ($0.duration ?? .zero) > ($1.duration ?? .zero) }
            let open = steps.filter { $0.duration == nil }.map { ["…", $0.kind, $0.text] }
            let rows = slowest.map { [$0.duration?.briefText ?? "", $0.kind, $0.text] }
            return textTable(open + rows) + omission(in: report)
        case .chain:
            let chain = report["chain"]?.elements.map(StartupStep.init) ?? []
            let rows = chain.map { step in
                let time = step.duration.map { "+\($0.briefText)" } ?? "…"
                return ["@\(step.started.briefText)", time, step.kind, step.text]
            }
            let end = report["readyMs"]?.milliseconds.map {
                [["@\($0.briefText)", "", "READY", ""]]
            }
            return textTable(rows + (end ?? []))
        case .plot:
            let critical = Set((report["chain"]?.elements.map(StartupStep.init) ?? []).map(\.id))
            let ready = report["readyMs"]?.milliseconds
            let picture = TimePicture(
                title: "Start of the host",
                rows: steps.map { $0.row(isCritical: critical.contains($0.id)) },
                marks: ready.map { [TimePicture.Mark(time: $0, name: "READY")] } ?? [])
            return arguments["format"] == "svg"
                ? TerminalText(lines: picture.svg)
                : picture.text(columns: helpWidth) + omission(in: report)
        }
    }

    private static func omission(in report: JSONValue) -> TerminalText {
        report["omitted"]?.int.map { "\($0) faster steps are left out\n" } ?? ""
    }
}

private enum StartupAction: String, CaseIterable {
    case blame
    case chain
    case plot

    init(_ arguments: Arguments) {
        self = arguments.operand.flatMap(Self.init(rawValue:)) ?? .chain
    }
}

/// A step of a launch, as a host reports it.
private struct StartupStep {
    let kind: String
    let name: String
    let started: Duration
    let duration: Duration?
    let waited: Duration
    let isAwaited: Bool
    let problem: String?

    init(_ json: JSONValue) {
        kind = json["kind"]?.string ?? ""
        name = json["name"]?.string ?? ""
        started = json["startedMs"]?.milliseconds ?? .zero
        duration = json["ms"]?.milliseconds
        waited = json["waitedMs"]?.milliseconds ?? .zero
        isAwaited = json["awaited"]?.bool ?? true
        problem = json["problem"]?.string
    }

    var id: String { "\(kind) \(name)" }

    /// The name with remarks; empty for a step that its kind names.
    var text: String {
        var remarks = [problem].compactMap(\.self)
        if duration == nil { remarks.append("not over") }
        if !isAwaited { remarks.append("READY did not wait for it") }
        let remark = remarks.isEmpty ? nil : "(\(remarks.joined(separator: "; ")))"
        return [name == kind ? nil : name, remark].compactMap(\.self).joined(separator: " ")
    }

    func row(isCritical: Bool) -> TimePicture.Row {
        let span = TimePicture.Span(
            waits: started - waited, start: started, end: duration.map { started + $0 },
            isCritical: isCritical, problem: problem)
        return TimePicture.Row(
            label: name == kind ? name : "\(name) (\(kind))", kind: kind, spans: [span])
    }
}
