import Foundation
import Served

// What nine modules notice of a tenth that hangs for ever: how late they receive the first event after it
// hung, and whether they receive later ones as fast as before.
//
// `Hung` measures, each round in a process of its own; `Hung WAY` is such a round.

switch CommandLine.arguments.count {
case 1: try measureAll()
case 2:
    let way = CommandLine.arguments[1]
    MainThread.serve {
        do {
            try Round(way).run()
        } catch {
            FileHandle.standardError.write(Data("Hung: \(error)\n".utf8))
            exit(1)
        }
    }
default:
    FileHandle.standardError.write(Data("usage: Hung\n".utf8))
    exit(64)
}

/// Measures every way to hang and prints the table.
func measureAll() throws {
    print(
        "| one of 10 modules hangs for ever | first event after it, ms | later ones, µs: before | after | p99: before | after | received |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for (way, title) in [("lock", "for a lock"), ("spin", "spinning on a core")] {
        let rounds = try (0..<5).map { _ in try metrics(of: way) }
        func middle(_ key: String) -> Int {
            rounds.compactMap { $0[key] }.sorted()[rounds.count / 2]
        }
        let first = rounds.compactMap { $0["first"] }.sorted()
        let received = rounds.compactMap { $0["received"] }.reduce(0, +)
        let sent = rounds.compactMap { $0["sent"] }.reduce(0, +)
        print(
            "| \(title) | \(first[first.count / 2] / 1_000_000), worst \((first.last ?? 0) / 1_000_000) "
                + "| \(middle("before") / 1000) | \(middle("after") / 1000) "
                + "| \(middle("slowBefore") / 1000) | \(middle("slowAfter") / 1000) "
                + "| \(received) of \(sent) |")
    }
}

/// The metrics that a round prints.
func metrics(of way: String) throws -> [String: Int] {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments = [way]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(
        decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    var metrics: [String: Int] = [:]
    for word in text.split(whereSeparator: \.isWhitespace) {
        let parts = word.split(separator: "=")
        if parts.count == 2, let value = Int(parts[1]) { metrics[String(parts[0])] = value }
    }
    guard metrics["received"] != nil else { throw Failure("a round came to nothing: \(text)") }
    return metrics
}
