extension Command {
    static let help = Command(
        name: "help", summary: "show this help or that of a command",
        operands: [
            Operand(placeholder: "COMMAND", help: "the command to explain (default: all)")
        ],
        run: { arguments in
            guard let name = arguments.operand else {
                return Console.write(TerminalText(lines: arguments.program.overview))
            }
            do throws(UsageError) {
                return Console.write(
                    TerminalText(
                        lines: try arguments.program.command(named: name).helpText(
                            in: arguments.program)))
            } catch {
                Console.printError(error.text(in: arguments.program))
                return .usage
            }
        })
}
