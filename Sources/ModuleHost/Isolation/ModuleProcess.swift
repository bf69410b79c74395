import AppService
import Dispatch
import Synchronization

/// One run of a module's program: the messages to it, and its messages.
///
/// The ``ProcessReader`` reads it from the start to the end, except for output that a thread that waits for a
/// response reads itself. Lines to it come from any thread.
final class ModuleProcess: Sendable {
    struct Limits: Hashable, Sendable {
        /// The number of bytes of a line, without its newline.
        var line = 1 << 20
        /// The number of bytes of a line of standard error that are shown.
        var errorLine = 4096
        var queue = MessageQueue.Limits()
        var input = ModuleInput.Limits()
        /// The number of calls of the process whose answers come later.
        var pendingCalls = 1024
        var output = TokenBucket.Limits(burst: 1000, perSecond: 100)
        /// The rate of output lines that want no response: beyond it they are read more slowly.
        var reading = TokenBucket.Limits(burst: 20_000, perSecond: 20_000)
        /// The rate of bytes of standard error: beyond it they are read more slowly.
        var errorBytes = TokenBucket.Limits(burst: 1 << 18, perSecond: 1 << 18)
        /// The number of bytes that a line of standard error counts beside its own.
        ///
        /// A line costs more than its bytes: short ones without end would keep a slow machine busy, and the module
        /// would never be found to flood it.
        var errorLineCost = 32
        /// The limit on failed notifications of the process in the log.
        var warnings = TokenBucket.Limits(burst: 10, perSecond: 1)
        /// The time after an exchange in which the output is left to the thread that waits for the next
        /// answer.
        ///
        /// Each response would otherwise wake the reading thread, too. Unless a caller states sooner that
        /// this was the last (``ModuleOutput/rest()``), an unrequested message may wait that long.
        var lull: Duration = .milliseconds(50)
        /// The time that a process may take to end after it has closed its output.
        var closing: Duration = .seconds(1)
        /// The time that a process may take to end after SIGTERM.
        var terminating: Duration = .seconds(2)
        /// Whether its end with code 0 is its success, and its output may be plain text.
        private(set) var mayEnd = false

        /// Lets the process end by itself: it may take any time for that, with its output open or closed.
        mutating func letEnd() { (mayEnd, closing) = (true, .seconds(1000 * 86_400)) }
    }

    /// The observer of a process.
    struct Observer: Sendable {
        /// Called with a line of standard error, or of the process's log.
        ///
        /// On the thread that reads all processes: it must not wait.
        let onLine: @Sendable (LogLevel, String) -> Void
        /// Called when there is a message to take, or the process has ended, and no exchange is in progress.
        ///
        /// Not again before all messages were taken. On any thread, mostly the one that reads all processes: it
        /// must not wait.
        let onMail: @Sendable (ModuleProcess) -> Void
        /// Called with a request to send an event, its id and its bytes.
        ///
        /// Returns false where the request is to wait for its turn. On the thread that reads the process: it must not wait.
        let onSend: @Sendable (RPCRequest, RPCID?, Int, ModuleProcess) -> Bool
        /// Returns whether a line of a level is logged: others do not count to the limit of lines.
        var isLogged: @Sendable (LogLevel) -> Bool = { _ in true }
    }

    let startedAt: ContinuousClock.Instant
    let queue: MessageQueue
    let limits: Limits
    let input: ModuleInput
    let output: ModuleOutput
    let log: ModuleLog
    private let child: ChildProcess
    /// Whether the process sends more than allowed at a time, and so is read slowly.
    let isFlooding = Atomic(false)
    /// Whether the runtime of its language prints a crash report, before the process ends.
    let isCrashing = Atomic(false)
    /// The number of its calls whose answers come later.
    let pendingCalls = Atomic(0)
    /// Whether it has an event to answer for which no thread waits.
    let hasEvent = Atomic(false)
    private let lastNumber = Atomic(0)
    /// Whether the end of the process is reported to no thread.
    private let isSilent = Atomic(false)
    /// The calls for which no thread waits.
    let calls = Guarded(OpenCalls())
    private let warnings: Guarded<OutputRateLimit>
    /// The reason why this process kills the child, if it does: the first reason counts.
    private let cause = Guarded<ProcessExit.Cause?>(nil)

