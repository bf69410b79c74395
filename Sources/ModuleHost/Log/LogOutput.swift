import AppService

/// A sink that writes log records to a descriptor, one `write` a line, and never waits for their reader.
///
/// Where the reader does not keep up (a pipe that is full, a terminal stopped by Ctrl-S), lines wait in
/// memory, and a thread that lives only as long as they do writes them. Lines beyond the limit are dropped,
/// and so are lines whose write fails (the reader has gone, the disk is full); as soon as a line can be
/// written again, one before it reports how many were lost.
package final class LogOutput: LogSink {
    private struct State {
        var scratch: [UInt8] = []
        /// The bytes that could not be written yet; they may begin inside a line.
        var backlog = Backlog()
        var lost = 0
        /// Whether the last byte that was written is inside a line whose rest was dropped.
        var isTorn = false
        /// Whether the thread that empties the backlog is running.
        var isDraining = false
    }

    private let format: LogFormat
    private let descriptor: Int32
    private let channel: OutputChannel
    private let limit: Int
    private let state = Guarded(State())

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor to write to; must stay open.
    ///   - format: The format of the lines.
    ///   - limit: How many bytes may wait.
    package init(descriptor: Int32, format: LogFormat, limit: Int = 1 << 20) {
        self.format = format
        self.descriptor = descriptor
        channel = OutputChannel(descriptor)
        self.limit = limit
    }

    package func write(_ record: LogRecord) {
        state.withLock { state in
            if !state.backlog.isEmpty { send(&state) }
            if state.backlog.isEmpty, state.lost > 0 { reportLoss(&state) }
            append(record, &state)
            if !state.backlog.isEmpty { startDraining(&state) }
        }
    }

    /// Writes the waiting lines, at the end of the process.
    ///
    /// - Parameter time: The longest wait for the reader.
    /// - Returns: Whether everything was written.
    @discardableResult
    package func flush(within time: Duration) -> Bool {
        let end = ContinuousClock.now + time
        while true {
            let isEmpty = state.withLock { state in
                send(&state)
                if state.backlog.isEmpty, state.lost > 0 { reportLoss(&state) }
                return state.backlog.isEmpty
            }
            let rest = end - ContinuousClock.now
            if isEmpty || rest <= .zero { return isEmpty }
            channel.waitUntilWritable(within: rest)
        }
    }

    /// The number of bytes that wait for the reader.
    package var waitingBytes: Int { state.withLock { $0.backlog.count } }

    // MARK: Under the lock

    private func append(_ record: LogRecord, _ state: inout State) {
        state.scratch.removeAll(keepingCapacity: true)
        // It may be another one with each line.
        var width: Int?
        if case .terminal = format { width = TerminalScreen.size(of: descriptor)?.width }
        format.append(record, to: &state.scratch, width: width)
        guard state.backlog.isEmpty else {
            guard state.backlog.count + state.scratch.count <= limit else {
                state.lost += 1
                return
            }
            state.backlog.append(state.scratch[...])
            return
        }
        if state.isTorn {
            // A line that would continue another one is not written, even if there is room by now.
            guard channel.write([UInt8(ascii: "\n")]) == .wrote(1) else {
                state.lost += 1
                return
            }
            state.isTorn = false
        }
        switch channel.write(state.scratch[...]) {
        case .wrote(let count):
            guard count < state.scratch.count else { return }
            state.backlog.append(state.scratch[...])
            state.backlog.removeFirst(count)
        case .failed: state.lost += 1
        }
    }

    /// Writes as much of the backlog as the reader takes.
    private func send(_ state: inout State) {
        guard !state.backlog.isEmpty else { return }
        switch channel.write(state.backlog.rest) {
        case .wrote(let count): state.backlog.removeFirst(count)
        case .failed:
            state.lost += state.backlog.lines
            state.isTorn = state.backlog.beginsInsideLine
            state.backlog = Backlog()
        }
    }

    private func reportLoss(_ state: inout State) {
        let lost = state.lost
        state.lost = 0
        append(
            LogRecord(
                time: .now(), level: .warning,
                message: "\(lost) \(lost == 1 ? "line" : "lines") of the log lost: "
                    + "stderr was not read in time", fields: [LogField("lost", lost)]), &state)
        // Where this fails too, the next report counts both.
        if state.lost > 0 { state.lost = lost }
    }

    // MARK: The thread that empties the backlog

    private func startDraining(_ state: inout State) {
        guard !state.isDraining else { return }
        // Without a thread (the system has no room for one) the next line tries again.
        state.isDraining =
            (try? NativeThread.start(name: "hostd-log", stackSize: 1 << 17) { [self] in drain() })
            != nil
    }

    private func drain() {
        while true {
            channel.waitUntilWritable(within: nil)
            let isDone = state.withLock { state in
                send(&state)
                if state.backlog.isEmpty, state.lost > 0 { reportLoss(&state) }
                state.isDraining = !state.backlog.isEmpty
                return state.backlog.isEmpty
            }
            if isDone { return }
        }
    }
}

/// The waiting lines, removed from the front byte by byte without moving the rest each time.
private struct Backlog {
    private var bytes: [UInt8] = []
    private var sent = 0
    /// The number of line ends in the backlog.
    private(set) var lines = 0

    var isEmpty: Bool { sent == bytes.count }
    var count: Int { bytes.count - sent }
    var rest: ArraySlice<UInt8> { bytes[sent...] }
    /// Whether a part of the first line was written already.
    private(set) var beginsInsideLine = false

    mutating func append(_ line: ArraySlice<UInt8>) {
        bytes += line
        lines += 1
    }

    mutating func removeFirst(_ count: Int) {
        guard count > 0 else { return }
        let end = sent + count
        let newline = UInt8(ascii: "\n")
        lines -= bytes[sent..<end].count { $0 == newline }
        beginsInsideLine = bytes[end - 1] != newline
        sent = end
        if sent == bytes.count {
            self = Backlog()
        } else if sent > bytes.count / 2 {
            bytes.removeFirst(sent)
            sent = 0
        }
    }
}
