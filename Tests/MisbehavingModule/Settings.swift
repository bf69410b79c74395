/// What the command line asks for.
struct Settings {
    var sins: [Sin] = []
    /// How many events it receives as it should before it does anything wrong.
    var after = 0
    /// It does wrong only where this file is not there, and makes it then.
    var once: String?
    /// How many events it receives before a flood ends.
    var flooding = Int.max
    /// Where each event that it receives is written down.
    var journal: String?

    enum Command {
        case help
        case module(Settings)
        /// What a grandchild does.
        case asleep
        case wrong(String)
    }

    static func command(_ arguments: [String]) -> Command {
        guard let first = arguments.first else { return .wrong("which sin? See --help") }
        if first == "--help" { return .help }
        if first == "--asleep" { return .asleep }
        var settings = Settings()
        for name in first.split(separator: ",") where name != "good" {
            guard let sin = Sin.all.first(where: { $0.name == name }) else {
                return .wrong("no sin '\(name)'; --help lists them")
            }
            settings.sins.append(sin)
        }
        var rest = arguments.dropFirst()
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else { return .wrong("\(option) needs a value") }
            switch option {
            case "--after", "--flooding":
                guard let count = Int(value), count >= 0 else {
                    return .wrong("\(option) \(value): how many events?")
                }
                if option == "--after" { settings.after = count } else { settings.flooding = count }
            case "--once": settings.once = value
            case "--journal": settings.journal = value
            default: return .wrong("no option '\(option)'; --help lists them")
            }
        }
        return .module(settings)
    }

    static let help = """
        usage: MisbehavingModule SIN[,SIN…] [--after N] [--flooding N] [--once FILE] [--journal FILE]

        A module that speaks docs/isolated-modules.md over its standard input and output, and does wrong.

        SIN, and when:
        \(Sin.all.map(line).joined(separator: "\n"))
          good             does no wrong

        --after N       receives N events, and answers them, before it does wrong: in an event, a call, or at
                        shutdown; what is done at initialize is done at once
        --flooding N    ends a flood when it has received N events since that began
        --once FILE     does wrong only where FILE is not there, and makes it then: so it behaves when it is
                        started again
        --journal FILE  appends a line of JSON for each event that it receives, before it answers it
                        or does wrong: pid, event, position, payload, repeated; and for a grandchild its pid

        It receives launch, background, foreground, push, terminate, and messages on all topics, and has the
        routes echo/:text (action echo), which replies its parameters, and keep/:text, which does so when the
        next push arrives. Where it does wrong in an event, it does
        so in each from then on. After an hour it ends, whatever it does.
        """

    private static func line(_ sin: Sin) -> String {
        let name = sin.name + String(repeating: " ", count: max(1, 17 - sin.name.count))
        let method = sin.moments.map(\.rawValue).joined(separator: ", ")
        return "  \(name)\(method): \(sin.summary)"
    }
}
