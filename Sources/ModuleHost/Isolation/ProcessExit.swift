import AppService

/// The end of one run of a module's process, with its last output.
struct ProcessExit: Error, Hashable, Sendable {
    /// The cause of the end.
    enum Cause: Hashable, Sendable {
        /// The process ended by itself, or was killed from outside the host.
        case itself
        /// The process was killed, since it closed its output.
        case closedOutput
        /// The process was killed for an invalid message.
        case violation(String)
        /// The process was killed, since it did not act in time, such as `answer 'event'`.
        case silence(String, Duration)
        /// The process was killed, since it read nothing for this time although there was something to read.
        static func notReading(_ time: Duration) -> Cause { .silence("read its input", time) }
        /// The process ended as requested.
        case asked
        /// The process was killed to be restarted.
        case demand
        /// There was no process: it could not be started.
        case notStarted(String)
    }

    let processID: Int32
    var cause: Cause
    /// The exit status from the system.
    var exit: ChildProcess.Exit
    /// The last lines of its standard error.
    var lastLines: [String]

    /// Whether it has done what it was started for, where it is a program that ends.
    var isSuccess: Bool { cause == .itself && exit == .code(0) }
}

extension ProcessExit: CustomStringConvertible {
    /// The end in words, for a log: `process 4711 was killed by SIGSEGV; it last said: "…"`.
    var description: String {
        if case .notStarted(let reason) = cause { return reason }
        let what =
            switch cause {
            case .itself, .asked, .notStarted: "\(exit)"
            case .demand: "was killed, to be started again"
            case .closedOutput: "closed its output, and was killed"
            case .violation(let what): "\(what), and was killed"
            case .silence(let what, let time):
                "did not \(what) within \(time.briefText), and was killed"
            }
        let words = Self.meaningful(lastLines).map { line in
            // A reason has the file and the line first, and what it says at its end.
            "\"\(excerpt(line, limit: ErrorLines.isReason(line) ? 200 : 60))\""
        }.joined(separator: ", ")
        return "process \(processID) \(what)"
            + (words.isEmpty ? "" : "; its last output was \(words)")
    }

    /// The end in words, without what the process has printed.
    var withoutOutput: String {
        var end = self
        end.lastLines = []
        return "\(end)"
    }

    /// Returns the most useful lines: the reason of a trap, else the last three.
    private static func meaningful(_ lines: [String]) -> ArraySlice<String> {
        if let reason = lines.first(where: ErrorLines.isReason) { return [reason] }
        return lines.suffix(3)
    }
}
