import Foundation
import InboxFile
import Served

/// A host that finds 100 000 undelivered events.
func measureRecovery(by hostd: String, in folder: URL) throws {
    let (rounds, count) = (7, 100_000)
    var ready: [Int] = []
    var first: [Int] = []
    var all: [Int] = []
    for round in 0..<rounds {
        let state = folder.appending(path: "recovery-\(round)")
        try InboxFile(state.path).appendPushes(count)
        let journal = Journal(state.appending(path: "journal.ndjson").path)
        let began = nanoseconds()
        let host = try BenchHost(hostd, ["Main", "Journal"], in: state)
        defer { host.server.stop() }
        ready.append(nanoseconds() - began)
        try journal.wait(for: 1)
        first.append(nanoseconds() - began)
        try journal.wait(for: count)
        all.append(nanoseconds() - began)
    }
    print("| \(count) events to recover, ms after `posix_spawn` | median | worst |")
    print("|---|---:|---:|")
    for (title, metrics) in [
        ("READY", ready), ("the first of them is in the journal", first),
        ("all of them are", all),
    ] {
        print(
            "| \(title) | \(tenths(median(metrics), of: 1_000_000)) "
                + "| \(tenths(metrics.max() ?? 0, of: 1_000_000)) |")
    }
}

/// The file of a host's journal, read as it grows.
final class Journal {
    private let path: String
    private var file: UnsafeMutablePointer<FILE>?
    private var pushes = 0
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)

    init(_ path: String) { self.path = path }

    deinit {
        if let file { fclose(file) }
        buffer.deallocate()
    }

    /// Waits until it has so many pushes, for some seconds.
    func wait(for count: Int, within seconds: Int = 60) throws {
        let end = nanoseconds() + seconds * 1_000_000_000
        while pushes < count {
            guard nanoseconds() < end else {
                throw Failure("\(pushes) of \(count) events were delivered in \(seconds) s")
            }
            if !readSome() { usleep(200) }
        }
        guard pushes == count || count == 1 else { throw Failure("\(pushes) for \(count) events") }
    }

    /// - Returns: False where there is no further whole line.
    private func readSome() -> Bool {
        if file == nil { file = fopen(path, "r") }
        guard let file, let line = buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else {
            return false
        }
        let start = ftell(file)
        clearerr(file)
        guard fgets(line, Int32(buffer.count), file) != nil, strchr(line, 10) != nil else {
            fseek(file, start, SEEK_SET)
            return false
        }
        if strstr(line, #""event":"push""#) != nil { pushes += 1 }
        return true
    }
}
