/// A command of an executable's own, beside those that every host has.
///
/// ```swift
/// HostCommandLine.run(
///     name: "shop", version: "1.2",
///     commands: [
///         HostCommand(name: "prices", summary: "print the price list") { words in
///             print(words.isEmpty ? "all prices" : "the price of \(words[0])")
///             return .success
///         }
///     ])
/// ```
///
/// `shop --help` lists it, `shop prices --help` and `shop help prices` print its help, and `shop prices tea`
/// runs it.
public struct HostCommand: Sendable {
    /// The name: lower-case letters, digits and hyphens, with a letter at the beginning.
    ///
    /// The names of the host's own commands, such as `run`, are reserved.
    public let name: String
    /// The summary on one line, such as `print the price list`.
    public let summary: String
    /// The help beyond the summary, in lines; empty for none.
    public let help: String
    /// The action.
    public let run: @Sendable (_ words: [String]) -> ExitCode

    /// Creates a command.
    ///
    /// - Parameters:
    ///   - name: The name: lower-case letters, digits and hyphens, with a letter at the beginning.
    ///   - summary: The summary on one line, without a full stop.
    ///   - help: The help beyond the summary, in lines; empty for none.
    ///   - run: The action. It runs on the main thread with the signals that the process was started with,
    ///     and receives the words after the name unparsed; `--help` or `-h` as the first of them prints the
    ///     help instead. Its value is the exit code of the process. Writing to a pipe without a reader is an
    ///     error, and does not end the process.
    public init(
        name: String, summary: String, help: String = "",
        run: @escaping @Sendable (_ words: [String]) -> ExitCode
    ) {
        self.name = name
        self.summary = summary
        self.help = help
        self.run = run
    }
}

extension Command {
    /// Creates the command for one of an executable's own.
    init(_ command: HostCommand) {
        self.init(
            name: command.name, summary: command.summary, discussion: command.help,
            operands: [
                Operand(placeholder: "ARGUMENT", isRepeated: true, help: "passed on to the command")
            ],
            takesAnyWords: true,
            run: { command.run($0.operands) })
    }
}

/// The reason why an executable's own command cannot be used, with the remedy.
struct HostCommandError: Error, Hashable {
    let message: String

    /// Creates the error in a name; nil where it can be used.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - reserved: The names of other commands.
    init?(_ name: String, reserved: [String]) {
        let shown = "the command '\(excerpt(name, limit: 100))' of this program"
        if reserved.contains(name) {
            message = "\(shown) has the name of another command; give it another name"
            return
        }
        let isValid =
            (name.utf8.first.map(Self.isLetter) ?? false)
            && name.utf8.allSatisfy { byte in
                Self.isLetter(byte) || byte == UInt8(ascii: "-")
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= byte
            }
        guard !isValid else { return nil }
        message = """
            \(shown) cannot be typed: a name has lower-case letters, digits and hyphens, and begins with a \
            letter
            """
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")) ~= byte
    }
}
