import AppService
import Synchronization

/// The processes of modules that are about to be created, started in parallel, on threads of their own: a module is
/// created when its process has declared itself, so that the lane waits for none.
final class ProcessStarts: Sendable {
    /// The number of processes that start at a time: more would wait for a processor, and that time counts
    /// toward their deadlines.
    private static let width = max(4, 2 * CurrentProcess.processorCount)

    private let starts: [ModuleID: ProcessStart]
    private let line: StartingLine
    /// Whether threads begin the starts.
    private let hasThreads = Atomic(false)

    /// - Parameter starts: The starts in the order in which the modules are created.
    init(_ starts: [ProcessStart]) {
        self.starts = Dictionary(
            starts.map { ($0.introduction.id, $0) }, uniquingKeysWith: { first, _ in first })
        line = StartingLine(starts)
    }

    subscript(module: ModuleID) -> ProcessStart? { starts[module] }

    /// Begins the starts, each as soon as there is room.
    ///
    /// On threads of their own: a program on a disk that does not respond may take any time. Without room for
    /// threads each is begun by the thread that creates its module.
    func begin() {
        for _ in 0..<min(Self.width, starts.count) {
            do throws(SystemError) {
                try NativeThread.start(name: "starter", stackSize: 512 << 10) { [line] in
                    while let start = line.next() { start.begin() }
                }
                hasThreads.store(true, ordering: .relaxed)
            } catch {
                return
            }
        }
    }

    /// Returns whether the process of a module has yet to declare itself, and a thread waits for that.
    func isPending(_ module: ModuleID) -> Bool {
        hasThreads.load(ordering: .relaxed) && starts[module]?.isDone == false
    }

    /// Calls a closure when the start of a module is done; at once where it is, or where the module has none.
    ///
    /// The module is the next one to be created: what its process logs is shown from now on.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - body: Called on any thread; not at all where the start is cancelled before it was begun.
    func whenDone(_ module: ModuleID, _ body: @escaping @Sendable () -> Void) {
        let start = starts[module]
        start?.showLines()
        guard let start, isPending(module) else { return body() }
        start.whenDone(body)
    }

    /// Ends processes that no module has taken; no further one is started.
    func cancel() {
        line.close()
        for start in starts.values { start.cancel() }
    }
}

/// The starts that no thread has begun yet.
private final class StartingLine: Sendable {
    private let starts: Guarded<ArraySlice<ProcessStart>>

    init(_ starts: [ProcessStart]) { self.starts = Guarded(starts[...]) }

    func next() -> ProcessStart? { starts.withLock { $0.popFirst() } }
    func close() { starts.withLock { $0 = [] } }
}

/// The start of one module's process, up to its declaration.
///
/// The first caller begins it; the module takes the result.
final class ProcessStart: Sendable {
    private enum State {
        case waiting
        case begun(ModuleProcess?)
        case taken
        case cancelled
    }

    typealias Started = (process: ModuleProcess, declaration: ModuleDeclaration)

    let introduction: ModuleIntroduction
    let spec: LaunchSpec
    /// The module's context; accessed on the lane alone.
    let context: LaneConfined<ModuleContext>
    let reference: LaneConfined<IsolatedReference>
    let observer: ModuleProcess.Observer
    private let services: HostServices
    private let state = Guarded(State.waiting)
    private let outcome = BlockingFuture<Result<Started, IsolationError>>()
    /// The lines that it logs before its module is created.
    private let lines = DeferredQueue<(LogLevel, String)>()
    private let mail = DeferredQueue<Void>()
    /// The work that waits for the end of the start.
    private let waiting = DeferredQueue<@Sendable () -> Void>()
    private let hasEnded = Atomic(false)
    /// The times at which it was begun and done; nil before.
    var times: (begun: ContinuousClock.Instant?, done: ContinuousClock.Instant?) {
        instants.withLock { $0 }
    }
    private let instants = Guarded<
        (begun: ContinuousClock.Instant?, done: ContinuousClock.Instant?)
    >(
        (nil, nil))
    /// Whether its process has ended on purpose before it declared itself; known when the start is done.
    var hasSucceeded: Bool { succeeded.load(ordering: .relaxed) }
    private let succeeded = Atomic(false)
    private let metrics = Guarded<ModuleProcessStatus?>(nil)

    let traces = DeliveredTraces()

    /// Creates a start; on the lane.
    init(_ context: ModuleContext, _ spec: LaunchSpec) {
        let reference = IsolatedReference()
        observer = IsolatedModule.observer(reference, context, traces)
        self.reference = LaneConfined(reference)
        self.context = LaneConfined(context)
        self.spec = spec
        introduction = ModuleIntroduction(context, spec)
        services = context.host.services
    }

