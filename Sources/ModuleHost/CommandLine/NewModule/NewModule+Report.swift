extension NewModule {
    /// Returns the report on the created files, and the next steps.
    ///
    /// - Parameter program: The name of the program whose commands the steps use.
    /// - Returns: The report.
    func report(for program: String) -> TerminalText {
        let program = layout.program ?? program
        var text = (files.map(\.path) + links.map(\.path)).map { path -> TerminalText in
            "created \(path)\n"
        }.joined()
        switch listing {
        case .new: break
        case .added: text += "added '\(names.id)' to \(app.slatefile)\n"
        case .byHand:
            text += """

                to add to "modules" of \(app.slatefile), which --add would have done:
                    \(TerminalText(lines: entry.lines("    ")))

                """
        }
        if let remark = layout.remark { text += "\n\(remark)\n" }
        let folder = app.path == "." ? "" : " in \(app.path)"
        let visit = #"{"topic": "\#(names.label).visited", "payload": {"name": "Mia"}}"#
        let name = #"{"name": "Mia"}"#
        let trials =
            layout.trials ?? [
                "send message --payload '\(visit)' --wait", "call \(names.id) greet '\(name)'",
            ]
        return text + """

            next\(folder):
                \(layout.test)
                \(run)
            and then, in a second terminal\(folder):
            \(trials.map { trial -> TerminalText in
                "    \(program) \(trial)\(app.option)\n"
            }.joined())
            """
    }

    /// The command that runs the app, or makes it load the module.
    private var run: String {
        guard case .new = listing else { return layout.run + layout.orElse }
        return layout.run
    }

    /// The report for programs.
    var json: [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.member("id", names.id.text)
            $0.member("made") {
                $0.array { for path in files.map(\.path) + links.map(\.path) { $0.value(path) } }
            }
            $0.member("slatefile", app.slatefile)
            $0.member("entry", raw: entry.line.utf8)
            if case .byHand = listing {
                $0.member("listed", false)
            } else {
                $0.member("listed", true)
            }
        }
        json.newline()
        return json.bytes
    }
}
