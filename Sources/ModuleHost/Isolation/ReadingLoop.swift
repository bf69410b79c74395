import AppService
import Dispatch

/// The work of the thread that reads the processes of modules.
///
/// A turn costs as much as there is ready or due, however many processes there are.
struct ReadingLoop {
    private let reader: ProcessReader
    private let waiting: ProcessReader.Waiting
    /// By ``ModuleProcess/end``.
    private var readings: [Int32: ModuleReading] = [:]
    /// The processes of a turn, and what is ready of each.
    private var visits: [Int32: ModuleReading.Ready] = [:]
    private var times = VisitTimes()
    /// A page of a pipe: no more is read of each stream in a turn, so that a process that floods it keeps others
    /// waiting only for the lines that end in it.
    private var buffer = [UInt8](readingUpTo: 1 << 12)

    init(_ reader: ProcessReader, _ waiting: ProcessReader.Waiting) {
        (self.reader, self.waiting) = (reader, waiting)
    }

    /// Visits the processes that have something to read, are due or are new, and waits for the next ones.
    ///
    /// - Returns: False when there is no process left.
    mutating func turn() -> Bool {
        guard let mail = reader.takeMail(isIdle: readings.isEmpty) else { return false }
        for process in mail.started {
            readings[process.end] = ModuleReading(process)
            planVisit(process.end)
        }
        for process in mail.called { planVisit(process) }
        var due: Set<Int32> = []
        times.takeDue(at: Self.now) { due.insert($0) }
        for process in due { planVisit(process) }
        for (process, ready) in visits {
            guard let reading = readings[process] else { continue }
            visit(reading, ready, isDue: due.contains(process))
        }
        visits.removeAll(keepingCapacity: true)
        if !readings.isEmpty { wait() }
        return true
    }

    private mutating func planVisit(_ process: Int32) { visits[process] = visits[process] ?? [] }

    private mutating func visit(
        _ reading: ModuleReading, _ ready: ModuleReading.Ready, isDue: Bool
    ) {
        let process = reading.process
        guard let wait = reading.visit(ready, isTimeUp: isDue, &buffer) else {
            waiting.descriptors.remove(process)
            times.remove(process.end)
            readings[process.end] = nil
            return
        }
        reading.watched.subtract(ready)
        for part in ModuleReading.Ready.parts
        where wait.parts.contains(part) && !reading.watched.contains(part) {
            waiting.descriptors.watch(
                process.descriptor(of: part), token: ModuleReading.token(process, part))
            reading.watched.insert(part)
        }
        if wait.parts.contains(.input), reading.watched.insert(.input).inserted {
            process.input.watch(
                in: waiting.descriptors, token: ModuleReading.token(process, .input))
        }
        // Rounded up: at that time the wait is over.
        times.set(process.end, wait.milliseconds.map { Self.now + 1 + UInt64(max(0, $0)) })
    }

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds / 1_000_000 }

    // MARK: Waiting

    private mutating func wait() {
        var limit: Int32 = 0
        if waiting.bell.fallAsleep() {
            limit = times.first.map { Int32(clamping: $0 - min($0, Self.now)) } ?? -1
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
