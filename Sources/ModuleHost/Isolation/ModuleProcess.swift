import AppService
import Dispatch
import Synchronization

/// One run of a module's program: what it is sent, and what it says.
///
/// A thread of its own reads it from the start to the end, except for what a thread that waits for an answer
/// reads itself. Requests to it, and answers to its requests, come from one thread at a time: the one that is
/// in the module.
final class ModuleProcess: Sendable {
    struct Limits: Hashable, Sendable {
        /// Bytes of a line, without its newline.
        var line = 1 << 20
        /// The number of bytes of a line of standard error that are shown.
        var errorLine = 4096
        var queue = MessageQueue.Limits()
        var output = TokenBucket.Limits(burst: 1000, perSecond: 100)
        /// Lines of output that want no answer: beyond that they are read more slowly.
        var reading = TokenBucket.Limits(burst: 20_000, perSecond: 20_000)
        /// Bytes of standard error: beyond that they are read more slowly.
        var errorBytes = TokenBucket.Limits(burst: 1 << 18, perSecond: 1 << 18)
        /// The limit on failed notifications of the process in the log.
        var complaints = TokenBucket.Limits(burst: 10, perSecond: 1)
        /// The time after an exchange in which the output is left to the thread that waits for the next answer.
        ///
        /// That would wake the reading thread, too. Unless a caller says sooner that this was the last
        /// (``ModuleOutput/rest()``), what a process says unasked may lie for so long.
        var lull: Duration = .milliseconds(50)
        /// The time that a process may take to end after it has closed its output.
        var closing: Duration = .seconds(1)
        /// The time that a process may take to end after SIGTERM.
        var terminating: Duration = .seconds(2)
    }

    /// The observer of a process.
    struct Observer: Sendable {
        /// A line of standard error, or of the process's log.
        ///
        /// On the thread that reads.
        let onLine: @Sendable (LogLevel, String) -> Void
        /// Called when there is something to take, or the process has ended, and no exchange is on its way.
        ///
        /// Not again before all was taken. On any thread.
        let onMail: @Sendable (ModuleProcess) -> Void
    }

    let startedAt: ContinuousClock.Instant
    let queue: MessageQueue
    let limits: Limits
    let output: ModuleOutput
    let log: ModuleLog
    private let child: ChildProcess
    /// Whether it says more than it may at a time, and so is read slowly.
    let isFlooding = Atomic(false)
    /// Whether its language's runtime writes down what it crashed of, before it ends.
    let isCrashing = Atomic(false)
    private let lastNumber = Atomic(0)
    private let complaints: Guarded<OutputRateLimit>
    /// The reason why this process kills the child, if it does: the first one counts.
    private let cause = Guarded<ProcessExit.Cause?>(nil)
    /// Wakes the thread that reads: there is room for what it says, or it is that thread's turn.
    let wake: WakeSignal

    var processID: Int32 { child.processID }