    /// Starts the process and requests its declaration, unless another thread does that already.
    func begin() {
        let isOurs = state.withLock { state in
            guard case .waiting = state else { return false }
            state = .begun(nil)
            return true
        }
        guard isOurs else { return }
        instants.withLock { $0.begun = services.time.now() }
        // A program on a disk that does not respond may take any time: then its module is created, and waits in the
        // place where it can be left behind.
        let alarm = services.time.schedule(after: services.deadlines.launch + spec.limits.closing) {
            [self] in end()
        }
        defer {
            alarm.cancel()
            end()
        }
        let early = ModuleProcess.Observer(
            onLine: { [lines, observer] level, text in
                if !lines.keep((level, text)) { observer.onLine(level, text) }
            },
            onMail: { [mail, observer] process in
                if !mail.keep(()) { observer.onMail(process) }
            },
            onSend: observer.onSend, isLogged: observer.isLogged)
        let result = Result { () throws(IsolationError) in
            try IsolatedModule.start(
                spec, introduction, services, early, saidBefore: nil, noting: note)
        }
        // That of a program that ends; any other is not ready.
        if case .failure(.ended(let end)) = result {
            metrics.withLock { $0?.noteEnd(end) }
            succeeded.store(end.isSuccess, ordering: .relaxed)
        }
        outcome.keep(result)
    }

    private func end() {
        instants.withLock { $0.done = $0.done ?? services.time.now() }
        hasEnded.store(true, ordering: .releasing)
        waiting.release { for body in $0 { body() } }
    }

    /// Whether ``take()`` returns at once, or the start takes too long.
    var isDone: Bool { hasEnded.load(ordering: .acquiring) }

    /// Calls a closure when the start is done; at once where it is.
    func whenDone(_ body: @escaping @Sendable () -> Void) {
        if !waiting.keep(body) { body() }
    }

    /// Notes the process, which has not sent anything yet.
    private func note(_ process: ModuleProcess) {
        let status = ModuleProcessStatus(processID: process.processID, of: spec)
        metrics.withLock { $0 = status }
        let isWanted = state.withLock { state in
            switch state {
            case .cancelled: return false
            case .begun: state = .begun(process)
            case .taken, .waiting: break
            }
            return true
        }
        if !isWanted { process.kill(because: .asked) }
    }

    /// Waits for the start, and returns its result; called once.
    ///
    /// In the module.
    func take() throws(IsolationError) -> Started {
        begin()
        // From now on the caller ends the process.
        state.withLock { $0 = .taken }
        showLines()
        guard let outcome = outcome.take() else { throw .gone }
        let started = try outcome.get()
        mail.release { _ in observer.onMail(started.process) }
        return started
    }

    /// Shows what the process has logged, and logs from now on.
    fileprivate func showLines() {
        lines.release { for (level, text) in $0 { observer.onLine(level, text) } }
    }

    /// Ends the process, unless its module has taken it.
    func cancel() {
        let process = state.withLock { state -> ModuleProcess? in
            switch state {
            case .waiting, .cancelled:
                state = .cancelled
                return nil
            case .begun(let process):
                state = .cancelled
                return process
            case .taken: return nil
            }
        }
        process?.kill(because: .asked)
    }

    /// The process; nil where it does not run, or its module has taken it.
    var process: ModuleProcess? {
        state.withLock { if case .begun(let process) = $0 { process } else { nil } }
    }

    /// The status of the process; nil where none was started.
    var status: ModuleProcessStatus? { metrics.withLock { $0 } }

    /// Asks the process of a program to end, which has not declared itself, and waits for that as for a module's.
    ///
    /// Called last of all, through the gate.
    func endProcess() {
        guard let process else { return cancel() }
        state.withLock { $0 = .taken }
        spec.end(process, of: introduction.id, services)
    }
}

/// The facts that a process receives about its module.
struct ModuleIntroduction: Sendable {
    let id: ModuleID
    let app: String
    let currentConfig: JSONValue
    let currentAppConfig: JSONValue
    let stateDirectory: String
    let hostID: String?
    /// The modules whose services a Swift module uses.
    let facadeProviders: [Slatefile.FacadeProvider]
    /// The deadlines that a Swift module watches itself.
    let deadlines: ModuleDeadlines?

    init(_ context: ModuleContext, _ spec: LaunchSpec) {
        id = context.id
        app = context.app
        currentConfig = context.currentConfig
        currentAppConfig = context.currentAppConfig
        stateDirectory = context.stateDirectory
        hostID = context.hostID
        facadeProviders = spec.facadeProviders
        deadlines = spec.isSwift ? ModuleDeadlines(context) : nil
    }
}
