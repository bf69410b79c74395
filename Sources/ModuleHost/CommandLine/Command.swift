/// A command of a host's program: its arguments, its help, its action.
///
/// Parsing, usage errors and help all follow from this one description.
struct Command: Sendable {
    let name: String
    /// The summary, on one line without a full stop.
    let summary: String
    /// The text beyond the summary, in lines of at most 80 characters.
    var discussion = ""
    /// The arguments without a dash, the required ones first.
    var operands: [Operand] = []
    var options: [Option] = []
    /// Its exit codes, beside those of all commands: usage errors, and failures of stdout.
    var exitCodes: [ExitCode] = [.success]
    /// The meanings of exit codes that differ from the general ones.
    var exitMeanings: [ExitCode: String] = [:]
    var examples: [Example] = []
    /// A check of well-formed arguments: returns the error, or nil.
    var usageError: @Sendable (Arguments) -> String? = { _ in nil }
    /// Whether its process is a host, for which signals are blocked from the first statement on.
    var isHost = false
    /// Whether it parses its arguments itself: all are operands.
    var takesAnyWords = false
    let run: @Sendable (Arguments) -> ExitCode

    /// An argument without a dash.
    struct Operand: Sendable {
        /// The placeholder in the help, such as `FILE`.
        let placeholder: String
        var isRequired = false
        /// Whether there may be several: only for the last one.
        var isRepeated = false
        /// The possible words; empty for any.
        var choices: [String] = []
        let help: String
    }

    /// An option, with a value or without.
    struct Option: Sendable {
        /// The name without its dashes.
        let name: String
        /// The one letter that means the same behind a single dash; nil for none.
        var letter: Character?
        /// The placeholder of its value in the help; nil for an option without one.
        var placeholder: String?
        /// The possible values; empty for any.
        var choices: [String] = []
        /// Whether it must be given; only for one with a value.
        var isRequired = false
        let help: String

        static let help = Option(name: "help", help: "show this text")
    }

    /// A useful command line.
    struct Example: Sendable {
        /// The words before the name of the program.
        var before = ""
        /// The words after the name of the program.
        let line: String
        let explanation: String
    }

    /// The options, with those that every command has.
    var allOptions: [Option] { options + [.help] }

    /// The commands of every host's program, in the order of the help.
    static let builtIn: [Command] = [
        .run, .check, .graph, .new, .compose, .schema, .signals, .status, .why, .modules, .health,
        .wait, .startup, .timeline, .config, .metrics, .routes, .open, .canOpen,
        .call, .post, .send, .inbox, .tail, .top, .logLevel, .reload, .apply, .disable, .enable,
        .restart,
        .unload, .stop,
        .help,
    ]
}
