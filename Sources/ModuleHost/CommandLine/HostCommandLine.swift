/// The command line of a host: every command and option of `hostd`, in any executable that links this
/// library.
public enum HostCommandLine {
    /// Runs the command of this process's command line, and ends the process with its exit code.
    ///
    /// ```swift
    /// // main.swift
    /// import ModuleHost
    ///
    /// HostCommandLine.run(name: "shop", version: "1.2")
    /// ```
    ///
    /// Without a command it runs the app of `./slatefile.json`, as ``HostDaemon/run(_:)`` does. The modules
    /// are those of the slatefile, whose classes are found in this executable by their names.
    ///
    /// - Thread: The main thread, as the first statement of `main`: from this call on signals wait until the
    ///   host takes them. Other commands run with the signals that the process was started with.
    /// - Exit code: That of the command; ``ExitCode/usage`` for an invalid command line or an invalid name in
    ///   `commands`, which stderr reports.
    /// - Parameters:
    ///   - name: The name of the executable, as the help, messages and the log state it.
    ///   - version: Its version, for `--version`, the help and the log.
    ///   - commands: Its own commands, which the help lists after those of every host.
    ///   - composition: What the program was composed of; nil where `hostd compose` has not made it.
    ///   - observer: The observer of what the host delivers; nil for none.
    public static func run(
        name: String, version: String, commands: [HostCommand] = [],
        composition: HostComposition? = nil, observer: (any DeliveryObserver)? = nil
    ) -> Never {
        // The first statement: from here on a signal waits for the host.
        let inheritedMask = SignalListener.hold()
        RawOutput.occupyClosedStandardDescriptors()
        // The reader of a pipe may end at any time, and a file have a limit: that is an error of the write,
        // and not the end of this process.
        Signals.turnIntoErrors()
        HostComposition.running.withLock { $0 = composition }
        let identity = ProgramIdentity(name: name, version: version)
        let code: ExitCode
        do throws(HostCommandError) {
            code = run(
                in: try Program(
                    identity, own: commands, composition: composition, observer: observer),
                mask: inheritedMask)
        } catch {
            Console.printError("\(name): \(error.message)")
            code = .usage
        }
        CurrentProcess.exit(code.rawValue)
    }

    /// Runs the command of this process's command line.
    ///
    /// - Parameters:
    ///   - program: The program.
    ///   - mask: The signals that a command which is not a host has blocked; all are blocked until the
    ///     command is known.
    /// - Returns: The exit code.
    private static func run(in program: Program, mask: SignalSet) -> ExitCode {
        do throws(UsageError) {
            switch try Request(words(), in: program) {
            case .text(let text):
                Signals.blockExactly(mask)
                return Console.write(text)
            case .command(let command, let arguments):
                if !command.isHost { Signals.blockExactly(mask) }
                return command.run(arguments)
            }
        } catch {
            Signals.blockExactly(mask)
            Console.printError(error.text(in: program))
            return .usage
        }
    }

    /// Returns the arguments of this process, without the program's name.
    ///
    /// `CommandLine.arguments` has other characters in the place of bytes that are not UTF-8: a path would be
    /// that of another file.
    private static func words() throws(UsageError) -> [String] {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let bytes = CommandLine.unsafeArgv[index] else { break }
            guard let word = String(validatingCString: bytes) else {
                let end = (0...).first { bytes[$0] == 0 } ?? 0
                throw .notUTF8((0..<end).map { UInt8(bitPattern: bytes[$0]) })
            }
            words.append(word)
        }
        return words
    }
}

/// The request of a command line.
private enum Request {
    case text(TerminalText)
    case command(Command, Arguments)

    init(_ words: [String], in program: Program) throws(UsageError) {
        switch words.first {
        case "--help", "-h": try self.init(.help, words.dropFirst(), in: program)
        case "--version":
            let arguments = try Arguments(words.dropFirst(), of: .version, in: program)
            self =
                arguments.has("json")
                ? .text(TerminalText(json: program.versionJSON))
                : .text("\(program.name) \(program.identity.version)\n")
        case let name? where !name.hasPrefix("-"):
            try self.init(program.command(named: name), words.dropFirst(), in: program)
        // No command, or its options directly: then it is the command that runs a daemon.
        case let option? where option != "--" && !Command.run.has(option: option):
            throw .unknownOption(String(option.prefix { $0 != "=" }), orOf: .run)
        default: try self.init(.run, words[...], in: program)
        }
    }

    private init(
        _ command: Command, _ words: ArraySlice<String>, in program: Program
    ) throws(UsageError) {
        let arguments = try Arguments(words, of: command, in: program)
        if arguments.has("help") {
            self = .text(TerminalText(lines: command.helpText(in: program)))
        } else if let usageError = command.usageError(arguments) {
            throw .invalidArguments(usageError, command)
        } else {
            self = .command(command, arguments)
        }
    }
}

extension Command {
    /// The option `--version` in the place of a command, for its own arguments.
    fileprivate static let version = Command(
        name: "--version", summary: "show the version", options: [.json], run: { _ in .success })
}
