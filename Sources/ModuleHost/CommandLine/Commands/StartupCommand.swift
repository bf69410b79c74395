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
            that took less than 1 ms are left out. Earlier launches are in 'timeline'.
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
            .slatefile, .stateDirectory, .json,
        ],
        exitCodes: clientExitCodes, exitMeanings: clientExitMeanings,
        examples: [
            Example(line: "startup", explanation: "what READY waited for"),
            Example(
                line: "startup plot --format svg >start.svg", explanation: "a picture of the start"),
        ],
        usageError: { arguments in
            guard arguments["format"] != nil, StartupAction(arguments) != .plot else { return nil }
            return "'--format' is for plot"
        },
        run: { arguments in
            HostCall.run(arguments) { call throws(HostClientError) in
                let report = try call.client.call("startup")
                if arguments.has("json") { return Console.write(json: report) }
                return Console.write(text(of: report, arguments))
            }
        })

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
