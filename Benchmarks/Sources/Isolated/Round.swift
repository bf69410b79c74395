import Glibc

/// What the command line says where this measures.
enum Arguments {
    /// This program, for more of its kind.
    static let program = "/proc/\(getpid())/exe"
    static var echoChild: String { CommandLine.arguments[1] }
}

/// A measurement in a process of its own, which ends with it: a host could not begin a second time.
enum Round {
    /// In that process.
    static func run(_ part: String, _ argument: String, _ path: String) throws -> Never {
        let folder = try Folder(path)
        switch part {
        case "exchanges": try Exchanges.run(isApart: argument == "apart", in: folder)
        case "memory": try Memory.run(Int(argument) ?? 1, in: folder)
        case "starts": try Starts.run(Int(argument) ?? 1, in: folder)
        default: try Crashes.run(argument, in: folder)
        }
    }

    // MARK: In the one that starts it

    /// Runs one.
    ///
    /// - Parameters:
    ///   - part: What is measured.
    ///   - argument: With what.
    ///   - onOneCore: Whether it and all that it starts have one core.
    /// - Returns: What it prints, without what the host says.
    /// - Throws: ``Failure``.
    static func text(_ part: String, _ argument: String, onOneCore: Bool = false) throws -> String {
        let folder = "/tmp/modulehost-\(part)-\(getpid())"
        defer { _ = try? Child("/bin/rm", ["-rf", folder]).text() }
        let words = [Arguments.program, Arguments.echoChild, "round", part, argument, folder]
        let child =
            onOneCore
            ? try Child("/usr/bin/taskset", ["-c", "0"] + words)
            : try Child(words[0], Array(words.dropFirst()))
        return try child.text().split(separator: "\n").filter { !$0.hasPrefix("ready ") }
            .map { $0 + "\n" }.joined()
    }

    /// The metrics that one prints, in order.
    static func words(_ part: String, _ argument: String) throws -> [(String, Int)] {
        let text = try text(part, argument)
        let metrics = text.split(whereSeparator: \.isWhitespace).compactMap { word in
            let parts = word.split(separator: "=")
            return parts.count == 2 ? Int(parts[1]).map { (String(parts[0]), $0) } : nil
        }
        guard !metrics.isEmpty else { throw Failure("a round came to nothing: \(text)") }
        return metrics
    }

    /// The metrics that one prints, each of which comes once.
    static func metrics(_ part: String, _ argument: String) throws -> [String: Int] {
        Dictionary(try words(part, argument), uniquingKeysWith: { first, _ in first })
    }
}
