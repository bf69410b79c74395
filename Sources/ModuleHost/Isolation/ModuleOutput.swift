import AppService
import Dispatch
import Synchronization

/// The standard output of a module's process, on its way to the queue.
///
/// The thread that waits for an answer reads it: were it another one, each answer would take two wake-ups in place
/// of one. In between, and where the process says more than it may, its ``ModuleReading`` does. One at a
/// time reads, and what it finds is in the queue before another one can.
final class ModuleOutput: Sendable {
    fileprivate struct State {
        var lines: LineBuffer
        var buffer = [UInt8](readingUpTo: 1 << 16)
        /// For what wants no answer: who asks waits for one by himself.
        var pace: TokenBucket
        var isOpen = true
        /// Whether what it says is no longer looked at.
        var isDeaf = false
        /// Whether who waits for an answer reads.
        var isHeld = false
        /// The number of times that a caller began to hold it; the reading thread compares it with the last one it saw.
        var holds = 0
        var holdsSeen = 0
        /// Whether the reading thread sleeps until no other thread reads.
        var isReleaseAwaited = false
        /// Whether it sleeps because another thread read, and may again soon.
        var isRestAwaited = false
    }

    private let child: ChildProcess
    /// Wakes the reading thread.
    private let wake: WakeSignal
    /// Wakes who waits for an answer.
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
    ///   - wake: Wakes the reading thread.
    ///   - queue: Where its messages go.
    ///   - log: Where its log goes.
    ///   - limits: What it is allowed.
    ///   - violate: Told what it said that it must not; nothing that it says after that counts.
    /// - Throws: ``SystemError`` where there is no room for two descriptors.
    init(
        of child: ChildProcess, _ wake: WakeSignal, to queue: MessageQueue, _ log: ModuleLog,
        _ limits: ModuleProcess.Limits, violate: @escaping @Sendable (String) -> Void
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

    // MARK: Who waits for an answer

    /// Has the caller read from now on, unless the process says more than it may.
    func hold() {
        state.withLock { state in
            guard state.isCalm else { return }
            state.isHeld = true
            state.holds &+= 1
        }
    }

    /// Leaves the reading to the reading thread, where it was the caller's.
    func release() {
        state.withLock { state in
            state.isHeld = false
            guard state.isReleaseAwaited else { return }
            state.isReleaseAwaited = false
            wake.give()
        }
    }

    /// Notes that nothing will be asked soon: the reading thread watches the output again.
    ///
    /// From any thread.
    func rest() {
        state.withLock { state in
            guard !state.isHeld else { return }
            // Where that thread has not yet asked whose turn it is, it need not wait either.
            state.holdsSeen = state.holds
            guard state.isRestAwaited else { return }
            state.isRestAwaited = false
            wake.give()
        }
    }

    /// The result of waiting for output.
    enum Outcome {
        /// There may be something in the queue.
        case read
        /// Nothing came in time.
        case timeUp
        /// The reading thread reads: what comes is to be awaited at the queue.
        case elsewhere
    }

    /// Waits until there is output, or ``interrupt()``, and has it in the queue, where the caller is who
    /// reads.
    ///
    /// - Parameter deadline: How long to wait.
    /// - Returns: What came of it.
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
            // The reading thread knows what to do.
            state.isHeld = false
            wake.give()
            return .elsewhere
        }
    }

    /// Ends the waiting for an answer, or the next one if no thread waits now.
    ///
    /// From any thread.
    func interrupt() { nudge.give() }

    // MARK: The reading thread

    /// The reader whose turn it is.
    enum Turn: Hashable {
        case own
        /// That of who waits for an answer; to be asked again after so many milliseconds, nil when the signal
        /// is given.
        case another(askAgain: Int32?)
        /// Read by no thread: the output is at its end.
        case nobody
    }

    /// Asks whose turn it is, for the reading thread.
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

    /// Returns the milliseconds until more of it may be read; 0 for now.
    func pause() -> Int32 { state.withLock { $0.pace.pause(at: .now) } }

    /// Has what is there in the queue, unless it has become another's turn.
    func readInTurn() {
        state.withLock { state in
            if !state.isHeld { readSome(&state) }
        }
    }

    /// Has all that is left in the queue, when the process has ended.
    func readRest() {
        state.withLock { state in
            while state.isOpen, readSome(&state) {}
            state.isOpen = false
            state.isHeld = false
        }
        // Others may have the output still open.
        nudge.give()
    }

    /// Looks no more at what it says.
    func ignore() { state.withLock { $0.ignore() } }

    // MARK: Lines

    /// - Returns: Whether there may be more.
    @discardableResult
    private func readSome(_ state: inout State) -> Bool {
        switch ChildProcess.read(child.output, into: &state.buffer) {
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
            let fault: String?
            switch state.lines.next() {
            case .line(let line): fault = take(line, &state.pace)
            case .tooLong: fault = "printed a line of more than \(lineLimit) bytes"
            case .nothing: return
            }
            guard let fault else { continue }
            state.ignore()
            return violate(fault)
        }
    }

    /// - Returns: What it must not say, if that is it.
    private func take(_ line: [UInt8], _ pace: inout TokenBucket) -> String? {
        switch RPCFrame(line) {
        case .single(.request(let request, let id)):
            if id == nil { pace.take(1, at: .now) }
            if request.method == "log" {
                log.write(request)
                // A thread that asks for an answer gets it in its turn.
                if id == nil { return nil }
            }
            _ = queue.add(.request(request, id: id), bytes: line.count)
            return nil
        case .single(.response(let response)):
            let isAwaited = Int(response.id.text).map {
                queue.add(.answer($0, response.result), bytes: line.count)
            }
            return isAwaited == true
                ? nil : "answered request \(excerpt(response.id.text)), which nobody waits for"
        case .single(.invalid(let error, _)):
            return
                "printed \"\(excerpt(String(decoding: line, as: UTF8.self)))\", which is not a message: "
                + "\(error) (what is for people goes to standard error)"
        case .batch: return "printed a batch; a line is one message"
        }
    }
}

extension ModuleOutput.State {
    /// Whether there is nothing about it that the reading thread has to see to.
    fileprivate var isCalm: Bool {
        mutating get { isOpen && !isDeaf && pace.pause(at: .now) == 0 }
    }

    fileprivate mutating func ignore() {
        isDeaf = true
        lines.clear()
    }
}