    private init(
        of child: ChildProcess, wake: WakeSignal, queue: MessageQueue, output: ModuleOutput,
        log: ModuleLog, at start: ContinuousClock.Instant, limits: Limits
    ) {
        complaints = Guarded(OutputRateLimit(limits.complaints, at: start))
        self.child = child
        self.wake = wake
        self.queue = queue
        self.output = output
        self.log = log
        startedAt = start
        self.limits = limits
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - command: The program and its arguments.
    ///   - environment: All of its variables.
    ///   - folder: Where it runs.
    ///   - time: The clock.
    ///   - limits: What it is allowed.
    ///   - observer: The observer.
    /// - Returns: The process; whatever it says from now on is read.
    /// - Throws: ``SystemError`` where it cannot be started.
    static func start(
        _ command: [String], environment: [String: String], in folder: String?,
        time: any TimeSource, limits: Limits = Limits(), notifying observer: Observer
    ) throws(SystemError) -> ModuleProcess {
        let wake = try WakeSignal()
        let child = try ChildProcess.start(command, environment: environment, in: folder)
        let reference = WeakBox<ModuleProcess>()
        let queue = MessageQueue(limits.queue) {
            if let process = reference.object { observer.onMail(process) }
        } resume: {
            wake.give()
        }
        let log = ModuleLog(limits.output, time: time, onLine: observer.onLine)
        do throws(SystemError) {
            let output = try ModuleOutput(of: child, wake, to: queue, log, limits) {
                reference.object?.violate($0)
            }
            let process = ModuleProcess(
                of: child, wake: wake, queue: queue, output: output, log: log, at: time.now(),
                limits: limits)
            reference.set(process)
            try NativeThread.start(name: "module", stackSize: 512 << 10) {
                var reading = ModuleReading(process)
                reading.run()
            }
            return process
        } catch {
            child.kill()
            throw error
        }
    }

    // MARK: Talking to it

    /// Asks for something, and waits for the answer.
    ///
    /// While it waits it serves requests of the process, on the calling thread.
    ///
    /// - Parameters:
    ///   - method: What is asked.
    ///   - time: How long the answer may take; beyond that the process is killed.
    ///   - serve: Answers a request of the process.
    ///   - stalling: Called at most once, where the answer will take long.
    ///   - parameters: Writes the parameters.
    /// - Returns: The answer: a result, or the error that the process says.
    /// - Throws: ``ProcessExit`` where the process has ended, or ends before it answers.
    func exchange(
        _ method: String, within time: Duration,
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
        let number = lastNumber.add(1, ordering: .relaxed).newValue
        var json = JSONWriter(capacity: 256)
        json.rpcRequest(method, id: RPCID(number), parameters)
        queue.beginExchange(number)
        defer { queue.endExchange() }
        var deadline = DispatchTime.after(time)
        write(json.bytes, within: time)
        // Not before: what it prints is to be read while it takes nothing in.
        output.hold()
        defer { output.release() }
        while true {
            switch next(until: deadline, onDelay: noteStall) {
            case .message(.answer(number, let result)): return result
            case .message(.answer(let other, _)):
                // Of two requests, one in the other, the outer one: the inner one stays unanswered for ever.
                violate("answered request \(other) before request \(number), which came after it")
                deadline = .distantFuture
            case .message(.request(let request, let id)):
                output.release()
                serve(request, id)
                output.hold()
            case .end(let end): throw end
            case .nothing:
                kill(because: .silence("answer '\(method)'", time))
                deadline = .distantFuture
            }
        }
    }

    private var isStalling: Bool {
        isFlooding.load(ordering: .relaxed) || isCrashing.load(ordering: .relaxed)
    }

    /// Takes the next message; reads it where it is the caller's to read.
    private func next(until deadline: DispatchTime, onDelay: () -> Void) -> MessageQueue.Next {
        while true {
            let next = queue.next(until: nil)
            guard case .nothing = next else { return next }
            onDelay()
            switch output.read(until: deadline) {
            case .read: continue
            case .timeUp: return .nothing
            case .elsewhere:
                if output.pause() > 0 { isFlooding.store(true, ordering: .relaxed) }
                onDelay()
                return queue.next(until: deadline)
            }
        }
    }

    /// Sends an answer, or a notification.
    func send(_ line: [UInt8], within time: Duration) { write(line, within: time) }

    /// Writes a line.
    ///
    /// A process that does not take the line in time is killed; a thread that waits for an answer gets that end as the answer.
    private func write(_ line: [UInt8], within time: Duration) {
        let deadline = DispatchTime.after(time)
        let bytes = line + [UInt8(ascii: "\n")]
        var rest = bytes[...]
        while !rest.isEmpty {
            do throws(SystemError) {
                rest = rest.dropFirst(try child.write(rest))
            } catch {
                // It has closed its input, or ended: the thread that reads finds out which.
                return
            }
            if rest.isEmpty { return }
            let left = deadline.millisecondsLeft
            guard left > 0, child.waitForRoom(milliseconds: left) else {
                return kill(because: .silence("read its input", time))
            }
        }
    }

    /// Logs that something it asked for, without wanting an answer, was not done.
    func complain(_ what: String, at now: ContinuousClock.Instant) {
        guard case .show(let dropped) = complaints.withLock({ $0.take(at: now) }) else { return }
        log.warn(dropped > 0 ? "\(what) (and \(dropped) more before)" : what)
    }

    // MARK: Ending it

    /// Kills the process and its group.
    func kill(because reason: ProcessExit.Cause) {
        cause.withLock { $0 = $0 ?? reason }
        child.kill()
    }

    /// Kills it for something it said.
    func violate(_ what: String) { kill(because: .violation(what)) }

    /// Ends it in good order: tells it to and closes its input; where it has not ended in time it gets
    /// SIGTERM, and then is killed.
    ///
    /// - Parameters:
    ///   - time: How long it may take.
    ///   - serve: Answers a request of the process.
    /// - Returns: How it ended.
    func shutDown(
        within time: Duration, serving serve: (RPCRequest, RPCID?) -> Void
    ) -> ProcessExit {
        cause.withLock { $0 = $0 ?? .asked }
        var deadline = DispatchTime.after(time)
        let number = lastNumber.add(1, ordering: .relaxed).newValue
        var json = JSONWriter()
        json.rpcRequest("shutdown", id: RPCID(number)) { $0.object { _ in } }
        queue.beginExchange(number)
        defer { queue.endExchange() }
        output.rest()
        write(json.bytes, within: time)
        child.closeInput()
        var isReported = false
        while true {
            switch queue.next(until: deadline) {
            // What it answers does not matter.
            case .message(.answer): continue
            case .message(.request(let request, let id)): serve(request, id)
            case .end(let end): return end
            case .nothing where !isReported:
                isReported = true
                child.terminate()
                deadline = .after(limits.terminating)
            case .nothing:
                child.kill()
                deadline = .distantFuture
            }
        }
    }
}

// MARK: For the thread that reads

extension ModuleProcess {
    var outputStream: Int32 { child.output.number }
    var errorStream: Int32 { child.error.number }
    /// Readable when it has ended.
    var end: Int32 { child.end.number }

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
        child.closeInput()
        queue.end(end)
    }
}
