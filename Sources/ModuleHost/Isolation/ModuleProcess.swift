import AppService
import Dispatch
import Synchronization

/// One run of a module's program: what it is sent, and what it says.
///
/// A thread of its own reads it from the start to the end. Requests to it, and answers to its requests,
/// come from one thread at a time: whoever is in the module.
final class ModuleProcess: Sendable {
    struct Limits: Hashable, Sendable {
        /// Bytes of a line, without its newline.
        var line = 1 << 20
        /// What of a line of standard error is shown.
        var errorLine = 4096
        var queue = MessageQueue.Limits()
        var output = OutputAllowance.Limits()
        /// Lines of output that want no answer, and of standard error: beyond that they are read more
        /// slowly.
        var reading = Pace.Limits(burst: 20_000, perSecond: 20_000)
        /// How many of its requests that fail and want no answer are logged.
        var complaints = OutputAllowance.Limits(burst: 10, perSecond: 1)
        /// How long a process that has closed its output may take to end.
        var closing: Duration = .seconds(1)
        /// How long a process that was told to end by SIGTERM may take.
        var terminating: Duration = .seconds(2)
    }

    /// What somebody is told of a process.
    struct Observer: Sendable {
        /// A line of standard error, or of the process's log.
        ///
        /// On the thread that reads.
        let onLine: @Sendable (LogLevel, String) -> Void
        /// There is something to take, or the process has ended, and nobody is in an exchange.
        ///
        /// Not again before all was taken. On any thread.
        let onMail: @Sendable (ModuleProcess) -> Void
    }

    let startedAt: ContinuousClock.Instant
    let queue: MessageQueue
    let limits: Limits
    private let child: ChildProcess
    /// Whether it says more than it may at a time, and so is read slowly.
    let isFlooding = Atomic(false)
    private let lastNumber = Atomic(0)
    private let complaints: Guarded<OutputAllowance>
    private let onLine: @Sendable (LogLevel, String) -> Void
    /// Why this process kills the child, if it does: the first reason counts.
    private let cause = Guarded<ModuleEnd.Cause?>(nil)
    private let exit: ChildExit

    var processID: Int32 { child.processID }

