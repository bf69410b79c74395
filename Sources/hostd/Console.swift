import ModuleHost

/// The output of a command.
///
/// It takes texts in which all that the host did not write itself is escaped, and nothing else.
enum Console {
    /// Writes a command's result to stdout.
    ///
    /// - Returns: `inputOutput` where that fails: with a word on stderr, or in silence where the
    ///   reader has simply gone, as `head` does.
    static func write(_ text: TerminalText, then code: ExitCode = .success) -> ExitCode {
        do throws(SystemError) {
            try RawOutput.writeAll(text.string.utf8, to: RawOutput.standardOutput)
            return code
        } catch {
            if error != .brokenPipe { complain("hostd: cannot write to stdout: \(error)") }
            return .inputOutput
        }
    }

    /// Writes JSON text to stdout, line breaks included.
    static func write(
        json text: some Sequence<UInt8>, then code: ExitCode = .success
    ) -> ExitCode {
        write(TerminalText(json: text), then: code)
    }

    /// Writes a value to stdout as a line of JSON.
    static func write(json value: JSONValue, then code: ExitCode = .success) -> ExitCode {
        write(json: "\(value.text)\n".utf8, then: code)
    }

    /// Writes a line, or several, to stderr.
    ///
    /// What cannot be printed is dropped.
    static func complain(_ text: TerminalText) { writeError("\(text)\n") }

    /// Writes what is wrong with a slatefile to stderr, in colours where those are wanted.
    static func complain(_ failure: SlatefileFailure, in command: TerminalText) {
        let format = LogFormat(.text, environment: CurrentProcess.environment())
        writeError(
            failure.text(for: "hostd \(command)", colored: format == .terminal(colors: true)))
    }

    private static func writeError(_ text: TerminalText) {
        try? RawOutput.writeAll(text.string.utf8, to: RawOutput.standardError)
    }
}
