/// A command's connection to its host.
struct HostCall: ~Copyable {
    let arguments: Arguments
    let directory: StateDirectory
    let client: HostClient

    /// Runs `body` with a connection to the host that the arguments select, and reports errors.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the command.
    ///   - alternative: The way to do it without a host, on one line.
    ///   - time: The longest wait for a connection.
    ///   - recover: Handles a failed connection; returns nil for the default, which reports the error.
    ///   - body: The use of the connection.
    /// - Returns: The result of `body`, or the code of the error that prevented the connection.
    static func run(
        _ arguments: Arguments, instead alternative: TerminalText? = nil,
        within time: Duration = HostClient.patience,
        recover: (HostClientError) -> ExitCode? = { _ in nil },
        _ body: (borrowing HostCall) throws(HostClientError) -> ExitCode
    ) -> ExitCode {
        let directory = arguments.stateDirectory
        noteStopped(directory, arguments)
        do throws(HostClientError) {
            let client = try HostClient(to: directory, within: time)
            return try body(
                HostCall(
                    arguments: arguments, directory: directory, client: client))
        } catch {
            if let code = recover(error) { return code }
            Console.printError("\(arguments.title): \(error)")
            if case .notRunning = error {
                let elsewhere =
                    arguments["state-dir"] == nil
                    ? "; one that has another state directory is found by --state-dir or $STATE_DIRECTORY"
                    : ""
                Console.printError("start one with '\(startCommand(arguments))'\(elsewhere)")
                if let alternative { Console.printError(alternative) }
            }
            return error.exitCode
        }
    }

    /// Says that the host's process is stopped: else the wait for its answer has no visible reason.
    private static func noteStopped(_ directory: StateDirectory, _ arguments: Arguments) {
        guard case .host(let process?) = PidFile.holder(of: directory),
            ProcessUsage(ofProcess: process)?.isStopped == true
        else { return }
        Console.printError(
            "\(arguments.title): the host (process \(process)) is stopped, and answers when 'kill -CONT \(process)' lets it go on"
        )
    }

    /// Returns the command that starts the host that was searched.
    private static func startCommand(_ arguments: Arguments) -> String {
        arguments.selectingHost("\(arguments.program.name) run")
    }
}

extension Arguments {
    /// Returns a command of the program with the options that select the host of this one; any other command as it is.
    func selectingHost(_ command: String) -> String {
        guard command.hasPrefix(program.name + " ") else { return command }
        var words = [command]
        for option in ["slatefile", "state-dir"] {
            // 'check' has the file as its operand.
            let isThere = option == "slatefile" && command.hasPrefix("\(program.name) check ")
            if let value = self[option], !isThere {
                words += ["--\(option)", shellQuoted(value)]
            }
        }
        return words.joined(separator: " ")
    }

    /// The state directory of the host that the arguments select.
    var stateDirectory: StateDirectory {
        StateDirectory(
            option: self["state-dir"], environment: CurrentProcess.environment(),
            slatefile: self["slatefile"] ?? Command.defaultSlatefile)
    }
}

extension Command {
    /// The exit codes of a command that connects to a host.
    static let clientExitCodes: [ExitCode] = [
        .success, .unavailable, .failed, .busy, .notPermitted,
    ]

    static let clientExitMeanings: [ExitCode: String] = [
        .unavailable: "no host runs on the state directory",
        .failed: "the host could not do it",
        .inputOutput: "input or output failed, or the host ended before it answered",
        .busy: "the host is starting, stopping or busy; try again",
        .notPermitted: "the host is another user's",
    ]
}
