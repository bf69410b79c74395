import AppService
import Dispatch
import Synchronization

/// The standard output of a module's process, up to the queue.
///
/// The thread that waits for a response reads it: with another reader, each response would take two wake-ups
/// instead of one. In between, and where the process sends more than allowed, its ``ModuleReading`` reads.
/// One thread at a time reads, and its messages are in the queue before another thread can read.
final class ModuleOutput: Sendable {
    fileprivate struct State {
        /// The bytes that are not a whole line yet; nil once the output is no longer parsed.
        var lines: LineBuffer?
        var buffer = [UInt8](readingUpTo: 1 << 16)
        /// The rate of messages that want no response: a process that sends a request waits for its response
        /// anyway.
        var pace: TokenBucket
        /// The text that a program prints which does not speak the protocol; nil for one that does.
        var text: ErrorLines?
        /// Whether the first line is yet to come, which says whether the output is plain text.
        var isUndecided: Bool
    }

    private let child: ChildProcess
    /// The closure that has the reading thread visit the process.
    private let wake: @Sendable () -> Void
    /// The signal that wakes the thread that waits for a response.
    private let nudge: WakeSignal
    private let queue: MessageQueue
    private let log: ModuleLog
    private let lineLimit: Int
    private let textLimit: Int
    private let lull: Int32
    private let violate: @Sendable (String) -> Void
    private let send: @Sendable (RPCRequest, RPCID?, Int) -> Bool
    private let state: Guarded<State>
    /// Changed with the lock of the state.
    private let reading = Atomic(ReadingTurn.reader)
    /// The time of the last response of the process, as ``DispatchTime/uptimeNanoseconds``; 0 for none.
    private let answeredAt = Atomic<UInt64>(0)
    /// Whether ``rest()`` is to be called when the lane has nothing more to do.
    let isRestListed = Atomic(false)

    /// - Parameters:
    ///   - child: The process.
    ///   - wake: Has the reading thread visit the process; called with a lock held.
    ///   - queue: The queue for its messages.
    ///   - log: The log for its log lines.
    ///   - limits: The limits of its output.
    ///   - violate: Called with the description of an invalid message; everything after that is ignored.
    ///   - send: Called with a request `send`, its id and its bytes. Returns whether it is taken; else it goes to the queue.
    /// - Throws: ``SystemError`` where there is no room for two descriptors.
    init(
        of child: ChildProcess, _ wake: @escaping @Sendable () -> Void, to queue: MessageQueue,
        _ log: ModuleLog, _ limits: ModuleProcess.Limits,
        violate: @escaping @Sendable (String) -> Void,
        send: @escaping @Sendable (RPCRequest, RPCID?, Int) -> Bool
    ) throws(SystemError) {
        nudge = try WakeSignal()
        self.child = child
        self.wake = wake
        self.queue = queue
        self.log = log
        self.violate = violate
        self.send = send
        lineLimit = limits.line
        textLimit = limits.errorLine
        lull = Int32(clamping: limits.lull.wholeNanoseconds / 1_000_000)
        state = Guarded(
            State(
                lines: LineBuffer(limit: limits.line),
                pace: TokenBucket(limits.reading, at: .now), isUndecided: limits.mayEnd))
    }

    /// The time of the last response of the process; that of the machine's start for none.
    var lastAnswer: DispatchTime {
        // Of 0 nanoseconds it would be the time at which it is used.
        DispatchTime(uptimeNanoseconds: max(1, answeredAt.load(ordering: .relaxed)))
    }

    // MARK: The thread that waits for a response

    /// Makes the calling thread the reader from now on, unless the process sends more than allowed.
    func hold() {
        state.withLock { state in
            if isCalm(&state) { apply(.hold, &state) }
        }
    }

    /// Leaves the reading to the reading thread again.
    func release() {
        state.withLock { apply(.release, &$0) }
    }

    /// Notes that no request will follow soon: the reading thread watches the output again.
    ///
    /// From any thread.
    func rest() {
        // Nearly always, while the reading thread has the lock for as long as it reads.
        if reading.load(ordering: .relaxed) == .reader { return }
        state.withLock { apply(.rest, &$0) }
    }

    private func apply(_ change: ReadingTurn.Change, _ state: inout State) {
        if move(change) { wake() }
    }

    /// - Returns: Whether the reading thread is to be woken.
    private func move(_ change: ReadingTurn.Change) -> Bool {
        var next = reading.load(ordering: .relaxed)
        defer { reading.store(next, ordering: .relaxed) }
        return next.apply(change)
    }

    /// Returns whether the output needs no attention of the reading thread.
    private func isCalm(_ state: inout State) -> Bool {
        reading.load(ordering: .relaxed) != .ended && state.lines != nil
            && state.pace.pause(at: .now) == 0
    }

    /// True for the thread that is to read; with the lock of the state.
    private var isCallers: Bool { reading.load(ordering: .relaxed).isCallers }

    /// The result of waiting for output.
    enum Outcome {
        /// There may be a message in the queue.
        case read
        /// Nothing arrived in time.
        case timeUp
        /// The reading thread reads: the caller waits at the queue.
        case elsewhere
    }

    /// Waits until there is output, or ``interrupt()``, and moves it to the queue, where the caller is the
    /// reader.
    func read(until deadline: DispatchTime) -> Outcome {
        guard state.withLock({ _ in isCallers }) else { return .elsewhere }
        var set = PollSet()
        let output = set.insert(child.output.number, .reading)
        let interruption = set.insert(nudge.descriptor, .reading)
        guard set.wait(milliseconds: deadline.millisecondsLeft) else {
            return .timeUp
        }
        if set.isReady(interruption) { nudge.take() }
        return state.withLock { state in
            guard isCallers else { return .elsewhere }
            if set.isReady(output) { readSome(&state) }
            if isCalm(&state) { return .read }
            // The reading thread handles this state.
            _ = move(.release)
            wake()
            return .elsewhere
        }
    }

