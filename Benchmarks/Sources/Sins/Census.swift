import Foundation
import Served

/// What the system says of this process, and of those that it has started.
struct Census {
    let descriptors: Int
    let threads: Int
    let residentKB: Int
    /// Children that have ended, and that were not reaped.
    let zombies: Int
    /// Children that run.
    let children: Int

    init() throws {
        let files = FileManager.default
        // The one that lists them does not count.
        descriptors = try files.contentsOfDirectory(atPath: "/proc/self/fd").count - 1
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        func figure(_ name: String) -> Int {
            status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
                .flatMap { $0.split(whereSeparator: \.isWhitespace).dropFirst().first }
                .flatMap { Int($0) } ?? 0
        }
        threads = figure("Threads")
        residentKB = figure("VmRSS")
        var states: [Substring] = []
        for process in try files.contentsOfDirectory(atPath: "/proc").compactMap(pid_t.init) {
            let words = Self.stat(of: process)
            if words.count > 1, words[1] == "\(getpid())" { states.append(words[0]) }
        }
        zombies = states.count { $0 == "Z" }
        children = states.count - zombies
    }

    /// Whether a process runs, and is one of this program.
    static func runs(_ process: pid_t, _ program: String) -> Bool {
        guard let state = stat(of: process).first, state != "Z" else { return false }
        let path = try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/\(process)/exe")
        return path == program
    }

    /// State, parent, and what follows.
    private static func stat(of process: pid_t) -> [Substring] {
        guard
            let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let name = text.lastIndex(of: ")")
        else { return [] }
        return text[text.index(after: name)...].split(separator: " ")
    }
}
