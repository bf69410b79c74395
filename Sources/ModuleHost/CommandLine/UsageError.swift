import AppService

/// The error of an invalid command line, with the remedy.
struct UsageError: Error, Hashable, Sendable {
    /// The error.
    let message: String
    /// The intended command; nil where it is not known.
    let command: String?
    /// Whether the usage of the command shows what is wrong: not for the value of an argument.
    let isAboutUsage: Bool

    private init(_ message: String, _ command: Command? = nil, isAboutUsage: Bool = true) {
        self.message = message
        self.command = command?.name
        self.isAboutUsage = isAboutUsage
    }

    static func unknownCommand(_ name: String, in program: Program) -> UsageError {
        let offer =
            name == "version"
            ? "; did you mean '--version'?" : offer(name, program.commands.map(\.name))
        return UsageError("unknown command '\(name)'" + offer)
    }

    /// The error of an option in the place of the command, which `run` does not have either.
    static func unknownOption(_ written: String, orOf command: Command) -> UsageError {
        let names = command.allOptions.map { "--\($0.name)" } + ["--version"]
        let offer =
            ["-v", "-V"].contains(written)
            ? "; did you mean '--version'?" : offer(written, names)
        return UsageError("unknown option '\(written)'" + offer)
    }

    static func unknownOption(_ written: String, _ command: Command) -> UsageError {
        let offer = offer(written, command.allOptions.map { "--\($0.name)" })
        return UsageError("unknown option '\(written)'" + offer, command)
    }

    static func repeatedOption(_ written: String, _ command: Command) -> UsageError {
        UsageError("option '\(written)' is given twice", command)
    }

    static func missingOption(_ option: Command.Option, _ command: Command) -> UsageError {
        let choices = option.choices.isEmpty ? "" : ", which is \(option.choices.alternatives)"
        return UsageError("'\(option.form)' is missing\(choices)", command)
    }

    static func missingValue(
        _ written: String, _ placeholder: String, _ command: Command
    ) -> UsageError {
        UsageError("option '\(written)' needs a value: \(written) \(placeholder)", command)
    }

    static func surplusValue(_ written: String, _ command: Command) -> UsageError {
        UsageError("option '\(written)' takes no value", command)
    }

    static func unknownValue(
        _ value: String, of option: Command.Option, _ command: Command
    ) -> UsageError {
        UsageError(
            "'\(value)' is not a value of '--\(option.name)', which takes "
                + option.choices.alternatives + offer(value, option.choices), command,
            isAboutUsage: false)
    }

    static func unknownWord(
        _ word: String, for operand: Command.Operand, _ command: Command
    ) -> UsageError {
        UsageError(
            "'\(word)' is not a valid \(operand.placeholder): it is \(operand.choices.alternatives)"
                + offer(word, operand.choices), command, isAboutUsage: false)
    }

    static func surplusArgument(
        _ word: String, _ command: Command, in program: Program
    ) -> UsageError {
        let isCommand =
            command.operands.isEmpty && program.commands.contains { $0.name == word }
        let isSlatefile =
            word.hasSuffix(".json") && command.options.contains { $0.name == "slatefile" }
        let remedy =
            isCommand
            ? "; a command stands before its options"
            : isSlatefile ? "; a slatefile is named by --slatefile" : ""
        return UsageError("unexpected argument '\(word)'" + remedy, command)
    }

    static func missingArgument(_ operand: Command.Operand, _ command: Command) -> UsageError {
        let choices = operand.choices.isEmpty ? operand.help : operand.choices.alternatives
        return UsageError("\(operand.placeholder) is missing: \(choices)", command)
    }

    static func invalidArguments(_ message: String, _ command: Command) -> UsageError {
        UsageError(message, command, isAboutUsage: false)
    }

    static func emptyArgument(_ command: Command) -> UsageError {
        UsageError("an argument is empty", command)
    }

    /// The error of an argument whose bytes are not text, with those beyond ASCII as `\xFF`.
    static func notUTF8(_ bytes: [UInt8]) -> UsageError {
        let text = bytes.map { byte in
            byte < 0x80
                ? String(UnicodeScalar(byte))
                : "\\x" + String(byte, radix: 16, uppercase: true)
        }.joined()
        return UsageError(
            "the argument '\(excerpt(text, limit: 200))' is not UTF-8; rename the file, or write the text in UTF-8"
        )
    }

    private static func offer(_ written: String, _ names: [String]) -> String {
        nearestName(to: written, in: names).map { "; did you mean '\($0)'?" } ?? ""
    }
}

extension UsageError {
    /// Returns the error, the usage of the command where it helps, and a hint at its help.
    func text(in program: Program) -> TerminalText {
        guard let command = program.commands.first(where: { $0.name == command }) else {
            return """
                \(program.name): \(message)
                usage: \(program.name) COMMAND [ARGUMENTS]
                see '\(program.name) --help'
                """
        }
        return """
            \(program.name) \(command.name): \(message)
            \(TerminalText(lines: isAboutUsage ? command.usageInLines(in: program) + "\n" : ""))\
            see '\(program.name) \(command.name) --help'
            """
    }
}

extension [String] {
    /// The elements as a choice: `a, b or c`.
    var alternatives: String {
        count < 2 ? joined() : dropLast().joined(separator: ", ") + " or " + (last ?? "")
    }
}