    /// Ends the wait for a response, or the next one if no thread waits now.
    ///
    /// From any thread.
    func interrupt() { nudge.give() }

    // MARK: The reading thread

    /// The thread whose turn it is to read.
    enum Turn: Hashable {
        case own
        /// The thread that waits for a response; check again after this many milliseconds, or if nil, when
        /// the signal is given.
        case another(askAgain: Int32?)
        /// No thread reads: the output has ended.
        case nobody
    }

    /// Returns whose turn it is, for the reading thread.
    func turn() -> Turn {
        state.withLock { state in
            apply(.look, &state)
            switch reading.load(ordering: .relaxed) {
            case .reader: return .own
            case .caller(.asleep): return .another(askAgain: nil)
            case .caller, .lull: return .another(askAgain: lull)
            case .ended: return .nobody
            }
        }
    }

    /// Returns the milliseconds until the output may be read again; 0 for now.
    func pause() -> Int32 { state.withLock { $0.pace.pause(at: .now) } }

    /// Moves available output to the queue, unless it has become another thread's turn.
    ///
    /// - Parameter limit: The most bytes that are moved.
    func readInTurn(atMost limit: Int) {
        state.withLock { state in
            if !isCallers { readSome(&state, atMost: limit) }
        }
    }

    /// Moves the remaining output to the queue, when the process has ended.
    ///
    /// No more than a pipe can hold: another process that has the output open may write without end.
    func readRest() {
        state.withLock { state in
            for _ in 0..<(ChildProcess.pipeLimit / state.buffer.count)
            where reading.load(ordering: .relaxed) == .ended || !readSome(&state) { break }
            apply(.end, &state)
            if state.isUndecided { beginText(&state) }
            for line in state.text?.rest() ?? [] { log.write(.info, line) }
        }
        // Other processes may still have the output open.
        nudge.give()
    }

    /// The last lines that the process printed, where its output is plain text.
    var lastText: [String] { state.withLock { $0.text?.last ?? [] } }

    /// Stops parsing the output.
    func ignore() { state.withLock { $0.lines = nil } }

    // MARK: Lines

    /// - Returns: Whether there may be more.
    @discardableResult
    private func readSome(_ state: inout State, atMost limit: Int = .max) -> Bool {
        switch ChildProcess.read(child.output, into: &state.buffer, atMost: limit) {
        case .bytes(let count):
            if state.text != nil {
                takeText(state.buffer[..<count], &state)
            } else {
                state.lines?.append(state.buffer[..<count])
                takeLines(&state)
            }
            return true
        case .nothing: return false
        case .end:
            apply(.end, &state)
            return false
        }
    }

    /// Takes the output for plain text from its beginning on.
    private func beginText(_ state: inout State, _ first: [UInt8] = []) {
        let rest = state.lines?.rest() ?? []
        (state.isUndecided, state.text) = (false, ErrorLines(limit: textLimit))
        takeText((first + rest)[...], &state)
    }

    private func takeText(_ bytes: ArraySlice<UInt8>, _ state: inout State) {
        let lines = state.text?.lines(in: bytes) ?? []
        // As many lines may be read as messages.
        state.pace.take(lines.count + bytes.count >> 10, at: .now)
        for line in lines { log.write(.info, line) }
    }

    private func takeLines(_ state: inout State) {
        while let next = state.lines?.next() {
            if state.isUndecided, next != .nothing {
                switch next {
                case .line(let line) where !Self.isMessage(line):
                    return beginText(&state, line + [UInt8(ascii: "\n")])
                case .tooLong: return beginText(&state)
                case .line, .nothing: state.isUndecided = false
                }
            }
            let problem: String?
            switch next {
            case .line(let line): problem = take(line, &state.pace)
            case .tooLong: problem = "printed a line of more than \(lineLimit) bytes"
            case .nothing: return
            }
            guard let problem else { continue }
            state.lines = nil
            return violate(problem)
        }
    }

    /// Returns whether a line is a message: a program whose first line is not one does not speak the protocol.
    private static func isMessage(_ line: [UInt8]) -> Bool {
        switch RPCFrame(fromModuleHost: line) {
        case .single(.request), .single(.response): true
        case .single(.invalid), .batch: false
        }
    }

    /// - Returns: The description of the message, if it is not valid.
    private func take(_ line: [UInt8], _ pace: inout TokenBucket) -> String? {
        switch RPCFrame(fromModuleHost: line) {
        case .single(.request(let request, let id)):
            // A long line takes as long as many short ones.
            if id == nil { pace.take(1 + line.count >> 10, at: .now) }
            if request.method == "log" {
                log.write(request)
                // A process that requests a response gets it in its turn.
                if id == nil { return nil }
            }
            if request.method == "send", send(request, id, line.count) { return nil }
            _ = queue.add(.request(request, id: id), bytes: line.count)
            return nil
        case .single(.response(let response)):
            answeredAt.store(DispatchTime.now().uptimeNanoseconds, ordering: .relaxed)
            let isAwaited = Int(response.id.text).map {
                queue.add(.answer($0, response.result), bytes: line.count)
            }
            return isAwaited == true
                ? nil : "answered request \(excerpt(response.id.text)), which is not pending"
        case .single(.invalid(let error, _)):
            return
                "printed \"\(excerpt(String(decoding: line, as: UTF8.self)))\", which is not a message: "
                + "\(error) (what is for people goes to standard error)"
        case .batch: return "printed a batch; a line is one message"
        }
    }
}
