import ModuleHost

extension Command {
    /// The usage of the command, on one line.
    var usage: String { (["hostd", name] + usageWords).joined(separator: " ") }

    private var usageWords: [String] {
        options.map { $0.isRequired ? $0.form : "[\($0.form)]" }
            + operands.map { operand in
                let form = operand.placeholder + (operand.isRepeated ? " …" : "")
                return operand.isRequired ? form : "[\(form)]"
            }
    }

    /// The usage in lines that no terminal breaks, the first behind `usage: `.
    private var usageInLines: String {
        var lines = ["usage: hostd \(name)"]
        for word in usageWords {
            if lines[lines.count - 1].count + 1 + word.count > 100 {
                lines.append("      ")
            }
            lines[lines.count - 1] += " \(word)"
        }
        return lines.joined(separator: "\n")
    }

    /// The help of the command.
    var helpText: String {
        var text = "hostd \(name): \(summary)\n\n\(usageInLines)\n"
        if !discussion.isEmpty { text += "\n\(discussion)\n" }
        if !operands.isEmpty {
            text += section(
                "arguments",
                operands.map { operand in
                    let help = operand.choices.isEmpty ? "" : operand.choices.alternatives + " "
                    return (operand.placeholder, help + operand.help)
                })
        }
        text += section(
            "options",
            allOptions.map { option in
                let help =
                    option.choices.isEmpty
                    ? option.help : "\(option.choices.alternatives) \(option.help)"
                return (option.name == "help" ? "-h, --help" : option.form, help)
            })
        text += section(
            "exit codes",
            Set(exitCodes + [.usage, .inputOutput]).sorted { $0.rawValue < $1.rawValue }
                .map { ("\($0.rawValue)", exitMeanings[$0] ?? $0.meaning) })
        if !examples.isEmpty {
            text += section("examples", examples.map { ($0.line, $0.explanation) })
        }
        return text
    }

    /// The help of `hostd` as a whole.
    static var overview: String {
        """
        hostd \(HostVersion.current): runs an app that is made of modules

        usage: hostd COMMAND [ARGUMENTS]

        Without a command, hostd runs ./slatefile.json.

        """
            + section("commands", all.map { ($0.name, $0.summary) })
            + section(
                "options",
                [
                    ("-h, --help", "show this text; after a command, that command's"),
                    ("--version", "show the version"),
                ])
    }
}

extension Command.Option {
    /// The option in its written form, with the placeholder of its value.
    var form: String { "--\(name)" + (placeholder.map { " \($0)" } ?? "") }
}

/// Returns a heading and rows of two columns under it, with an empty line before.
private func section(_ heading: String, _ rows: [(String, String)]) -> String {
    let width = rows.map(\.0.count).max() ?? 0
    return "\n\(heading):\n"
        + rows.map { "  \($0.padded(to: width))  \($1)\n" }.joined()
}
