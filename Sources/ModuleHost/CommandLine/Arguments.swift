/// The parsed arguments of one command.
struct Arguments: Sendable {
    let program: Program
    /// The name of the command.
    let command: String
    /// The values of the given options, by name; empty for an option without a value.
    private(set) var options: [String: String] = [:]
    /// The arguments without a dash, in order; at least the required ones.
    private(set) var operands: [String] = []

    /// Returns whether a word has the form of an option; `-1` is a number, and `-` a file.
    private static func isOption(_ word: String) -> Bool {
        word.hasPrefix("-") && word != "-" && !(word.dropFirst().first?.isNumber ?? false)
    }

    /// Parses the words after the command's name.
    ///
    /// `--name value` and `--name=value` mean the same. After `--` nothing is an option.
    ///
    /// - Throws: ``UsageError``, for the first error.
    init(
        _ words: some Sequence<String>, of command: Command, in program: Program
    ) throws(UsageError) {
        self.program = program
        self.command = command.name
        if command.takesAnyWords {
            operands = Array(words)
            if let first = operands.first, first == "-h" || first == "--help" {
                options["help"] = ""
            }
            return
        }
        var rest = Array(words)[...]
        var takesOptions = true
        while let word = rest.popFirst() {
            if takesOptions, word == "--" {
                takesOptions = false
            } else if takesOptions, word == "-h" {
                options["help"] = ""
            } else if takesOptions, Self.isOption(word) {
                try parseOption(word, &rest, command)
            } else {
                try takeOperand(word, command)
            }
        }
        let missing = command.operands.dropFirst(operands.count).first { $0.isRequired }
        if let missing, !has("help") { throw .missingArgument(missing, command) }
        let forgotten = command.options.first { $0.isRequired && options[$0.name] == nil }
        if let forgotten, !has("help") { throw .missingOption(forgotten, command) }
    }

    /// The program and the command, as messages begin.
    var title: String { "\(program.name) \(command)" }

    /// The first argument without a dash; nil where there is none.
    var operand: String? { operands.first }

    /// The slatefile of a command that takes it as its argument, too.
    var slatefileArgument: String { operand ?? self["slatefile"] ?? Command.defaultSlatefile }

    /// The error of a slatefile that is given twice; nil for none.
    var slatefileTwice: String? {
        operand != nil && has("slatefile")
            ? "the slatefile is given twice, as FILE and by '--slatefile'" : nil
    }

    /// Returns whether an option was given.
    func has(_ option: String) -> Bool { options[option] != nil }

    /// The value of an option; nil where it was not given.
    subscript(option: String) -> String? { options[option] }

    private mutating func takeOperand(_ word: String, _ command: Command) throws(UsageError) {
        let last = command.operands.last.flatMap { $0.isRepeated ? $0 : nil }
        let isBeyond = operands.count >= command.operands.count
        guard let operand = isBeyond ? last : command.operands[operands.count] else {
            throw .surplusArgument(word, command, in: program)
        }
        guard !word.isEmpty else { throw .emptyArgument(command) }
        guard operand.choices.isEmpty || operand.choices.contains(word) else {
            throw .unknownWord(word, for: operand, command)
        }
        operands.append(word)
    }

    private mutating func parseOption(
        _ word: String, _ rest: inout ArraySlice<String>, _ command: Command
    ) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let written = String(parts[0])
        guard let option = command.option(written) else {
            throw .unknownOption(written, command)
        }
        guard options[option.name] == nil || option.name == "help" else {
            throw .repeatedOption(written, command)
        }
        guard let placeholder = option.placeholder else {
            guard parts.count == 1 else { throw .surplusValue(written, command) }
            options[option.name] = ""
            return
        }
        // A word in the form of an option is not a value: the value was forgotten. `--name=-value` forces a
        // value.
        let next = rest.first.flatMap { Self.isOption($0) ? nil : $0 }
        guard let value = parts.count == 2 ? String(parts[1]) : next, !value.isEmpty else {
            throw .missingValue(written, placeholder, command)
        }
        if parts.count == 1 { rest.removeFirst() }
        guard option.choices.isEmpty || option.choices.contains(value) else {
            throw .unknownValue(value, of: option, command)
        }
        options[option.name] = value
    }
}

extension Command {
    /// Returns the option with a name as it is written, with its dashes.
    fileprivate func option(_ written: String) -> Option? {
        allOptions.first {
            "--\($0.name)" == written
                || $0.letter.map { "-\($0)" } == written
        }
    }

    /// Returns whether a word, with its value or without, is one of the options.
    func has(option word: String) -> Bool { option(String(word.prefix { $0 != "=" })) != nil }
}

extension JSONValue {
    /// Parses JSON from a user, for the parameters of a request.
    ///
    /// The request and its parameters are an object each, around this one; a record of the inbox is one.
    init(parameter bytes: [UInt8]) throws(JSONError) {
        try self.init(parsing: bytes, depthLimit: JSONDocument.depthLimit - 2)
    }
}

/// The format of what a command prints, which `--format` and `--json` name.
extension Arguments {
    /// The error of options that name two formats; nil for one or none.
    var formatError: String? {
        guard has("json"), let format = self["format"], format != "json" else { return nil }
        return "'--json' and '--format \(format)' exclude each other"
    }

    /// Returns the format that was asked for; nil for none.
    func format<Format: RawRepresentable<String>>(_ type: Format.Type) -> Format? {
        (has("json") ? "json" : self["format"]).flatMap(Format.init)
    }
}
