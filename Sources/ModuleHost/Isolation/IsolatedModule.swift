import AppService
import Dispatch
import Synchronization

/// A module in a process of its own, as its host sees it: a module like any other, whose every handler asks
/// the process and waits for the answer.
///
/// So it has its place in the order, its deadline, its backlog and its position in the inbox as they all have.
/// A process that has ended is *being overdue*: the handler that finds out gives up the lane, starts the process
/// again, delivers the event that it was handling once more, and catches up on its own thread.
final class IsolatedModule {
    let context: ModuleContext
    let terms: LaunchSpec
    /// The status of its process.
    let metrics: Guarded<ModuleProcessStatus>
    var process: ModuleProcess {
        didSet { current.withLock { $0 = process } }
    }
    /// The process, for other threads.
    private let current: Guarded<ModuleProcess>
    let declaration: ModuleDeclaration
    var policy: RestartPolicy
    /// The events of the app's state that the process has received, for the next process.
    var stage: [EventKind] = []
    /// Whether it has no process any more, and gets none.
    var isGone = false
    /// Whether the lane was given up for a flood that is not over.
    private var hasYieldedToFlood = false
    let posts = PostLimit()
    /// The origins that it may act for.
    private(set) var deliveredOrigins = DeliveredOrigins()
    /// Tells of mail.
    let observer: ModuleProcess.Observer

    /// Waits until the process has said what it is.
    ///
    /// - Throws: ``IsolationError``, ``RouteError``.
    init(_ start: ProcessStart) throws {
        let started = try start.take()
        context = start.context.openInModule()
        terms = start.terms
        observer = start.observer
        (process, declaration) = started
        current = Guarded(process)
        policy = RestartPolicy(terms.restarts)
        metrics = Guarded(ModuleProcessStatus(processID: process.processID))
        do {
            try addRoutes()
        } catch {
            shutDown()
            throw error
        }
        start.reference.openInModule().module = self
    }

    /// Kills a process that was not ended before.
    deinit {
        if !isGone { process.kill(because: .asked) }
    }

    /// Ends the process; takes as long as that takes, at most the time for a step of the stop and two seconds.
    ///
    /// The others go on meanwhile, unless the host stops. As the last that is asked of the module: through the
    /// gate.
    func end() {
        guard !isGone else { return }
        let services = context.host.services
        if !services.waitForStop(within: .zero) { services.yieldLane(again: true) }
        shutDown()
    }

    private func shutDown() {
        isGone = true
        _ = process.shutDown(within: context.host.services.deadlines.stop) { request, id in
            process.refuse(request, id, "the module is let go of")
        }
    }

    /// Kills the process, which comes back as after any death.
    ///
    /// From any thread.
    func kill() { current.withLock { $0 }.kill(because: .demand) }

    private func addRoutes() throws {
        for declared in declaration.routes {
            let route = try AnyRoute(declared) { module, parameters, call in
                guard let module = module as? IsolatedModule else {
                    throw RouteError.otherModule(
                        expected: "IsolatedModule", found: "\(type(of: module))")
                }
                return try module.call(declared, parameters, call)
            }
            try context.router.add(route)
        }
    }

    // MARK: Events

    /// The number of processes that may end at an event before it is no longer delivered, as for the deaths of hosts.
    private static let attempts = Inbox.Limits().attempts

    /// Tells the process of an event.
    ///
    /// - Returns: What it answers.
    func notify(_ event: LifecycleEvent) throws -> JSONValue {
        if isGone { throw IsolationError.gone }
        var isRepeated = event.attempt > 1
        var deaths = 0
        while true {
            let answer: Result<JSONValue, IsolationError>
            do throws(ProcessExit) {
                answer = try exchange(event, isRepeated: isRepeated)
            } catch {
                try restartProcess(after: error, in: event.kind)
                isRepeated = true
                deaths += 1
                guard deaths < Self.attempts || event.kind == .launch else {
                    throw moveToDeadLetters(event, IsolationError.deadly(deaths: deaths, error))
                }
                continue
            }
            note(event.kind)
            return try answer.get()
        }
    }

    /// Puts an event aside that the module cannot receive, if it is durable.
    private func moveToDeadLetters(_ event: LifecycleEvent, _ error: IsolationError)
        -> IsolationError
    {
        if event.entry != nil {
            _ = context.host.services.putAsideEventInHand(of: context.slot, because: "\(error)")
        }
        return error
    }

    /// Has the others go on while the process takes its time; one that floods does so at each answer, which
    /// is said once.
    private func yieldLane() {
        guard context.host.services.isOnLane else { return }
        let isFlooding = process.isFlooding.load(ordering: .relaxed)
        context.host.services.yieldLane(again: isFlooding && hasYieldedToFlood)
        hasYieldedToFlood = isFlooding
    }

