import AppService

extension Command {
    static let why = Command(
        name: "why", summary: "explain what is wrong in the host or a module",
        discussion: """
            Without MODULE: what is wrong now, the worst first. With it: the state of the module, since
            when and why, what needs it and waits for it, what happens next, the command that helps, and the
            last ten entries about it in the record.

            Where no host runs, this comes from the black box and the record that the last one has left.
            """,
        operands: [Operand(placeholder: "MODULE", help: "the id of a module")],
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: clientExitCodes,
        exitMeanings: clientExitMeanings.merging([
            .success: "success, also when something is wrong",
            .unavailable: "no such module; or no host runs, and none has left a record",
        ]) { $1 },
        examples: [
            Example(line: "why", explanation: "what is wrong now"),
            Example(line: "why com.mm.push", explanation: "the story of a module"),
        ],
        run: { arguments in
            let module = arguments.operands.first
            return HostCall.run(
                arguments,
                recover: { error in
                    guard case .notRunning = error else { return nil }
                    return explain(module, left: arguments)
                },
                { call throws(HostClientError) in
                    let report = try call.client.call("why") { json in
                        json.object { if let module { $0.member("module", module) } }
                    }
                    return write(report, arguments)
                })
        })

    /// Explains what the files of a host say that does not run any more; nil where there are none.
    private static func explain(_ module: String?, left arguments: Arguments) -> ExitCode? {
        let directory = arguments.stateDirectory
        CurrentProcess.actAsOwner(of: directory.path)
        do throws(NoSuchModule) {
            let found = try WhyReport.left(
                in: directory, of: module, program: arguments.program.name, at: .now())
            guard let found else { return nil }
            var json = JSONWriter()
            found.write(to: &json)
            guard let report = try? JSONValue(parsing: json.bytes) else { return nil }
            return write(report, arguments)
        } catch {
            Console.printError("\(arguments.title): \(error)")
            return .unavailable
        }
    }

    private static func write(_ report: JSONValue, _ arguments: Arguments) -> ExitCode {
        arguments.has("json")
            ? Console.write(json: report)
            : Console.write(text(ofReport: report, isOfModule: !arguments.operands.isEmpty))
    }

    /// Returns the report in words, in lines of 80 characters at most but for long words.
    private static func text(ofReport report: JSONValue, isOfModule: Bool) -> TerminalText {
        var text = lines("", report["summary"]?.string ?? "", margin: 0)
        let findings = report["findings"]?.elements.map(\.self) ?? []
        for finding in findings { text += "\n" + block(finding) }
        if findings.isEmpty, report["running"]?.bool == true { text += "nothing is wrong\n" }
        let record = report["record"]?.elements.map(\.self) ?? []
        if !record.isEmpty { text += "\n" }
        return text + recordText(record, namesModules: !isOfModule)
    }

    /// Returns entries of the record, a line or several for each.
    static func recordText(_ entries: [JSONValue], namesModules: Bool) -> TerminalText {
        entries.map { entry in
            let name = namesModules ? entry["module"]?.string.map { "\($0): " } ?? "" : ""
            return lines(
                entry["time"]?.string ?? "", name + (entry["text"]?.string ?? ""), margin: 26)
        }.joined()
    }

    private static func block(_ finding: JSONValue) -> TerminalText {
        let state = finding["state"]?.string ?? ""
        let time = finding["since"]?.string.map { " since \($0)" } ?? ""
        let age = finding["forMs"]?.milliseconds.map { " (\($0.briefText))" } ?? ""
        var text = lines(
            "", (finding["module"]?.string.map { "\($0): " } ?? "") + state + time + age, margin: 0)
        func row(_ name: String, _ value: String?) {
            if let value { text += lines("  \(name)", value, margin: 13) }
        }
        row("reason", finding["reason"]?.string)
        let needing = finding["neededBy"]?.elements.compactMap(\.string) ?? []
        row("needed by", needing.isEmpty ? nil : needing.shortList())
        let waiting = [("events", "event"), ("calls", "call")].compactMap { key, word in
            finding[key]?.int.map { "\($0) \($0 == 1 ? word : key)" }
        }
        row("waiting", waiting.isEmpty ? nil : waiting.joined(separator: ", "))
        row("next", finding["next"]?.string)
        // Not filled: it is to be copied.
        if let command = finding["command"]?.string { text += "  command    \(command)\n" }
        return text
    }

    /// Returns a text in lines behind a heading.
    static func lines(_ head: String, _ text: String, margin: Int) -> TerminalText {
        let indent = String(repeating: " ", count: margin)
        return filled(text, to: helpWidth - margin).enumerated().map {
            index, line -> TerminalText in
            "\(index == 0 ? head.padded(to: margin) : indent)\(line)\n"
        }.joined()
    }
}
