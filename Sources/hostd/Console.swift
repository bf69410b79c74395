import ModuleHost

/// What a command says, and to whom.
enum Console {
    /// Writes a command's result to stdout.
    ///
    /// - Returns: `inputOutput` where that fails: with a word on stderr, or in silence where the
    ///   reader has simply gone, as `head` does.
    static func write(_ text: some Collection<UInt8>, then code: ExitCode = .success) -> ExitCode {
        do throws(SystemError) {
            try RawOutput.writeAll(text, to: RawOutput.standardOutput)
            return code
        } catch {
            if error != .brokenPipe { complain("hostd: cannot write to stdout: \(error)") }
            return .inputOutput
        }
    }

    /// Writes a command's result to stdout.
    static func write(_ text: String, then code: ExitCode = .success) -> ExitCode {
        write(text.utf8, then: code)
    }

    /// Writes a line, or several, to stderr.
    ///
    /// Where nobody can be told, nobody is.
    static func complain(_ text: String) { writeError(text + "\n") }

    /// Writes what is wrong with a slatefile to stderr, in colours where those are wanted.
    static func complain(_ failure: SlatefileFailure, in command: String) {
        let format = LogFormat(.text, environment: CurrentProcess.environment())
        writeError(
            failure.rendered(
                for: "hostd \(command)", colored: format == .terminal(colors: true)))
    }

    private static func writeError(_ text: String) {
        try? RawOutput.writeAll(text.utf8, to: RawOutput.standardError)
    }
}