    /// Has the reading thread watch the output again when the lane has nothing more to do.
    private func noteExchange() {
        if !process.isFlooding.load(ordering: .relaxed) { hasYieldedToFlood = false }
        // One that is overdue goes on with the next at once; see ``noteLevel()``.
        guard context.host.services.isOnLane else { return }
        noteLevel()
    }

    /// Has the reading thread watch the output again, since nothing is asked of the process for now.
    ///
    /// On the lane, or the module's own thread.
    func noteLevel() {
        // The module may be overdue again, and about to have another process.
        let output = current.withLock(\.self).output
        guard !output.isRestListed.exchange(true, ordering: .relaxed) else { return }
        context.host.services.whenIdle {
            output.isRestListed.store(false, ordering: .relaxed)
            output.rest()
        }
    }

    func exchange(
        _ event: LifecycleEvent, isRepeated: Bool
    ) throws(ProcessExit) -> Result<JSONValue, IsolationError> {
        defer { noteExchange() }
        deliveredOrigins.note(event.origin)
        let deadline = deadline(of: event.kind)
        // What is launched has its own time, and fails with it.
        let stalling = event.kind == .launch ? {} : yieldLane
        let answer = try process.exchange(
            "event", within: patience(beyond: deadline), serving: serve, stalling: stalling
        ) {
            $0.parameters(
                of: event, for: context.id, deadline: deadline, isRepeated: isRepeated,
                in: declaration.version)
        }
        return answer.mapError { .answered($0.code, $0.description) }
    }

    private func note(_ kind: EventKind) {
        switch kind {
        case .launch: stage = [.launch]
        case .activate: stage = [.launch, .activate]
        case .resignActive, .foreground: stage = [.launch]
        case .background: stage = [.launch, .background]
        default: break
        }
    }

    /// Returns the deadline of the module for an event.
    private func deadline(of kind: EventKind) -> Duration {
        let deadlines = context.host.services.deadlines
        return switch kind {
        case .launch: deadlines.launch
        case .terminate: deadlines.stop
        default: context.slot.deadline ?? deadlines.event
        }
    }

    /// Returns the time after which a process that does not answer is killed.
    private func patience(beyond deadline: Duration) -> Duration {
        context.slot.killAfter.map { max($0, deadline) } ?? deadline * 2
    }

    // MARK: Calls

    /// Calls one of the module's routes.
    ///
    /// A process that ends in the middle of a call fails the call: it is not known whether the module has acted.
    private func call(
        _ route: DeclaredRoute, _ parameters: RouteParameters, _ call: RouteCall
    ) throws -> JSONValue {
        if isGone { throw IsolationError.gone }
        defer { noteExchange() }
        guard call.userInfo.isEmpty else {
            throw HandlerError(error: IsolationError.objects(call.userInfo.keys.sorted()))
        }
        let limit = patience(beyond: context.slot.deadline ?? context.host.services.deadlines.event)
        deliveredOrigins.note(call.origin)
        let answer: Result<JSONValue, RPCError>
        do throws(ProcessExit) {
            answer = try process.exchange(
                "call", within: limit, serving: serve,
                stalling: yieldLane
            ) {
                $0.parameters(of: route, parameters, call, in: declaration.version)
            }
        } catch {
            throw HandlerError(error: IsolationError.ended(error))
        }
        switch answer {
        case .success(let reply): return reply
        case .failure(let error) where error.code == .badParameter:
            throw ParameterFault(crossing: error.detail ?? "", error.message)
        case .failure(let error):
            throw HandlerError(
                error: IsolationError.answered(error.code, error.description))
        }
    }

    /// Asks the process for the root of the app.
    func askForRoot() throws -> String? {
        if isGone { throw IsolationError.gone }
        let limit = patience(beyond: context.host.services.deadlines.launch)
        let answer: Result<JSONValue, RPCError>
        do throws(ProcessExit) {
            answer = try process.exchange("root", within: limit, serving: serve) {
                $0.object { _ in }
            }
        } catch {
            throw IsolationError.ended(error)
        }
        return try answer.mapError { IsolationError.answered($0.code, $0.description) }.get().string
    }

    // MARK: What comes unasked

    /// The number of messages that are taken before others have their turn.
    private static let share = 64

    /// Takes what the process has said; starts it again where it has ended.
    ///
    /// - Returns: Whether there may be more.
    func takeMail() throws -> Bool {
        for _ in 0..<Self.share {
            switch process.queue.next(until: nil) {
            case .message(.request(let request, let id)): serve(request, id)
            // The caller is gone.
            case .message(.answer): break
            case .nothing: return false
            case .end(let end):
                if !isGone { try restartProcess(after: end, in: nil) }
                return false
            }
        }
        return true
    }

    /// Answers a request of the process.
    ///
    /// Other modules do not wait for a process that talks without end: its answer comes behind all that.
    func serve(_ request: RPCRequest, _ id: RPCID?) {
        if process.isFlooding.load(ordering: .relaxed) { yieldLane() }
        process.answer(request, id, for: self)
    }
}
