import AppService
import Dispatch
import Synchronization

/// A module in a process of its own, as its host sees it: a module like any other, each handler of which
/// sends a request to the process and waits for the response.
///
/// So it has a place in the order, a deadline, a backlog and a position in the inbox like every module. A
/// process that has ended is treated as *being overdue*: the handler that detects it yields the lane,
/// restarts the process, delivers the event that it was handling once more, and catches up on its own thread.
final class IsolatedModule {
    let context: ModuleContext
    let spec: LaunchSpec
    /// The status of its process.
    let metrics: Guarded<ModuleProcessStatus>
    var process: ModuleProcess {
        didSet { current.withLock { $0 = process } }
    }
    /// The process, for other threads.
    private let current: Guarded<ModuleProcess>
    let declaration: ModuleDeclaration
    /// Whether it is a Swift module that receives every event.
    let isObserver: Bool
    var policy: RestartPolicy
    /// The events of the app's state that the process has received, for the next process.
    var stage: [EventKind] = []
    /// Whether it has no process any more, and will get none.
    var isGone = false
    /// Whether it has handled `terminate`: its process may end from then on.
    var hasTerminated = false
    /// Whether the lane was yielded for a flood that has not ended.
    private var hasYieldedToFlood = false
    let posts = PostLimit()
    /// The deadlines that the process has, or a former one had.
    private let toldDeadlines: Guarded<ModuleDeadlines>
    /// The origins on whose behalf it may act.
    var deliveredOrigins = DeliveredOrigins()
    let traces: DeliveredTraces
    /// The events that the process has not answered, in the order of their sending, while no thread waits for that.
    var openEvents: [OpenEvent] = []
    /// Whether it is being sent the events that wait for it, one after the other.
    var isGoingOn = false
    let pause: EventPause
    /// The observer that announces messages.
    let observer: ModuleProcess.Observer
    let callWatch: CallWatch
    let eventWatch: EventWatch

    /// Waits for the declaration of the process.
    ///
    /// - Throws: ``IsolationError``, ``RouteError``.
    init(_ start: ProcessStart) throws {
        let started = try start.take()
        context = start.context.openInModule()
        toldDeadlines = Guarded(ModuleDeadlines(context))
        spec = start.spec
        (observer, traces) = (start.observer, start.traces)
        callWatch = CallWatch(context.host.services, context.slot, start.reference)
        eventWatch = EventWatch(context.host.services, context.slot, start.reference)
        pause = EventPause(of: context)
        (process, declaration) = started
        current = Guarded(process)
        context.slot.window = declaration.window ?? 1
        let entry = spec.environment[LaunchSpec.entryVariable]
        let type = entry.flatMap { try? EntryType($0, search: .none).type }
        isObserver = type is any EveryEventResponder.Type
        policy = RestartPolicy(spec.restarts)
        metrics = Guarded(ModuleProcessStatus(processID: process.processID, of: spec))
        context.host.services.ring?.add(.processStarted(Int(process.processID)), of: context.id)
        do {
            try addRoutes()
        } catch {
            isGone = true
            spec.wait(forEndOf: process, of: context.id, context.host.services)
            throw error
        }
        start.reference.openInModule().module = self
    }

    /// Kills a process that has not ended.
    deinit {
        if !isGone { process.kill(because: .asked) }
    }

    /// Ends the process.
    ///
    /// In a stop, all processes end together, and the stop waits for them. While the app runs, this waits for the time for a
    /// step of the stop and two seconds at most, and the other modules go on meanwhile. Called last of all, through the gate.
    func end() {
        guard !isGone else { return }
        isGone = true
        spec.end(process, of: context.id, context.host.services)
    }

    /// Kills the process, which is restarted as after any death.
    ///
    /// From any thread.
    func kill() { current.withLock { $0 }.kill(because: .demand) }

    private func addRoutes() throws {
        for declared in declaration.routes {
            let route = try AnyRoute(declared) { module, parameters, call in
                try Self.module(module).call(declared, parameters, call)
            } beginning: { module, parameters, call, late in
                let module = try Self.module(module)
                if declared.later == true {
                    try module.begin(declared, parameters, call, late)
                } else {
                    try module.beginCall(declared, parameters, call, late)
                }
            }
            try context.router.add(route)
        }
    }

    private static func module(_ object: AnyObject) throws -> IsolatedModule {
        guard let module = object as? IsolatedModule else {
            throw RouteError.otherModule(expected: "IsolatedModule", found: "\(type(of: object))")
        }
        return module
    }

    // MARK: Events

    /// The number of processes that may end in an event before it is no longer delivered, equal to that for
    /// deaths of hosts.
    private static let attempts = Inbox.Limits().attempts

