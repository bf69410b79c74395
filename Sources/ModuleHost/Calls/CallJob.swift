import AppService

/// A call that the lane makes for another thread.
///
/// It is completed exactly once: also where the lane is lost in it, at the end of the deadline, or is closed
/// before the call begins, or while it runs.
final class CallJob<Reply: Sendable>: LaneJob {
    /// The closures of a caller.
    private final class Baggage {
        var call: CallChannel.Call<Reply>?
        var result: Result<Reply, any Error>?

        init(_ call: @escaping CallChannel.Call<Reply>) { self.call = call }
    }

    private let dispatcher: LaneConfined<CallDispatcher>
    /// The slot of the calling module, if a module calls.
    private let caller: ModuleSlot?
    private let baggage: LaneConfined<Baggage>
    private let completion: CallCompletion<Reply>
    /// The answer for a route that answers later; ``completion`` is then called by it.
    private let later: LateAnswer?
    /// Called on the lane, in place of the completion, where a route has taken ``later``.
    private let onSuspension: (@Sendable () -> Void)?
    let durableEvent: InboxEntry?

    init(
        _ dispatcher: LaneConfined<CallDispatcher>, from caller: ModuleSlot? = nil,
        of entry: InboxEntry? = nil, later: LateAnswer? = nil,
        onSuspension: (@Sendable () -> Void)? = nil, _ completion: CallCompletion<Reply>,
        _ call: @escaping CallChannel.Call<Reply>
    ) {
        durableEvent = entry
        self.dispatcher = dispatcher
        self.caller = caller
        baggage = LaneConfined(Baggage(call))
        self.completion = completion
        self.later = later
        self.onSuspension = onSuspension
    }

    func run(on thread: LaneThread, after slot: UInt16) {
        let dispatcher = dispatcher.open(on: thread)
        let gate = dispatcher.gate
        guard slot == 0 else {
            // The called module was stuck in the call; the caller does not wait for it, but a durable event
            // does.
            if let onSuspension, let later, later.isTaken {
                later.limitTime()
                return onSuspension()
            }
            let overdue = gate.lane.slot(slot)?.id
            return completion.finish(.failure(overdue.map(RouteError.tookTooLong) ?? .stopped))
        }
        let baggage = baggage.open(on: thread)
        baggage.result = Result { try baggage.call?(dispatcher.current, thread) }
            .flatMap { $0.map(Result.success) ?? .failure(RouteError.stopped) }
        if let result = baggage.result {
            switch result {
            case .success where later?.isTaken == true: onSuspension?()
            case .success, .failure: completion.finish(result)
            }
        }
        // Objects of modules may be released here, which runs module code: it is entered through the gate.
        guard let caller else { return }
        _ = gate.call(caller, on: thread) { (baggage.call, baggage.result) = (nil, nil) }
    }

    /// Whether a stop may drop the call: not that of a module, whose objects may be released only in its own
    /// code.
    var isDroppable: Bool { caller == nil }

    func abandon() { completion.finish(.failure(RouteError.stopped)) }

    func abandonInHand() { abandon() }
}

extension CallJob {
    static func enqueue(
        _ dispatcher: LaneConfined<CallDispatcher>, through gate: Gate, from caller: ModuleSlot,
        _ call: @escaping CallChannel.Call<Reply>,
        completion: @escaping @Sendable (Result<Reply, any Error>) -> Void
    ) {
        gate.lane.enqueue(CallJob(dispatcher, from: caller, CallCompletion(completion), call))
    }
}

extension CallJob where Reply == any Encodable & Sendable {
    /// Lists a call that waits for a route that answers later.
    static func enqueueAnswered(
        _ dispatcher: LaneConfined<CallDispatcher>, through gate: Gate, from caller: ModuleSlot,
        _ call: @escaping CallChannel.AnsweredCall,
        completion: @escaping @Sendable (Result<Reply, any Error>) -> Void
    ) {
        let completion = CallCompletion(completion)
        let later = LateAnswer { completion.finish($0) }
        gate.lane.enqueue(
            CallJob(dispatcher, from: caller, later: later, completion) {
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
