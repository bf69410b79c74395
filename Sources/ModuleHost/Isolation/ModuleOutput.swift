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
        var lines: LineBuffer
        var buffer = [UInt8](readingUpTo: 1 << 16)
        /// The rate of messages that want no response: a process that sends a request waits for its response
        /// anyway.
        var pace: TokenBucket
        var isOpen = true
        /// Whether the output is no longer parsed.
        var isDeaf = false
        /// Whether the thread that waits for a response reads.
        var isHeld = false
        /// The number of times that a caller has begun to read; the reading thread compares it with the last
        /// number it saw.
        var holds = 0
        var holdsSeen = 0
        /// Whether the reading thread sleeps until no other thread reads.
        var isReleaseAwaited = false
        /// Whether the reading thread sleeps because another thread read, and may read again soon.
        var isRestAwaited = false
    }

    private let child: ChildProcess
    /// The closure that has the reading thread visit the process.
    private let wake: @Sendable () -> Void
    /// The signal that wakes the thread that waits for a response.
    private let nudge: WakeSignal
    private let queue: MessageQueue
    private let log: ModuleLog
    private let lineLimit: Int
    private let lull: Int32
    private let violate: @Sendable (String) -> Void
    private let state: Guarded<State>
    /// Whether ``rest()`` is to be called when the lane has nothing more to do.
    let isRestListed = Atomic(false)

    /// - Parameters:
    ///   - child: The process.
    ///   - wake: Has the reading thread visit the process; called with a lock held.
    ///   - queue: The queue for its messages.
    ///   - log: The log for its log lines.
    ///   - limits: The limits of its output.
    ///   - violate: Called with the description of an invalid message; everything after that is ignored.
    /// - Throws: ``SystemError`` where there is no room for two descriptors.
    init(
        of child: ChildProcess, _ wake: @escaping @Sendable () -> Void, to queue: MessageQueue,
        _ log: ModuleLog, _ limits: ModuleProcess.Limits,
        violate: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        nudge = try WakeSignal()
        self.child = child
        self.wake = wake
        self.queue = queue
        self.log = log
        self.violate = violate
        lineLimit = limits.line
        lull = Int32(clamping: limits.lull.wholeNanoseconds / 1_000_000)
        state = Guarded(
            State(
                lines: LineBuffer(limit: limits.line), pace: TokenBucket(limits.reading, at: .now)))
    }

    // MARK: The thread that waits for a response

    /// Makes the calling thread the reader from now on, unless the process sends more than allowed.
    func hold() {
        state.withLock { state in
            guard state.isCalm else { return }
            state.isHeld = true
            state.holds &+= 1
        }
    }

    /// Leaves the reading to the reading thread again.
    func release() {
        state.withLock { state in
            state.isHeld = false
            guard state.isReleaseAwaited else { return }
            state.isReleaseAwaited = false
            wake()
        }
    }

    /// Notes that no request will follow soon: the reading thread watches the output again.
    ///
    /// From any thread.
    func rest() {
        state.withLock { state in
            guard !state.isHeld else { return }
            // If that thread has not yet requested its turn, it need not wait either.
            state.holdsSeen = state.holds
            guard state.isRestAwaited else { return }
            state.isRestAwaited = false
            wake()
        }
    }

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
    ///
    /// - Parameter deadline: The end of the wait.
    /// - Returns: The result of the wait.
    func read(until deadline: DispatchTime) -> Outcome {
        guard state.withLock(\.isHeld) else { return .elsewhere }
        var set = PollSet()
        let output = set.insert(child.output.number, .reading)
        let interruption = set.insert(nudge.descriptor, .reading)
        guard set.wait(milliseconds: deadline.millisecondsLeft) else {
            return .timeUp
        }
        if set.isReady(interruption) { nudge.take() }
        return state.withLock { state in
            guard state.isHeld else { return .elsewhere }
            if set.isReady(output) { readSome(&state) }
            if state.isCalm { return .read }
            // The reading thread handles this state.
            state.isHeld = false
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
            state.isRestAwaited = false
            guard state.isOpen else { return .nobody }
            if state.holds != state.holdsSeen {
                state.holdsSeen = state.holds
                state.isRestAwaited = true
                return .another(askAgain: lull)
            }
            guard state.isHeld else { return .own }
            state.isReleaseAwaited = true
            return .another(askAgain: nil)
        }
    }

    /// Returns the milliseconds until the output may be read again; 0 for now.
    func pause() -> Int32 { state.withLock { $0.pace.pause(at: .now) } }

    /// Moves available output to the queue, unless it has become another thread's turn.
    ///
    /// - Parameter limit: The most bytes that are moved.
    func readInTurn(atMost limit: Int) {
        state.withLock { state in
            if !state.isHeld { readSome(&state, atMost: limit) }
        }
    }

    /// Moves the remaining output to the queue, when the process has ended.
    ///
    /// No more than a pipe can hold: another process that has the output open may write without end.
    func readRest() {
        state.withLock { state in
            for _ in 0..<(ChildProcess.pipeLimit / state.buffer.count)
            where !(state.isOpen && readSome(&state)) { break }
            state.isOpen = false
            state.isHeld = false
        }
        // Other processes may still have the output open.
        nudge.give()
    }

    /// Stops parsing the output.
    func ignore() { state.withLock { $0.ignore() } }

    // MARK: Lines

    /// - Returns: Whether there may be more.
    @discardableResult
    private func readSome(_ state: inout State, atMost limit: Int = .max) -> Bool {
        switch ChildProcess.read(child.output, into: &state.buffer, atMost: limit) {
        case .bytes(let count):
            guard !state.isDeaf else { return true }
            state.lines.append(state.buffer[..<count])
            takeLines(&state)
            return true
        case .nothing: return false
        case .end:
            state.isOpen = false
            return false
        }
    }

    private func takeLines(_ state: inout State) {
        while true {
            let problem: String?
            switch state.lines.next() {
            case .line(let line): problem = take(line, &state.pace)
            case .tooLong: problem = "printed a line of more than \(lineLimit) bytes"
            case .nothing: return
            }
            guard let problem else { continue }
            state.ignore()
            return violate(problem)
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
            _ = queue.add(.request(request, id: id), bytes: line.count)
            return nil
        case .single(.response(let response)):
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

extension ModuleOutput.State {
    /// Whether the output needs no attention of the reading thread.
    fileprivate var isCalm: Bool {
        mutating get { isOpen && !isDeaf && pace.pause(at: .now) == 0 }
    }

    fileprivate mutating func ignore() {
        isDeaf = true
        lines.clear()
    }
}
