import Foundation
import InboxFile
import Served

/// A host that finds a million pending events: until the first and all are delivered, and the memory that stays.
func measurePending(by hostd: String, in folder: URL) throws {
    let (rounds, count) = (3, 1_000_000)
    var first: [Int] = []
    var all: [Int] = []
    var memory: [Int] = []
    for round in 0..<rounds {
        // The same host without pending events is what the memory is compared with.
        let idle = try BenchHost(hostd, pendingEntries, in: folder.appending(path: "idle-\(round)"))
        sleep(settling)
        let before = try anonymousMemory(of: idle.server.id)
        idle.server.stop()

        let state = folder.appending(path: "pending-\(round)")
        try InboxFile(state.path).appendPushes(count)
        let journal = Journal(state.appending(path: "journal.ndjson").path)
        let began = nanoseconds()
        let host = try BenchHost(hostd, pendingEntries, in: state)
        defer { host.server.stop() }
        try journal.wait(for: 1)
        first.append(nanoseconds() - began)
        try journal.wait(for: count, within: 300)
        all.append(nanoseconds() - began)
        sleep(settling)
        memory.append(try anonymousMemory(of: host.server.id) - before)
        try FileManager.default.removeItem(at: state.appending(path: "journal.ndjson"))
    }
    print(
        "| \(count) pending events: from the start of the host | median | worst |\n|---|---:|---:|")
    for (title, metrics, unit) in [
        ("pending events: until the first is delivered, ms", first, 1_000_000),
        ("pending events: until all are delivered, ms", all, 1_000_000),
        ("pending events: anonymous memory after, more than before, MB", memory, 1024),
    ] {
        print(
            "| \(title) | \(tenths(median(metrics), of: unit)) "
                + "| \(tenths(metrics.max() ?? 0, of: unit)) |")
    }
}

private let pendingEntries = ["Main", "Journal"]
/// The time for which a host is idle before its memory is read, in seconds.
private let settling: UInt32 = 10

/// The pages that a process has written, in KB.
private func anonymousMemory(of process: Int32) throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    guard let number = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
        throw Failure("/proc does not say how much memory the host takes")
    }
    return number
}
