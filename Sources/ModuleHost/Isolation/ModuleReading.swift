import Dispatch
import Synchronization

/// The work of the thread that reads a process, from its start to its end.
struct ModuleReading {
    let process: ModuleProcess
    private let log: ModuleLog
    private let output: ModuleOutput
    private var errors: ErrorLines
    private var entries = ErrorEntries()
    private var errorPace: TokenBucket
    /// A page of the pipe, so that a process that floods it uses the processor only as long as writing one
    /// takes, and others can use it before the next.
    private var buffer = [UInt8](readingUpTo: 1 << 12)
    private var isErrorOpen = true
    /// The instant by which the process must have ended, since its output is closed.
    private var closing: DispatchTime?
    private var isClosedForLong = false
    private var load = Debounce()
    private var flood = Debounce()

    init(_ process: ModuleProcess) {
        self.process = process
        log = process.log
        output = process.output
        errors = ErrorLines(limit: process.limits.errorLine)
        errorPace = TokenBucket(process.limits.errorBytes, at: .now)
    }

    mutating func run() {
        let exit = readUntilEnd()
        // The last output before its end.
        for _ in 0..<(ChildProcess.pipeLimit / buffer.count)
        where !(isErrorOpen && readErrors()) { break }
        output.readRest()
        write(errors.rest().flatMap { entries.add($0) } + entries.flush())
        log.end()
        process.finish(exit, errors.last)
    }

    private mutating func readUntilEnd() -> ChildProcess.Exit {
        while true {
            if let exit = step() { return exit }
        }
    }

    /// Waits for work, and does it.
    ///
    /// - Returns: The end of the process, where it has ended.
    private mutating func step() -> ChildProcess.Exit? {
        let turn = output.turn()
        let isFull = process.queue.isFull
        let pauses = (output: output.pause(), error: errorPace.pause(at: .now))
        note(isFull: isFull, isFlood: pauses.output > 0 || pauses.error > 0)
        var set = PollSet()
        let wake = set.insert(process.wake.descriptor, .reading)
        let end = set.insert(process.end, .reading)
        let isReading = turn == .own && !isFull && pauses.output == 0
        let outputPlace = isReading ? set.insert(process.outputStream, .reading) : nil
        let errorPlace =
            isErrorOpen && pauses.error == 0 ? set.insert(process.errorStream, .reading) : nil
        let waits = [
            pauses.output > 0 ? pauses.output : nil, pauses.error > 0 ? pauses.error : nil,
            patience(turn), load.isUnderWay || entries.isPending ? 1000 : nil,
        ]
        guard set.wait(milliseconds: waits.compactMap(\.self).min() ?? -1) else {
            // No further line followed for that time.
            write(entries.flush())
            endIfClosedForLong()
            return nil
        }
        if set.isReady(end) { return process.exit() }
        if set.isReady(wake) { process.wake.take() }
        if let errorPlace, set.isReady(errorPlace) { readErrors() }
        if let outputPlace, set.isReady(outputPlace) { output.readInTurn() }
        return nil
    }

    /// Returns the milliseconds to wait before the turn is checked again; nil for no limit.
    private mutating func patience(_ turn: ModuleOutput.Turn) -> Int32? {
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
    private mutating func endIfClosedForLong() {
        guard !isClosedForLong, let closing, closing.millisecondsLeft == 0 else { return }
        isClosedForLong = true
        process.kill(because: .closedOutput)
    }

    private mutating func note(isFull: Bool, isFlood: Bool) {
        if flood.note(isFlood) {
            process.isFlooding.store(true, ordering: .relaxed)
            output.interrupt()
        } else if !flood.isUnderWay {
            process.isFlooding.store(false, ordering: .relaxed)
        }
        if load.note(isFull || isFlood) {
            log.warn("it sends more than the host can process: its output is read more slowly")
        }
    }

    private func write(_ entries: [ErrorEntries.Entry]) {
        for entry in entries { log.write(entry.level, entry.text) }
    }

    /// - Returns: Whether there may be more.
    @discardableResult
    private mutating func readErrors() -> Bool {
        switch process.readError(into: &buffer) {
        case .bytes(let count):
            look(for: Self.crash, in: buffer[..<count])
            let lines = errors.lines(in: buffer[..<count])
            errorPace.take(count, at: .now)
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
    private static let crash = "*** Signal "

    /// Ends the wait for a response of a process that crashes, since the crash report takes long.
    private func look(for crash: String, in bytes: ArraySlice<UInt8>) {
        guard !process.isCrashing.load(ordering: .relaxed), bytes.firstRange(ofBytes: crash) != nil
        else { return }
        process.isCrashing.store(true, ordering: .relaxed)
        output.interrupt()
    }
}
