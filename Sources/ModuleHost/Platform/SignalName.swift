import AppService

/// A UNIX signal that a slatefile may assign an action to, by its name; its number is the platform's.
///
/// Written without `SIG`: `USR1`, `RTMIN+3`. Not every signal is available:
///
/// - `KILL` and `STOP` cannot be caught.
/// - `SEGV`, `BUS`, `ILL`, `TRAP`, `FPE`, `ABRT` and `SYS` report a crash.
/// - `CHLD`, `PIPE`, `CONT`, `TSTP`, `TTIN`, `TTOU`, `XCPU` and `XFSZ` are the host's own: its
///   children, its sockets, its terminal, its limits.
///
/// Real-time signals count from `RTMIN+1` to `RTMIN+30`: the ones that the C library leaves to programs on
/// Linux.
package struct SignalName: Hashable, Sendable, CustomStringConvertible {
    /// The name as the slatefile writes it, such as `USR1` or `RTMIN+3`.
    package let name: String

    /// The name as the slatefile writes it.
    package var description: String { name }

    /// The offset of a real-time signal from `SIGRTMIN`; nil for any other.
    package let realTimeOffset: Int?

    private init(unchecked name: String, realTimeOffset: Int? = nil) {
        self.name = name
        self.realTimeOffset = realTimeOffset
    }

    /// Creates a signal from its name.
    ///
    /// - Parameter name: The name, in capitals, without `SIG`.
    /// - Throws: The reason why there is no such signal, or why it is not available.
    package init(_ name: String) throws(ParsingError) {
        if Self.standard.contains(name) {
            self.init(unchecked: name)
        } else if let offset = Self.offset(in: name), Self.realTimeOffsets ~= offset,
            name == "RTMIN+\(offset)"
        {
            self.init(unchecked: name, realTimeOffset: offset)
        } else {
            throw Self.error(in: name)
        }
    }

    /// The signal that ends the host.
    package static let terminate = SignalName(unchecked: "TERM")
    /// The signal that ends the host; Control-C in a terminal.
    package static let interrupt = SignalName(unchecked: "INT")
    /// The signal that reloads the slatefile.
    package static let hangUp = SignalName(unchecked: "HUP")
    /// The signal that moves the app to the background.
    package static let user1 = SignalName(unchecked: "USR1")
    /// The signal that moves the app to the foreground.
    package static let user2 = SignalName(unchecked: "USR2")

    /// The available signals that are not real-time signals.
    static let standard = [
        "TERM", "INT", "HUP", "USR1", "USR2", "QUIT", "ALRM", "VTALRM", "PROF", "WINCH", "URG",
        "IO", "PWR",
    ]

    /// The offsets from `SIGRTMIN` of the available real-time signals.
    static let realTimeOffsets = 1...30

    /// The regular expression of the JSON Schema.
    static let pattern = "^(\(standard.joined(separator: "|"))|RTMIN\\+([1-9]|[12][0-9]|30))$"

    /// The reason why a name is not an available signal.
    package enum ParsingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The signal cannot be caught by any program.
        case uncatchable(String)
        /// The signal reports a crash.
        case crash(String)
        /// The signal is reserved for the host.
        case reserved(String)
        /// The real-time signal is outside the range.
        case realTime(String)
        /// The signal exists, but its name is written differently.
        case spelling(String, right: String)
        /// There is no such signal; `nearest` is the most similar name.
        case unknown(String, nearest: String?)

        /// The error in words.
        package var description: String {
            switch self {
            case .uncatchable(let name): "signal \(name) cannot be caught by any program"
            case .crash(let name): "signal \(name) is reserved: it reports a crash"
            case .reserved(let name): "signal \(name) is reserved: the host needs it for itself"
            case .realTime(let name):
                "no real-time signal \(quoted(name)); they are RTMIN+1 to RTMIN+30"
            case .spelling(let name, let right):
                "signal \(quoted(name)) is written \(quoted(right)) here"
            case .unknown(let name, let nearest?):
                "no signal \(quoted(name)); did you mean \(quoted(nearest))?"
            case .unknown(let name, nil):
                "no signal \(quoted(name)); there are "
                    + standard.joined(separator: ", ") + " and RTMIN+1 to RTMIN+30"
            }
        }
    }

    private static let uncatchable = ["KILL", "STOP"]
    private static let crashes = ["SEGV", "BUS", "ILL", "TRAP", "FPE", "ABRT", "SYS"]
    private static let reserved = ["CHLD", "PIPE", "CONT", "TSTP", "TTIN", "TTOU", "XCPU", "XFSZ"]

    private static func offset(in name: String) -> Int? {
        name.hasPrefix("RTMIN+") ? Int(name.dropFirst(6)) : nil
    }

    private static func error(in name: String) -> ParsingError {
        if uncatchable.contains(name) { return .uncatchable(name) }
        if crashes.contains(name) { return .crash(name) }
        if reserved.contains(name) { return .reserved(name) }
        let plain = name.uppercased()
        let short = plain.hasPrefix("SIG") ? String(plain.dropFirst(3)) : plain
        if short != name {
            do throws(ParsingError) {
                return .spelling(name, right: try SignalName(short).name)
            } catch {
                if case .unknown = error {} else { return error }
            }
        }
        if short.hasPrefix("RT") { return .realTime(name) }
        return .unknown(name, nearest: nearestName(to: short, in: standard))
    }
}
