import ModuleHost

/// Runs the command of a command line.
///
/// - Parameters:
///   - words: The arguments, without the program's name.
///   - mask: The signals that a command which is not a host has blocked; all are blocked until the command is
///     known.
/// - Returns: The exit code.
func runCommandLine(_ words: [String], mask: SignalSet) -> ExitCode {
    // The reader of a pipe may end at any time, and a file have a limit: that is an error of the write, and
    // not the end of this process.
    Signals.turnIntoErrors()
    do throws(UsageError) {
        switch try Request(words) {
        case .text(let text):
            Signals.blockExactly(mask)
            return Console.write(text)
        case .command(let command, let arguments):
            if !command.isHost { Signals.blockExactly(mask) }
            return command.run(arguments)
        }
    } catch {
        Signals.blockExactly(mask)
        Console.printError(error.text)
        return .usage
    }
}

/// The request of a command line.
private enum Request {
    case text(TerminalText)
    case command(Command, Arguments)

    init(_ words: [String]) throws(UsageError) {
        switch words.first {
        case "--help", "-h": self = .text(TerminalText(lines: Command.overview))
        case "--version": self = .text("hostd \(HostVersion.current)\n")
        case let name? where !name.hasPrefix("-"):
            try self.init(Command.named(name), words.dropFirst())
        // No command, or its options directly: then it is the command that runs a daemon.
        default: try self.init(.run, words[...])
        }
    }

    private init(_ command: Command, _ words: ArraySlice<String>) throws(UsageError) {
        let arguments = try Arguments(words, of: command)
        if arguments.has("help") {
            self = .text(TerminalText(lines: command.helpText))
        } else if let usageError = command.usageError(arguments) {
            throw .invalidArguments(usageError, command)
        } else {
            self = .command(command, arguments)
        }
    }
}
