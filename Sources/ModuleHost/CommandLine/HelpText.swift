extension Command {
    private var usageWords: [String] {
        (takesAnyWords ? [] : options).map { $0.isRequired ? $0.form : "[\($0.form)]" }
            + operands.map { operand in
                let form = operand.placeholder + (operand.isRepeated ? " …" : "")
                return operand.isRequired ? form : "[\(form)]"
            }
    }

    /// Returns the usage in lines that no terminal breaks, the first behind `usage: `.
    func usageInLines(in program: Program) -> String {
        var lines = ["usage: \(program.name) \(name)"]
        for word in usageWords {
            if lines[lines.count - 1].count + 1 + word.count > helpWidth {
                lines.append("      ")
            }
            lines[lines.count - 1] += " \(word)"
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the help of the command.
    func helpText(in program: Program) -> String {
        var text =
            "\(program.name) \(name): \(summary)\n\n\(usageInLines(in: program))\n"
        if !discussion.isEmpty { text += "\n\(refilled(discussion))\n" }
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
                let letter = option.name == "help" ? "h" : option.letter
                return ((letter.map { "-\($0), " } ?? "") + option.form, help)
            })
        if !takesAnyWords {
            text += section(
                "exit codes",
                Set(exitCodes + [.usage, .inputOutput]).sortedByNumber({ Int($0.rawValue) })
                    .map { ("\($0.rawValue)", exitMeanings[$0] ?? $0.meaning) })
        }
        if !examples.isEmpty {
            text += section(
                "examples",
                examples.map { example in
                    let line = [program.name, example.line].filter { !$0.isEmpty }
                    return (example.before + line.joined(separator: " "), example.explanation)
                })
        }
        return text
    }

}

extension Program {
    /// The help of the program as a whole.
    var overview: String {
        """
        \(name) \(identity.version): runs an app that is made of modules

        usage: \(name) COMMAND [ARGUMENTS]

        Without a command, \(name) runs ./slatefile.json.

        """
            + section("commands", commands.map { ($0.name, $0.summary) })
            + section(
                "options",
                [
                    ("-h, --help", "show this text; after a command, that command's"),
                    ("--version", "show the version; with --json, also of what it is composed"),
                ])
    }
}

extension Command.Option {
    /// The option in its written form, with the placeholder of its value.
    var form: String { "--\(name)" + (placeholder.map { " \($0)" } ?? "") }
}

/// The columns of a terminal, which no line of a help exceeds.
let helpWidth = 80

/// Returns a heading and rows of two columns under it, with an empty line before.
///
/// The second column is at least 40 wide: where the first leaves less, it begins on a line of its own.
private func section(_ heading: String, _ rows: [(String, String)]) -> String {
    let longest = helpWidth - 44
    let width = rows.map(\.0.count).filter { $0 <= longest }.max() ?? 4
    let margin = String(repeating: " ", count: width + 4)
    return "\n\(heading):\n"
        + rows.map { first, second in
            let lines = filled(second, to: helpWidth - margin.count)
                .joined(separator: "\n\(margin)")
            let isLong = first.count > width
            let start = isLong ? "\(first)\n\(margin)" : "\(first.padded(to: width))  "
            return "  \(start)\(lines)\n"
        }.joined()
}

/// Returns the text with its paragraphs in lines that fit; those with a margin, as of a table, stay.
private func refilled(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
        .reduce(into: [String]()) { blocks, line in
            let isOfTable = line.isEmpty || line.hasPrefix(" ")
            if !isOfTable, let last = blocks.last, !last.isEmpty, !last.hasPrefix(" ") {
                blocks[blocks.count - 1] += " \(line)"
            } else {
                blocks.append(String(line))
            }
        }
        .flatMap { $0.hasPrefix(" ") ? [$0] : filled($0, to: helpWidth) }
        .joined(separator: "\n")
}