    private init(
        _ child: ChildProcess, _ exit: ChildExit, _ queue: MessageQueue,
        at start: ContinuousClock.Instant, _ limits: Limits, telling observer: Observer
    ) {
        complaints = Guarded(OutputAllowance(limits.complaints, at: start))
        onLine = observer.onLine
        self.child = child
        self.exit = exit
        self.queue = queue
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
    ///   - observer: Who is told of it.
    /// - Returns: The process; whatever it says from now on is read.
    /// - Throws: ``SystemError`` where it cannot be started.
    static func start(
        _ command: [String], environment: [String: String], in folder: String?,
        time: any TimeSource, limits: Limits = Limits(), telling observer: Observer
    ) throws(SystemError) -> ModuleProcess {
        let exit = ChildExit(wake: try WakeSignal())
        let child = try ChildProcess.start(command, environment: environment, in: folder) {
            exit.note($0)
        }
        let reference = WeakProcess()
        let queue = MessageQueue(limits.queue) {
            if let process = reference.process { observer.onMail(process) }
        } resume: {
            exit.wake.give()
        }
        let process = ModuleProcess(child, exit, queue, at: time.now(), limits, telling: observer)
        reference.process = process
        do throws(SystemError) {
            try NativeThread.start(name: "module", stackSize: 512 << 10) {
                var reading = ModuleReading(process, observer, time: time)
                reading.run()
            }
        } catch {
            child.kill()
            throw error
        }
        return process
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
    ///   - parameters: Writes the parameters.
    /// - Returns: The answer: a result, or the error that the process says.
    /// - Throws: ``ModuleEnd`` where the process has ended, or ends before it answers.
    func exchange(
        _ method: String, within time: Duration,
        serving serve: (RPCRequest, RPCID?) -> Void,
        _ parameters: (inout JSONWriter) -> Void
    ) throws(ModuleEnd) -> Result<JSONValue, RPCError> {
        let number = lastNumber.add(1, ordering: .relaxed).newValue
        var json = JSONWriter(capacity: 256)
        json.rpcRequest(method, id: RPCID(number), parameters)
        queue.beginExchange(number)
        defer { queue.endExchange() }
        var deadline = DispatchTime.now() + time
        write(json.bytes, within: time)
        while true {
            switch queue.next(until: deadline) {
            case .message(.answer(number, let result)): return result
            case .message(.answer(let other, _)):
                // Of two requests, one in the other, the outer one: the inner one stays unanswered for ever.
                violate("answered request \(other) before request \(number), which came after it")
                deadline = .distantFuture
            case .message(.request(let request, let id)): serve(request, id)
            case .end(let end): throw end
            case .nothing:
                kill(because: .silence("answer '\(method)'", time))
                deadline = .distantFuture
            }
        }
    }

    /// Sends an answer, or a notification.
    func send(_ line: [UInt8], within time: Duration) { write(line, within: time) }

    /// Writes a line.
    ///
    /// Where the process does not take it in time it is killed, which whoever waits for an answer is told.
    private func write(_ line: [UInt8], within time: Duration) {
        let deadline = DispatchTime.now() + time
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
            let left = deadline.milliseconds(since: DispatchTime.now())
            guard left > 0, child.waitForRoom(milliseconds: left) else {
                return kill(because: .silence("read its input", time))
            }
        }
    }

    /// Logs that something it asked for, without wanting an answer, was not done.
    func complain(_ what: String, at now: ContinuousClock.Instant) {
        guard case .show(let dropped) = complaints.withLock({ $0.take(at: now) }) else { return }
        onLine(.warning, dropped > 0 ? "\(what) (and \(dropped) more before)" : what)
    }

    // MARK: Ending it

    /// Kills the process and its group.
    func kill(because reason: ModuleEnd.Cause) {
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
    ) -> ModuleEnd {
        cause.withLock { $0 = $0 ?? .asked }
        var deadline = DispatchTime.now() + time
        let number = lastNumber.add(1, ordering: .relaxed).newValue
        var json = JSONWriter()
        json.rpcRequest("shutdown", id: RPCID(number)) { $0.object { _ in } }
        queue.beginExchange(number)
        defer { queue.endExchange() }
        write(json.bytes, within: time)
        child.closeInput()
        var isTold = false
        while true {
            switch queue.next(until: deadline) {
            // What it answers does not matter.
            case .message(.answer): continue
            case .message(.request(let request, let id)): serve(request, id)
            case .end(let end): return end
            case .nothing where !isTold:
                isTold = true
                child.terminate()
                deadline = DispatchTime.now() + limits.terminating
            case .nothing:
                child.kill()
                deadline = .distantFuture
            }
        }
    }
}

// MARK: For the thread that reads

extension ModuleProcess {
    var output: Int32 { child.output.number }
    var error: Int32 { child.error.number }
    /// Given when it has ended, and when there is room for what it says.
    var wake: WakeSignal { exit.wake }

    var hasExited: Bool { exit.code != nil }

    func readOutput(into buffer: inout [UInt8]) -> ChildProcess.Reception {
        ChildProcess.read(child.output, into: &buffer)
    }

    func readError(into buffer: inout [UInt8]) -> ChildProcess.Reception {
        ChildProcess.read(child.error, into: &buffer)
    }

    func finish(_ lastLines: [String]) {
        let end = ModuleEnd(
            processID: processID, cause: cause.withLock { $0 } ?? .itself,
            exit: exit.code ?? .code(0), lastLines: lastLines)
        child.closeInput()
        queue.end(end)
    }
}

/// How a child ended, for the thread that reads it.
private final class ChildExit: Sendable {
    let wake: WakeSignal
    private let exit = Guarded<ChildProcess.Exit?>(nil)

    init(wake: WakeSignal) { self.wake = wake }

    var code: ChildProcess.Exit? { exit.withLock { $0 } }

    func note(_ code: ChildProcess.Exit) {
        exit.withLock { $0 = code }
        wake.give()
    }
}

/// A process, for what is made before it.
private final class WeakProcess: Sendable {
    private struct Reference {
        weak var process: ModuleProcess?
    }

    private let reference = Guarded(Reference())

    var process: ModuleProcess? {
        get { reference.withLock { $0.process } }
        set { reference.withLock { $0.process = newValue } }
    }
}

extension DispatchTime {
    fileprivate static func + (time: DispatchTime, duration: Duration) -> DispatchTime {
        time + DispatchTimeInterval.nanoseconds(duration.wholeNanoseconds)
    }

    /// Rounded up: not to be asked for a wait of no time.
    fileprivate func milliseconds(since start: DispatchTime) -> Int32 {
        guard self > start else { return 0 }
        let nanoseconds = uptimeNanoseconds - start.uptimeNanoseconds
        return Int32(clamping: (nanoseconds + 999_999) / 1_000_000)
    }
}
