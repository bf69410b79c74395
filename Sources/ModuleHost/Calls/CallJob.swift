import AppService

/// A call that the lane makes for another thread.
///
/// It is completed exactly once: also where the lane is lost in it, at the end of the deadline, or is closed
/// before the call begins, or while it runs.
///
/// Its type does not depend on that of the reply: the compiler does not specialize what the lane calls.
final class CallJob: LaneJob {
    /// Makes the call, and completes it unless its answer comes later.
    ///
    /// Returns the result of a module's call, for the module to release.
    ///
    /// - Throws: ``ModuleIsStarting`` where the call is to be made again.
    private typealias Attempt =
        @Sendable (CallDispatcher, LaneThread) throws(ModuleIsStarting) -> (any Sendable)?

    /// The objects of a caller.
    private final class Baggage {
        var attempt: Attempt?
        var result: (any Sendable)?
        /// The rest of a call that has waited for a module.
        var resumption: CallDispatcher.Resumption?

        init(_ attempt: @escaping Attempt) { self.attempt = attempt }
    }

    private let gate: Gate
    /// The dispatcher; nil where ``run(by:on:)`` receives it.
    private let dispatcher: LaneConfined<CallDispatcher>?
    /// The slot of the calling module, if a module calls.
    private let caller: ModuleSlot?
    private let baggage: LaneConfined<Baggage>
    private let completion: any CompletionOfCall
    /// The answer for a route that answers later; ``completion`` is then called by it.
    private let later: LateAnswer?
    /// Called on the lane, in place of the completion, where a route has taken ``later``.
    private let onSuspension: (@Sendable () -> Void)?
    let durableEvent: InboxEntry?
    let trace: TraceContext?

    /// - Parameters:
    ///   - gate: The way into modules.
    ///   - dispatcher: The dispatcher; nil where ``run(by:on:)`` receives it.
    ///   - caller: The calling module, if a module calls.
    ///   - entry: The durable event that is done when the call is.
    ///   - trace: The trace that the call is a part of.
    ///   - later: The answer for a route that answers later.
    ///   - onSuspension: Called on the lane, in place of the completion, where a route has taken `later`.
    ///   - completion: Called once, on any thread.
    ///   - call: The call.
    init<Reply: Sendable>(
        through gate: Gate, by dispatcher: LaneConfined<CallDispatcher>? = nil,
        from caller: ModuleSlot? = nil, of entry: InboxEntry? = nil, trace: TraceContext? = nil,
        later: LateAnswer? = nil,
        onSuspension: (@Sendable () -> Void)? = nil, _ completion: CallCompletion<Reply>,
        _ call: @escaping CallChannel.Call<Reply>
    ) {
        (durableEvent, self.trace) = (entry, trace)
        self.gate = gate
        self.dispatcher = dispatcher
        self.caller = caller
        self.completion = completion
        self.later = later
        self.onSuspension = onSuspension
        baggage = LaneConfined(
            Baggage { [isModule = caller != nil] dispatcher, thread throws(ModuleIsStarting) in
                let result = Result { try call(dispatcher.current, thread) }
                if case .failure(let starting as ModuleIsStarting) = result { throw starting }
                if case .success = result, let later, later.isTaken {
                    if let onSuspension {
                        onSuspension()
                    } else {
                        // A caller that cancels the call ends it before the answer.
                        completion.whenFinished { [weak later] in later?.end(.cancelled) }
                    }
                } else {
                    completion.finish(result)
                }
                return isModule ? result : nil
            })
    }

    func run(on thread: LaneThread, after slot: UInt16) {
        guard slot == 0 else { return goOn(without: slot) }
        guard let calls = dispatcher?.open(on: thread).current else { return abandon() }
        // Its target may not be created yet.
        if caller != nil, calls.onDemand?.keeps(self) == true { return }
        run(by: calls, on: thread, listedAs: self)
    }

    /// Makes the call.
    ///
    /// - Parameters:
    ///   - dispatcher: The dispatcher.
    ///   - thread: The calling thread, which owns the lane.
    ///   - job: The job that is listed again where the call has to wait for a module.
    func run(by dispatcher: CallDispatcher, on thread: LaneThread, listedAs job: any LaneJob) {
        // The caller has cancelled it.
        if caller == nil, completion.isFinished { return }
        let baggage = baggage.open(on: thread)
        let dispatcher = dispatcher.current
        // Taken by the call at its beginning: afterwards the lane may be lost.
        if let rest = baggage.resumption.take() { dispatcher.resumption = rest }
        do {
            baggage.result = try baggage.attempt?(dispatcher, thread)
        } catch {
            baggage.resumption = dispatcher.resumption.take()
            guard let onDemand = dispatcher.onDemand else { return abandon() }
            return onDemand.wait(job, for: error.module)
        }
        // Objects of modules may be released here, which runs module code: it is entered through the gate.
        guard let caller else { return }
        _ = gate.call(caller, on: thread) { (baggage.attempt, baggage.result) = (nil, nil) }
    }

    /// Ends the wait for a module that was stuck in the call; that of a durable event for an answer goes on.
    private func goOn(without slot: UInt16) {
        if let onSuspension, let later, later.isTaken {
            later.awaitAnswer()
            return onSuspension()
        }
        let overdue = gate.lane.slot(slot)?.id
        completion.fail(overdue.map(RouteError.tookTooLong) ?? .stopped)
    }

    /// Whether a stop may drop the call: not that of a module, whose objects may be released only in its own
    /// code.
    var isDroppable: Bool { caller == nil }

    func abandon() { completion.fail(.stopped) }

    func abandonInHand() { abandon() }
}

extension CallJob {
    /// Lists a call of a module.
    static func enqueue<Reply: Sendable>(
        _ dispatcher: LaneConfined<CallDispatcher>, through gate: Gate, from caller: ModuleSlot,
        _ call: @escaping CallChannel.Call<Reply>,
        completion: @escaping @Sendable (Result<Reply, any Error>) -> Void
    ) {
        gate.lane.enqueue(
            CallJob(
                through: gate, by: dispatcher, from: caller, trace: gate.lane.currentTrace,
                CallCompletion(completion), call))
    }

    /// Lists a call of a module that waits for a route that answers later.
    static func enqueueAnswered(
        _ dispatcher: LaneConfined<CallDispatcher>, through gate: Gate, from caller: ModuleSlot,
        _ call: @escaping CallChannel.AnsweredCall,
        completion: @escaping @Sendable (Result<any Encodable & Sendable, any Error>) -> Void
    ) {
        let completion = CallCompletion(completion)
        let later = LateAnswer { completion.finish($0) }
        gate.lane.enqueue(
            CallJob(
                through: gate, by: dispatcher, from: caller, trace: gate.lane.currentTrace,
                later: later, completion
            ) {
                try call($0, $1, later)
            })
    }
}

/// The completion of a call, which fails with ``RouteError/stopped`` where it is released without a result.
typealias CallCompletion<Reply: Sendable> = Completion<Reply, any Error>

extension Completion where Failure == any Error {
    convenience init(_ handler: @escaping @Sendable (Result<Success, any Error>) -> Void) {
        self.init(orAbandoned: RouteError.stopped, handler)
    }
}

/// The completion of a call, whatever its reply is.
private protocol CompletionOfCall: AnyObject, Sendable {
    var isFinished: Bool { get }
    func fail(_ error: RouteError)
}

extension Completion: CompletionOfCall where Failure == any Error {
    fileprivate func fail(_ error: RouteError) { finish(.failure(error)) }
}
