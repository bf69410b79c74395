import ModuleHost

extension Command {
    static let help = Command(
        name: "help", summary: "show the help of hostd or of a command",
        operands: [
            Operand(placeholder: "COMMAND", help: "the command to explain (default: all)")
        ],
        run: { arguments in
            guard let name = arguments.operand else {
                return Console.write(TerminalText(lines: overview))
            }
            do throws(UsageError) {
                return Console.write(TerminalText(lines: try named(name).helpText))
            } catch {
                Console.printError(error.text)
                return .usage
            }
        })
}
