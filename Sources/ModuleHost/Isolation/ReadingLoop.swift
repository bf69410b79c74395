import AppService
import Dispatch

/// The work of the thread that reads the processes of modules.
///
/// A turn costs as much as there is ready or due, however many processes there are.
struct ReadingLoop {
    private final class Entry {
        let reading: ModuleReading
        /// The streams that are reported when they are ready.
        var watched: ModuleReading.Ready = [.output, .errors]
        /// The time, in milliseconds, at which it is visited without anything ready; nil for never.
        var due: UInt64?
        /// The earliest of its times that are in ``ReadingLoop/times``.
        var listed: UInt64?

        init(_ process: ModuleProcess) { reading = ModuleReading(process) }
    }

    private let reader: ProcessReader
    private let waiting: ProcessReader.Waiting
    /// By ``ModuleProcess/end``.
    private var entries: [Int32: Entry] = [:]
    /// The processes of a turn, and what is ready of each.
    private var visits: [Int32: ModuleReading.Ready] = [:]
    /// The times at which processes are due, with the process's descriptor in the lowest bits.
    private var times = ReadyHeap()
    /// A page of a pipe is read of each process in a turn: one that floods it uses the processor only as long as
    /// writing that takes, and keeps others waiting no longer.
    private var buffer = [UInt8](readingUpTo: 1 << 12)

    init(_ reader: ProcessReader, _ waiting: ProcessReader.Waiting) {
        (self.reader, self.waiting) = (reader, waiting)
    }

    /// Visits the processes that have something to read, are due or are new, and waits for the next ones.
    ///
    /// - Returns: False when there is no process left.
    mutating func turn() -> Bool {
        guard let mail = reader.takeMail(isIdle: entries.isEmpty) else { return false }
        for process in mail.started {
            entries[process.end] = Entry(process)
            planVisit(process.end)
        }
        for process in mail.called { planVisit(process) }
        let now = Self.now
        listDue(at: now)
        for (process, ready) in visits {
            if let entry = entries[process] { visit(entry, ready, at: now) }
        }
        visits.removeAll(keepingCapacity: true)
        if !entries.isEmpty { wait() }
        return true
    }

    private mutating func planVisit(_ process: Int32) { visits[process] = visits[process] ?? [] }

    private mutating func visit(_ entry: Entry, _ ready: ModuleReading.Ready, at now: UInt64) {
        let process = entry.reading.process
        let isDue = entry.due.map { $0 <= now } ?? false
        guard let wait = entry.reading.visit(ready, isTimeUp: isDue, &buffer) else {
            waiting.descriptors.remove(process)
            entries[process.end] = nil
            return
        }
        entry.watched.subtract(ready)
        for part in [ModuleReading.Ready.output, .errors]
        where wait.parts.contains(part) && !entry.watched.contains(part) {
            waiting.descriptors.watch(
                process.descriptor(of: part), token: ModuleReading.token(process, part))
            entry.watched.insert(part)
        }
        entry.due = wait.milliseconds.map { now + UInt64(max(0, $0)) }
        list(entry)
    }

    // MARK: Times

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds / 1_000_000 }

    private static let descriptorBits: UInt64 = 24

    /// Lists the time at which a process is due, unless an earlier one is listed: that one comes first, and leads to
    /// this one.
    private mutating func list(_ entry: Entry) {
        guard let due = entry.due, entry.listed.map({ due < $0 }) ?? true else { return }
        entry.listed = due
        times.push(due << Self.descriptorBits | UInt64(entry.reading.process.end))
    }

    /// Adds the processes that are due to those that are visited.
    private mutating func listDue(at now: UInt64) {
        while let first = times.first, first >> Self.descriptorBits <= now {
            _ = times.pop()
            let process = Int32(truncatingIfNeeded: first & (1 << Self.descriptorBits - 1))
            guard let entry = entries[process] else { continue }
            entry.listed = nil
            if let due = entry.due, due <= now {
                planVisit(process)
            } else {
                list(entry)
            }
        }
    }

    // MARK: Waiting

    private mutating func wait() {
        var limit: Int32 = 0
        if waiting.bell.fallAsleep() {
            let first = times.first.map { $0 >> Self.descriptorBits }
            limit = first.map { Int32(clamping: $0 - min($0, Self.now)) } ?? -1
        }
        var isSignalled = false
        waiting.descriptors.wait(milliseconds: limit) { token in
            if token == ProcessReader.Waiting.bellToken {
                isSignalled = true
            } else {
                let (process, part) = ModuleReading.of(token)
                visits[process, default: []].insert(part)
            }
        }
        waiting.bell.wakeUp(signalled: isSignalled)
    }
}
