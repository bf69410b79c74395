import ModuleHost

/// Runs the command that the command line asks for.
///
/// - Parameter words: The arguments, without the program's name.
/// - Returns: How it ended.
func runCommandLine(_ words: [String]) -> ExitCode {
    // The reader of a pipe may go at any time, and a file have a limit: an error of that write, and not the
    // end of us.
    Signals.turnIntoErrors()
    do throws(UsageError) {
        switch words.first {
        case "--help", "-h": return Console.write(TerminalText(lines: Command.overview))
        case "--version": return Console.write("hostd \(HostVersion.current)\n")
        case let name? where !name.hasPrefix("-"):
            return try run(Command.named(name), words.dropFirst())
        // No command, or its options at once: the one there is a daemon for.
        default: return try run(.run, words[...])
        }
    } catch {
        Console.complain(error.text)
        return .usage
    }
}

private func run(_ command: Command, _ words: ArraySlice<String>) throws(UsageError) -> ExitCode {
    let arguments = try Arguments(words, of: command)
    if arguments.has("help") { return Console.write(TerminalText(lines: command.helpText)) }
    if let fault = command.fault(arguments) { throw .invalidArguments(fault, command) }
    return command.run(arguments)
}
