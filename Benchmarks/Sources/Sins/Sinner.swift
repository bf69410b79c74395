import Foundation
import Served

/// A module that commits one sin, once, at a time of its own.
struct Sinner {
    let sin: Sin
    let entry: SinsHost.Entry
    private let once: URL
    private let journal: URL

    /// - Parameters:
    ///   - sin: What it does.
    ///   - round: When, which makes it another module than those before.
    ///   - after: How many events it receives before that.
    ///   - program: The one that misbehaves.
    ///   - folder: Where it writes down what it does.
    ///   - plan: What it is given.
    init(
        _ sin: Sin, round: Int, after: Int, program: String, in folder: URL, _ plan: Plan
    ) {
        self.sin = sin
        once = folder.appending(path: "once-\(sin.name)-\(round)")
        journal = folder.appending(path: "journal-\(sin.name)-\(round)")
        let impatient =
            #", "deadline": "\#(plan.deadlineMilliseconds)ms", "killAfter": "500ms""#
        entry = SinsHost.Entry(
            id: "round\(round).\(sin.name)",
            command: [
                program, sin.name, "--after", "\(after)", "--flooding", "\(plan.flooding)",
                "--once", once.path, "--journal", journal.path,
            ], more: sin.isImpatient ? impatient : "")
    }

    /// Whether it has begun.
    var hasSinned: Bool { begin != nil }

    /// Whether it has begun so many seconds ago, or more.
    func hasSinned(since seconds: Double) -> Bool {
        begin.map { Date.now.timeIntervalSince($0) >= seconds } ?? false
    }

    /// When it began, by the clock that is set; it says so by a file.
    private var begin: Date? {
        (try? FileManager.default.attributesOfItem(atPath: once.path))?[.modificationDate] as? Date
    }

    /// When others may have waited for it, beyond an event that takes its time.
    func wait(_ clock: Clock) -> Window? {
        guard sin.wait > 0, let begin = begin.map(clock.nanoseconds) else { return nil }
        // An event that came just before it waits, too; and what has waited is worked off.
        return Window(begin: begin - 20_000_000, end: begin + (sin.wait + 30) * 1_000_000)
    }

    /// What it has written down.
    func takeJournal() throws -> Journal {
        defer {
            try? FileManager.default.removeItem(at: journal)
            try? FileManager.default.removeItem(at: once)
        }
        return try Journal(journal)
    }
}

/// What a module's program has received.
struct Journal {
    /// The ticks, in the order in which they were received.
    private(set) var ticks: [Int] = []
    /// How many of them it had received before, without a mark that says so.
    private(set) var unmarked = 0
    /// The processes that it was, and that it has started.
    private(set) var processes: Set<pid_t> = []

    init(_ file: URL) throws {
        guard let bytes = try? Data(contentsOf: file) else { return }
        var received: Set<Int> = []
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
                for key: StaticString in [#""pid":"#, #""grandchild":"#] {
                    if let process = Self.number(after: key, in: line) {
                        processes.insert(pid_t(process))
                    }
                }
                if let tick = Self.number(after: #""topic":"tick","payload":"#, in: line) {
                    ticks.append(tick)
                    let isMarked = line.firstIndex(of: #""repeated":true"#) != nil
                    if !received.insert(tick).inserted, !isMarked { unmarked += 1 }
                }
                rest = rest[(end + 1)...]
            }
        }
    }

    private static func number(
        after key: StaticString, in line: UnsafeRawBufferPointer
    ) -> Int? {
        guard let start = line.firstIndex(of: key) else { return nil }
        let digits = line[(start + key.utf8CodeUnitCount)...].prefix { 0x30...0x39 ~= $0 }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
