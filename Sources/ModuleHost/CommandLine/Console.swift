/// The output of a command.
///
/// It takes only texts in which everything that the host did not write itself is escaped.
enum Console {
    /// Writes a command's result to stdout.
    ///
    /// - Returns: `inputOutput` where that fails: with a message on stderr, or silently where the reader has
    ///   simply gone, as `head` does.
    static func write(_ text: TerminalText, then code: ExitCode = .success) -> ExitCode {
        do throws(SystemError) {
            try RawOutput.writeAll(text.string.utf8, to: RawOutput.standardOutput)
            return code
        } catch {
            if error != .brokenPipe {
                printError("\(CurrentProcess.programName): cannot write to stdout: \(error)")
            }
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
    /// On a terminal of 80 columns, long lines are broken between words. Output that cannot be written is dropped.
    static func printError(_ text: TerminalText) {
        writeError(showsStates ? "\(text.wrapped(to: helpWidth))\n" : "\(text)\n")
    }

    /// Writes the problems of a slatefile to stderr, in colors if they are enabled.
    static func printError(_ failure: SlatefileFailure, in arguments: Arguments) {
        let format = LogFormat(.text, environment: CurrentProcess.environment())
        writeError(
            failure.text(for: "\(arguments.title)", colored: format == .terminal(colors: true)))
    }

    /// Shows the state of the moment on a terminal, in the place of the one before.
    ///
    /// The next line replaces it. An empty text only removes it. Where stderr is not a terminal, nothing is
    /// shown.
    static func showState(_ text: TerminalText) {
        guard showsStates else { return }
        writeError("\r\u{1B}[K\(text)")
    }

    /// Whether states are shown.
    static var showsStates: Bool { RawOutput.isTerminal(RawOutput.standardError) }

    /// Whether stdout is a terminal.
    static var isTerminal: Bool { RawOutput.isTerminal(RawOutput.standardOutput) }

    /// Whether stdout is a terminal whose cursor can be moved.
    static var canMoveCursor: Bool {
        isTerminal && CurrentProcess.environment()["TERM"] != "dumb"
    }

    /// Whether text on stdout may have colors.
    static var hasColors: Bool {
        let format = LogFormat(
            .text, environment: CurrentProcess.environment(),
            descriptor: RawOutput.standardOutput)
        return format == .terminal(colors: true)
    }

    private static func writeError(_ text: TerminalText) {
        try? RawOutput.writeAll(text.string.utf8, to: RawOutput.standardError)
    }
}
