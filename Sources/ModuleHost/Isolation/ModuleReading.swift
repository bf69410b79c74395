import Dispatch
import Synchronization

/// The reading of one process by the thread that reads all of them, from its start to its end.
final class ModuleReading {
    /// Parts of a process that can be ready.
    struct Ready: OptionSet {
        let rawValue: UInt8
        static let output = Ready(rawValue: 1)
        static let errors = Ready(rawValue: 2)
        /// It has ended.
        static let end = Ready(rawValue: 4)
        /// There is room for lines that wait.
        static let input = Ready(rawValue: 8)
        static let parts = [output, errors, end]
    }

    /// The reasons for the next visit.
    struct Wait {
        /// The streams that are to be read.
        var parts: Ready = []
        /// The longest wait; nil for no limit.
        var milliseconds: Int32?
    }

    let process: ModuleProcess
    /// The streams whose readiness the thread will receive; kept by that thread.
    var watched: Ready = [.output, .errors]
    private let log: ModuleLog
    private let output: ModuleOutput
    private var errors: ErrorLines
    private var entries = ErrorEntries()
    private var errorPace: TokenBucket
    private var isErrorOpen = true
    /// The instant by which the process must have ended, since its output is closed.
    private var closing: DispatchTime?
    private var isClosedForLong = false
    private var load = Debounce()
    private var flood = Debounce()
    private var wait = Wait()

    init(_ process: ModuleProcess) {
        self.process = process
        log = process.log
        output = process.output
        errors = ErrorLines(limit: process.limits.errorLine)
        errorPace = TokenBucket(process.limits.errorBytes, at: .now)
    }

    /// Does what there is to do.
    ///
    /// - Parameter isTimeUp: Whether the last wait has taken as long as it may.
    /// - Returns: What to wait for; nil when the process has ended, and all that it left was handled.
    func visit(_ ready: Ready, isTimeUp: Bool, _ buffer: inout [UInt8]) -> Wait? {
        if ready.contains(.end), let exit = process.exit() {
            finish(exit, &buffer)
            return nil
        }
        // A stream that is not waited for is not read: it may be another thread's turn, or too early.
        let ready = ready.intersection(wait.parts)
        if ready.contains(.input) { process.input.flush() }
        if ready.contains(.errors) { readErrors(&buffer) }
        if ready.contains(.output) { output.readInTurn(atMost: buffer.count) }
        if ready.isEmpty, isTimeUp {
            // No further line followed for that time.
            write(entries.flush())
            endIfClosedForLong()
        }
        if process.input.isWaiting,
            let time = process.input.endIfStalled(since: output.lastAnswer)
        {
            process.kill(because: .notReading(time))
        }
        wait = next()
        return wait
    }

    private func next() -> Wait {
        let turn = output.turn()
        let isFull = process.queue.isFull
        let pauses = (output: output.pause(), error: errorPace.pause(at: .now))
        note(isFull: isFull, isFlood: pauses.output > 0 || pauses.error > 0)
        var wait = Wait()
        if turn == .own, !isFull, pauses.output == 0 { wait.parts.insert(.output) }
        if isErrorOpen, pauses.error == 0 { wait.parts.insert(.errors) }
        if process.input.isWaiting { wait.parts.insert(.input) }
        let times = [
            pauses.output > 0 ? pauses.output : nil, pauses.error > 0 ? pauses.error : nil,
            patience(turn), load.isUnderWay || entries.isPending ? 1000 : nil,
            process.input.millisecondsLeft(since: output.lastAnswer),
        ]
        wait.milliseconds = times.compactMap(\.self).min()
        return wait
    }

    private func finish(_ exit: ChildProcess.Exit, _ buffer: inout [UInt8]) {
        // The last output before its end.
        for _ in 0..<(ChildProcess.pipeLimit / buffer.count)
        where !(isErrorOpen && readErrors(&buffer)) { break }
        output.readRest()
        write(errors.rest().flatMap { entries.add($0) } + entries.flush())
        log.end()
        let last = errors.last
        process.finish(exit, last.isEmpty ? output.lastText : last)
    }

    /// Returns the milliseconds to wait before the turn is checked again; nil for no limit.
    private func patience(_ turn: ModuleOutput.Turn) -> Int32? {
        switch turn {
        case .own: return nil
        case .another(let milliseconds): return milliseconds
        case .nobody where isClosedForLong: return nil
        case .nobody:
            let end = closing ?? .after(process.limits.closing)
            closing = end
            return end.millisecondsLeft
        }
    }

    /// Ends a process that has closed its output and has not ended.
    private func endIfClosedForLong() {
        guard !isClosedForLong, let closing, closing.millisecondsLeft == 0 else { return }
        isClosedForLong = true
        process.kill(because: .closedOutput)
    }

    private func note(isFull: Bool, isFlood: Bool) {
        let now = DispatchTime.now()
        if flood.note(isFlood, at: now) {
            process.isFlooding.store(true, ordering: .relaxed)
            output.interrupt()
        } else if !flood.isUnderWay {
            process.isFlooding.store(false, ordering: .relaxed)
        }
        if load.note(isFull || isFlood, at: now) {
            log.warn("it sends more than the host can process: its output is read more slowly")
        }
    }

    private func write(_ entries: [ErrorEntries.Entry]) {
        for entry in entries { log.write(entry.level, entry.text) }
    }

    /// - Returns: Whether there may be more.
    @discardableResult
    private func readErrors(_ buffer: inout [UInt8]) -> Bool {
        switch process.readError(into: &buffer) {
        case .bytes(let count):
            lookForCrash(in: buffer, count)
            let lines = errors.lines(in: buffer[..<count])
            let ends = buffer[..<count].count { $0 == UInt8(ascii: "\n") }
            errorPace.take(count + ends * process.limits.errorLineCost, at: .now)
            for line in lines { write(entries.add(line)) }
            return true
        case .nothing: return false
        case .end:
            isErrorOpen = false
            return false
        }
    }

    /// The beginning of the report of Swift's runtime on a deadly signal, which takes some tenths of a
    /// second.
    private static let crash = Array("*** Signal ".utf8)

    /// Ends the wait for a response of a process that crashes, since the crash report takes long.
    private func lookForCrash(in bytes: [UInt8], _ count: Int) {
        guard !process.isCrashing.load(ordering: .relaxed),
            bytes.contains(Self.crash, inFirst: count)
        else { return }
        process.isCrashing.store(true, ordering: .relaxed)
        output.interrupt()
    }
}

/// The names of parts of processes for the thread that waits for them.
extension ModuleReading {
    static func token(_ process: ModuleProcess, _ part: Ready) -> UInt64 {
        UInt64(process.end) << 8 | UInt64(part.rawValue)
    }

    /// Returns the process, by its ``ModuleProcess/end``, and the part that `token` names.
    static func of(_ token: UInt64) -> (process: Int32, part: Ready) {
        (Int32(truncatingIfNeeded: token >> 8), Ready(rawValue: UInt8(truncatingIfNeeded: token)))
    }
}
