import AppService

/// The error of an invalid command line, with the remedy.
struct UsageError: Error, Hashable, Sendable {
    /// The error.
    let message: String
    /// The intended command; nil where it is not known.
    let command: String?

    private init(_ message: String, _ command: Command? = nil) {
        self.message = message
        self.command = command?.name
    }

    static func unknownCommand(_ name: String, in program: Program) -> UsageError {
        UsageError("unknown command '\(name)'" + offer(name, program.commands.map(\.name)))
    }

    static func unknownOption(_ written: String, _ command: Command) -> UsageError {
        UsageError(
            "unknown option '\(written)'"
                + offer(written, command.allOptions.map { "--\($0.name)" }), command)
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
                + option.choices.alternatives + offer(value, option.choices), command)
    }

    static func unknownWord(
        _ word: String, for operand: Command.Operand, _ command: Command
    ) -> UsageError {
        UsageError(
            "'\(word)' is not a valid \(operand.placeholder): it is \(operand.choices.alternatives)"
                + offer(word, operand.choices), command)
    }

    static func surplusArgument(
        _ word: String, _ command: Command, in program: Program
    ) -> UsageError {
        let isCommand =
            command.operands.isEmpty && program.commands.contains { $0.name == word }
        return UsageError(
            "unexpected argument '\(word)'"
                + (isCommand ? "; a command stands before its options" : ""), command)
    }

    static func missingArgument(_ operand: Command.Operand, _ command: Command) -> UsageError {
        UsageError("\(operand.placeholder) is missing: \(operand.help)", command)
    }

    static func invalidArguments(_ message: String, _ command: Command) -> UsageError {
        UsageError(message, command)
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
    /// Returns the error, the usage of the command, and a hint at its help: three lines.
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
            usage: \(command.usage(in: program))
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
