/// The words of a command: options with values, and the others in their order.
struct CommandArguments {
    private(set) var others: [String] = []
    private var values: [String: [String]] = [:]

    /// Reads words.
    ///
    /// - Parameters:
    ///   - words: The words behind the name of the command.
    ///   - options: The options that have a value.
    ///   - flags: The options that have none.
    ///   - count: The number of the other words.
    /// - Throws: ``CommandError`` with the code 64.
    init(
        _ words: some Sequence<String>, options: [String], flags: [String] = [], others count: Int
    ) throws(CommandError) {
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            if flags.contains(word) {
                values[word, default: []].append("")
            } else if options.contains(word) {
                guard let value = rest.popFirst() else {
                    throw CommandError(.usage, "\(word) has no value")
                }
                values[word, default: []].append(value)
            } else if word.hasPrefix("-"), word != "-" {
                throw CommandError(
                    .usage,
                    "\(word) is unknown; the options are \((options + flags).joined(separator: ", "))"
                )
            } else {
                others.append(word)
            }
        }
        guard others.count == count else {
            throw CommandError(
                .usage,
                others.count < count
                    ? "an argument is missing" : "'\(others[count])' is one argument too many")
        }
    }

    func has(_ option: String) -> Bool { values[option] != nil }

    /// All values of an option, in their order.
    func all(_ option: String) -> [String] { values[option] ?? [] }

    /// The value of an option that is given at most once.
    func value(_ option: String) throws(CommandError) -> String? {
        guard all(option).count <= 1 else { throw CommandError(.usage, "\(option) is given twice") }
        return all(option).first
    }

    func required(_ option: String) throws(CommandError) -> String {
        guard let value = try value(option) else {
            throw CommandError(.usage, "\(option) is missing")
        }
        return value
    }

    static func number(
        _ text: String, in range: ClosedRange<Int>, of name: String
    ) throws(CommandError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw CommandError(
                .usage,
                "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound), not '\(text)'"
            )
        }
        return number
    }
}

/// The reason why a command did not do its work.
struct CommandError: Error {
    /// The exit codes, as in `sysexits.h`.
    enum Code: Int32 {
        case usage = 64
        case invalid = 65
        case noInput = 66
        case away = 69
        case cannotCreate = 73
    }

    let code: Code
    let text: String

    init(_ code: Code, _ text: String) { (self.code, self.text) = (code, text) }

    init(_ report: Report) {
        let code: Code =
            switch report.kind {
            case .away: .away
            case .noInput: .noInput
            default: .invalid
            }
        self.init(code, report.text)
    }
}