    var processID: Int32 { child.processID }

    private init(
        of child: ChildProcess, queue: MessageQueue, input: ModuleInput, output: ModuleOutput,
        log: ModuleLog, at start: ContinuousClock.Instant, limits: Limits
    ) {
        warnings = Guarded(OutputRateLimit(limits.warnings, at: start))
        self.child = child
        self.queue = queue
        self.input = input
        self.output = output
        self.log = log
        startedAt = start
        self.limits = limits
    }

    /// Starts a program.
    ///
    /// - Parameter environment: All of its variables.
    /// - Throws: ``SystemError`` where it cannot be started.
    static func start(
        _ command: [String], environment: [String: String], in folder: String?,
        time: any TimeSource, limits: Limits = Limits(), readBy reader: ProcessReader = .shared,
        notifying observer: Observer
    ) throws(SystemError) -> ModuleProcess {
        let child = try ChildProcess.start(command, environment: environment, in: folder)
        // There is room for messages, or it is the reader's turn.
        let wake: @Sendable () -> Void = { [end = child.end.number] in reader.call(end) }
        let reference = WeakBox<ModuleProcess>()
        let queue = MessageQueue(limits.queue) {
            if let process = reference.object { observer.onMail(process) }
        } resume: {
            wake()
        }
        let log = ModuleLog(
            limits.output, time: time, isLogged: observer.isLogged, onLine: observer.onLine)
        do throws(SystemError) {
            let output = try ModuleOutput(of: child, wake, to: queue, log, limits) {
                reference.object?.violate($0)
            } send: { request, id, bytes in
                reference.object.map { observer.onSend(request, id, bytes, $0) } ?? false
            }
            let process = ModuleProcess(
                of: child, queue: queue, input: ModuleInput(of: child, limits.input, wake),
                output: output, log: log, at: time.now(), limits: limits)
            reference.set(process)
            try reader.add(process)
            return process
        } catch {
            child.kill()
            throw error
        }
    }

    // MARK: Requests

    /// Sends a request, and waits for the response.
    ///
    /// While waiting it handles requests of the process, on the calling thread.
    ///
    /// - Parameters:
    ///   - time: The longest wait for the response; beyond it the process is killed.
    ///   - cause: The cause of that end; nil for one that names the method.
    ///   - stalling: Called at most once, where the response will take long.
    /// - Throws: ``ProcessExit`` where the process has ended, or ends before it responds.
    func exchange(
        _ method: String, within time: Duration, orEnd cause: ProcessExit.Cause? = nil,
        serving serve: (RPCRequest, RPCID?) -> Void, stalling: () -> Void = {},
        _ parameters: (inout JSONWriter) -> Void
    ) throws(ProcessExit) -> Result<JSONValue, RPCError> {
        var isStalled = false
        func noteStall() {
            guard !isStalled, isStalling else { return }
            isStalled = true
            stalling()
        }
        noteStall()
        let number = nextNumber()
        var json = JSONWriter(capacity: 256)
        json.rpcRequest(method, id: RPCID(number), parameters)
        queue.beginExchange(number)
        defer { queue.endExchange() }
        var deadline = DispatchTime.after(time)
        send(json.bytes, within: time)
        output.hold()
        defer { output.release() }
        while true {
            switch next(until: deadline, onDelay: noteStall) {
            case .message(.answer(number, let result)): return result
            case .message(.answer(let other, _)):
                // Two requests, one inside the other, and a response to the outer one: the inner one would
                // stay without a response for ever.
                violate("answered request \(other) before request \(number), which came after it")
                deadline = .distantFuture
            case .message(.request(let request, let id)):
                output.release()
                serve(request, id)
                output.hold()
            case .end(let end): throw end
            case .nothing:
                // It has answered calls that were sent before, and has the whole time for the next one.
                let next = output.lastAnswer.later(by: time)
                if next > deadline, next > .now() {
                    deadline = next
                    continue
                }
                kill(
                    because: input.isWaiting
                        ? .notReading(time) : cause ?? .silence("answer '\(method)'", time))
                deadline = .distantFuture
            }
        }
    }

    /// Returns the number of the next request.
    func nextNumber() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