    /// Sends an event to the process, and waits for the answer.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - end: The end of the process that received the event before and has no successor yet; nil for none.
    ///   - wasSent: Whether a process has received it before.
    ///   - isSuspect: Whether that had others to answer, too: its end may be the doing of one of these.
    func notify(
        _ event: LifecycleEvent, after end: ProcessExit? = nil, wasSent: Bool = false,
        isSuspect: Bool = false
    ) throws -> JSONValue {
        if isGone { throw IsolationError.gone }
        // A program that ends is launched as soon as it can be, and not once more with the others.
        if event.kind == .launch, spec.limits.mayEnd, !stage.isEmpty { return .emptyObject }
        var isRepeated = event.isRepeated || wasSent
        var deaths = isSuspect && end != nil ? -1 : 0
        var end = end
        while true {
            let answer: Result<JSONValue, IsolationError>
            // One that ends later has received the event.
            let wasRunning = end != nil || !process.queue.hasEnded
            do throws(ProcessExit) {
                if let end = end.take() { throw end }
                answer = try exchange(event, isRepeated: isRepeated)
            } catch {
                if event.kind == .terminate, wasRunning, let last = try lastAnswer(error) {
                    return last
                }
                try restartProcess(after: error, in: event.kind)
                // It has ended on purpose, which is its answer.
                if isGone { return .emptyObject }
                isRepeated = true
                deaths += 1
                guard deaths < Self.attempts || event.kind == .launch else {
                    throw moveToDeadLetters(event, IsolationError.deadly(deaths: deaths, error))
                }
                continue
            }
            note(event.kind)
            if event.kind == .terminate { hasTerminated = true }
            return try answer.get()
        }
    }

    /// Takes the end of the process for its answer to `terminate`, where it is one.
    ///
    /// - Parameter end: The end of a process that ran when it was sent `terminate`.
    /// - Returns: The answer of a program that has exited, with any code; nil where the process was killed from outside, which
    ///   may have been before it received the event.
    /// - Throws: ``IsolationError`` where the host has killed it, since it did not answer.
    private func lastAnswer(_ end: ProcessExit) throws(IsolationError) -> JSONValue? {
        switch (end.cause, end.exit) {
        case (.itself, .code):
            isGone = true
            return .emptyObject
        case (.silence, _):
            isGone = true
            context.host.services.noteUnfinished(context.id)
            throw .ended(end)
        default: return nil
        }
    }

    /// Moves an event that the module cannot receive to the dead letters, if it is durable.
    private func moveToDeadLetters(_ event: LifecycleEvent, _ error: IsolationError)
        -> IsolationError
    {
        context.host.services.putAside(event, of: context.slot, because: "\(error)")
        return error
    }

    /// Lets the other modules go on while the process is busy; a process that floods its output causes this
    /// at each response, which is logged once.
    private func yieldLane() {
        guard context.host.services.isOnLane else { return }
        let isFlooding = process.isFlooding.load(ordering: .relaxed)
        context.host.services.yieldLane(again: isFlooding && hasYieldedToFlood)
        hasYieldedToFlood = isFlooding
    }

    /// Makes the reading thread watch the output again when the lane has nothing more to do.
    func noteExchange() {
        if !process.isFlooding.load(ordering: .relaxed) { hasYieldedToFlood = false }
        // An overdue module continues with the next event at once; see ``noteLevel()``.
        guard context.host.services.isOnLane else { return }
        noteLevel()
    }

    /// Makes the reading thread watch the output again, since no request will follow for now.
    ///
    /// On the lane, or the module's own thread.
    func noteLevel() {
        // The module may be overdue again, and about to have another process.
        let output = current.withLock(\.self).output
        guard !output.isRestListed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        context.host.services.whenIdle {
            _ = output.isRestListed.exchange(false, ordering: .acquiringAndReleasing)
            output.rest()
        }
    }

    func exchange(
        _ event: LifecycleEvent, isRepeated: Bool
    ) throws(ProcessExit) -> Result<JSONValue, IsolationError> {
        defer {
            traces.end(event.trace)
            noteExchange()
        }
        note(event)
        let deadline = deadline(of: event.kind)
        // The launch has its own deadline, and fails with it.
        let stalling = event.kind == .launch ? {} : yieldLane
        let answer = try process.exchange(
            "event", within: patience(beyond: deadline), serving: serve, stalling: stalling
        ) {
            $0.parameters(
                of: event, for: context.id, deadline: deadline, isRepeated: isRepeated)
        }
        return answer.mapError { .answered($0.code, $0.description) }
    }

    func note(_ kind: EventKind) {
        switch kind {
        case .launch: stage = [.launch]
        case .activate: stage = [.launch, .activate]
        case .resignActive, .foreground: stage = [.launch]
        case .background: stage = [.launch, .background]
        default: break
        }
    }

    /// Returns the deadline of the module for an event.
    func deadline(of kind: EventKind) -> Duration {
        let deadlines = context.host.services.deadlines
        return switch kind {
        case .launch: deadlines.launch
        case .terminate: deadlines.stop
        case .resignActive where context.host.services.isStopping: deadlines.stop
        case .background where context.host.services.isStopping: deadlines.stop
        // It has more time for work that others do not wait for.
        case .background where declaration.window != nil: context.slot.deadline ?? deadlines.stop
        case _ where declaration.window != nil && kind.isWindowed:
            context.slot.deadline ?? deadlines.call
        default: context.slot.deadline ?? deadlines.event
        }
    }