    private var isStalling: Bool {
        isFlooding.load(ordering: .relaxed) || isCrashing.load(ordering: .relaxed)
    }

    /// Takes the next message; reads it where the caller is the reader.
    ///
    /// - Parameters:
    ///   - number: A request of which the response ends the wait, too.
    ///   - onDelay: Called where no message waits.
    func next(
        until deadline: DispatchTime, unlessAnswered number: Int? = nil, onDelay: () -> Void = {}
    ) -> MessageQueue.Next {
        while true {
            let next = queue.next(until: nil)
            guard case .nothing = next else { return next }
            if let number, !queue.isOpen(number) { return .nothing }
            onDelay()
            switch output.read(until: deadline) {
            case .read: continue
            case .timeUp: return .nothing
            case .elsewhere:
                if output.pause() > 0 { isFlooding.store(true, ordering: .relaxed) }
                onDelay()
                return queue.next(until: deadline, unlessAnswered: number)
            }
        }
    }

    /// The time that a process may take to read a response.
    static let readingTime: Duration = .seconds(5)

    /// Sends a line, behind all that were sent before.
    ///
    /// From any thread; it does not wait. A process that reads nothing for this time is killed; a thread that waits for a
    /// response receives that end as the response.
    func send(_ line: [UInt8], within time: Duration = readingTime, followed: Bool = false) {
        guard !input.write(line, within: time, followed: followed) else { return }
        violate("left more than \(limits.input.bytes >> 20) MiB unread")
    }

    /// Logs that a notification of the process failed.
    func warn(_ what: String, at now: ContinuousClock.Instant) {
        guard case .show(let dropped) = warnings.withLock({ $0.take(at: now) }) else { return }
        log.warn(dropped > 0 ? "\(what) (and \(dropped) more before)" : what)
    }

    // MARK: The end

    /// Kills the process and its group.
    func kill(because reason: ProcessExit.Cause) {
        cause.withLock { $0 = $0 ?? reason }
        child.kill()
    }

    /// Kills the process for an invalid message.
    func violate(_ what: String) { kill(because: .violation(what)) }

    /// Reports no end from now on: a thread that waits for the process goes on waiting.
    func silence() { isSilent.store(true, ordering: .sequentiallyConsistent) }

    /// Calls `body` when the process has ended, on any thread; at once if it has.
    func whenEnded(_ body: @escaping @Sendable () -> Void) { queue.whenEnded(body) }
}

extension ModuleProcess: EndingProcess {
    /// Requests the end of the process and closes its input; from now on its messages are dropped.
    ///
    /// In the module, whose code takes no message any more.
    func ask() {
        cause.withLock { $0 = $0 ?? .asked }
        let number = nextNumber()
        queue.drop(withAnswerTo: number)
        output.rest()
        var json = JSONWriter()
        json.rpcRequest("shutdown", id: RPCID(number)) { $0.object { _ in } }
        input.end(with: json.bytes)
    }

    func terminate(after time: Duration) {
        log.warn(
            "its process \(processID) still runs \(time.briefText) after 'shutdown'; it receives SIGTERM"
        )
        child.terminate()
    }

    func kill() { child.kill() }
}

// MARK: The reading thread

extension ModuleProcess {
    /// The descriptor that is readable when the process has ended; no other process has it while this one is
    /// read.
    var end: Int32 { child.end.number }

    /// Returns the descriptor of one part of the process.
    func descriptor(of part: ModuleReading.Ready) -> Int32 {
        switch part {
        case .output: child.output.number
        case .errors: child.error.number
        default: end
        }
    }

    /// Returns the end of the process, or nil while it runs.
    func exit() -> ChildProcess.Exit? { child.exit() }

    func readError(into buffer: inout [UInt8]) -> ChildProcess.Reception {
        ChildProcess.read(child.error, into: &buffer)
    }

    /// Closes the process's input, and puts its end into the queue after the last of its messages.
    func finish(_ exit: ChildProcess.Exit, _ lastLines: [String]) {
        let end = ProcessExit(
            processID: processID, cause: cause.withLock { $0 } ?? .itself, exit: exit,
            lastLines: lastLines)
        input.close()
        if !isSilent.load(ordering: .sequentiallyConsistent) { queue.end(end) }
    }
}