    /// Returns the time after which a process that does not respond is killed.
    func patience(beyond deadline: Duration) -> Duration {
        context.slot.killAfter.map { max($0, deadline) } ?? deadline * 2
    }

    // MARK: Calls

    /// Calls one of the module's routes.
    ///
    /// A process that ends in the middle of a call fails the call: it is not known whether the module has
    /// acted.
    private func call(
        _ route: DeclaredRoute, _ parameters: RouteParameters, _ call: RouteCall
    ) throws -> JSONValue {
        try prepare(call)
        let trace = traceOfCall()
        defer {
            traces.end(trace)
            noteExchange()
        }
        let answer: Result<JSONValue, RPCError>
        do throws(ProcessExit) {
            answer = try process.exchange(
                "call", within: callLimit, serving: serve, stalling: yieldLane
            ) {
                $0.parameters(of: route, parameters, call, trace)
            }
        } catch {
            throw HandlerError(error: IsolationError.ended(error))
        }
        return try Self.reply(answer)
    }

    /// Checks whether a call can cross.
    func prepare(_ call: RouteCall) throws {
        if isGone { throw IsolationError.gone }
        guard call.userInfo.isEmpty else {
            throw HandlerError(error: IsolationError.objects(call.userInfo.keys.sorted()))
        }
        deliveredOrigins.note(call.origin)
    }

    /// The time after which a process that does not respond to a call, or does not read it, is killed.
    var callLimit: Duration {
        patience(beyond: context.slot.deadline ?? context.host.services.deadlines.event)
    }

    /// Returns the reply of a response to a call.
    static func reply(_ answer: Result<JSONValue, RPCError>) throws -> JSONValue {
        switch answer {
        case .success(let reply): return reply
        case .failure(let error) where error.code == .badParameter:
            throw ParameterError(crossing: error.detail ?? "", error.message)
        case .failure(let error):
            throw HandlerError(
                error: IsolationError.answered(error.code, error.description))
        }
    }

    /// Requests the root of the app from the process.
    func askForRoot() throws -> String? { try ask("root") }

    /// Requests from a Swift module what it waits for, such as a timer; nil where it waits for nothing.
    func askForPending() throws -> String? { try ask("pending") }

    private func ask(_ method: String) throws -> String? {
        if isGone { throw IsolationError.gone }
        let limit = patience(beyond: context.host.services.deadlines.launch)
        let answer: Result<JSONValue, RPCError>
        do throws(ProcessExit) {
            answer = try process.exchange(method, within: limit, serving: serve) {
                $0.object { _ in }
            }
        } catch {
            throw IsolationError.ended(error)
        }
        return try answer.mapError { IsolationError.answered($0.code, $0.description) }.get().string
    }

    // MARK: Code that no request waits for

    /// Waits until the process responds, since code of its module has not returned within its deadline.
    ///
    /// The lane goes on without the module, and a process that does not respond in time is killed; its end is the next
    /// message.
    func awaitResponse() {
        // A request waits for it already, with a limit of its own.
        takeAnswers()
        guard !isGone, openEvents.isEmpty, !process.queue.isExchanging else { return }
        let deadline = ModuleDeadlines(context).event
        context.log.error("its code did not return within \(deadline.briefText)")
        if context.host.services.isOnLane { context.host.services.yieldLane(again: false) }
        let limit = patience(beyond: deadline)
        _ = try? process.exchange(
            "pending", within: max(limit - deadline, .milliseconds(100)),
            orEnd: .silence("return from its code", limit), serving: serve
        ) {
            $0.object { _ in }
        }
    }

    /// Tells the process of a Swift module its deadlines, which may have changed.
    ///
    /// From the lane.
    func tellDeadlines() {
        let deadlines = ModuleDeadlines(context)
        let isNew = toldDeadlines.withLock { told in
            defer { told = deadlines }
            return told != deadlines
        }
        guard spec.isSwift, isNew else { return }
        current.withLock { $0 }.notify("deadlines") { deadlines.write(to: &$0) }
    }

    // MARK: Unrequested messages

    /// The number of messages that are handled before other modules have their turn.
    private static let share = 64

    /// Handles messages of the process; restarts it where it has ended.
    ///
    /// - Returns: Whether there may be more.
    func takeMail() throws -> Bool {
        for _ in 0..<Self.share {
            switch process.queue.next(until: nil) {
            case .message(.request(let request, let id)): serve(request, id)
            // The caller no longer waits.
            case .message(.answer): break
            case .nothing: return false
            case .end(let end):
                if hasTerminated { isGone = true }
                // An event that it has not answered brings the end, too.
                if !isGone, openEvents.isEmpty { try restartProcess(after: end, in: nil) }
                return false
            }
        }
        return true
    }

    /// Handles a request of the process.
    ///
    /// Other modules do not wait for a process that floods its output: its response is sent after all of
    /// that.
    func serve(_ request: RPCRequest, _ id: RPCID?) {
        if process.isFlooding.load(ordering: .relaxed) { yieldLane() }
        process.answer(request, id, for: self)
    }
}
