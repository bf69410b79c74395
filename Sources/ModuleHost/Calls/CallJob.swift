import AppService

/// A call that the lane makes for another thread.
///
/// It is answered exactly once: also where the lane is lost in it, at the end of the deadline, or is
/// closed before it comes to it, or while it stands in it.
final class CallJob<Reply: Sendable>: LaneJob {
    /// The closures of a caller.
    private final class Baggage {
        var call: CallChannel.Call<Reply>?
        var result: Result<Reply, any Error>?

        init(_ call: @escaping CallChannel.Call<Reply>) { self.call = call }
    }

    private let dispatcher: LaneConfined<CallDispatcher>
    /// The slot of the calling module, if it is one.
    private let caller: ModuleSlot?
    private let baggage: LaneConfined<Baggage>
    private let answer: Answer<Reply>
    let durableEvent: InboxEntry?

    init(
        _ dispatcher: LaneConfined<CallDispatcher>, from caller: ModuleSlot? = nil,
        of entry: InboxEntry? = nil,
        _ answer: Answer<Reply>, _ call: @escaping CallChannel.Call<Reply>
    ) {
        durableEvent = entry
        self.dispatcher = dispatcher
        self.caller = caller
        baggage = LaneConfined(Baggage(call))
        self.answer = answer
    }

    func run(on thread: LaneThread, after slot: UInt16) {
        let dispatcher = dispatcher.open(on: thread)
        let gate = dispatcher.gate
        guard slot == 0 else {
            // The module that was called got stuck in it; the caller does not wait for it.
            let overdue = gate.lane.slot(slot)?.id
            return answer.give(.failure(overdue.map(RouteError.tookTooLong) ?? .stopped))
        }
        let baggage = baggage.open(on: thread)
        baggage.result = Result { try baggage.call?(dispatcher.current, thread) }
            .flatMap { $0.map(Result.success) ?? .failure(RouteError.stopped) }
        if let result = baggage.result { answer.give(result) }
        // Objects of modules may end here, in code of theirs, which the host does not run itself.
        guard let caller else { return }
        _ = gate.call(caller, on: thread) { (baggage.call, baggage.result) = (nil, nil) }
    }

    /// Whether a stop may drop the call: not that of a module, whose objects may end in its code alone.
    var isDroppable: Bool { caller == nil }

    func abandon() { answer.give(.failure(RouteError.stopped)) }

    func abandonInHand() { abandon() }
}

extension CallJob {
    static func enqueue(
        _ dispatcher: LaneConfined<CallDispatcher>, through gate: Gate, from caller: ModuleSlot,
        _ call: @escaping CallChannel.Call<Reply>,
        answer: @escaping @Sendable (Result<Reply, any Error>) -> Void
    ) {
        gate.lane.enqueue(CallJob(dispatcher, from: caller, Answer(answer), call))
    }
}

/// The completion of a call: it is called once.
final class Answer<Reply: Sendable>: Sendable {
    private let completion: Guarded<(@Sendable (Result<Reply, any Error>) -> Void)?>

    init(_ completion: @escaping @Sendable (Result<Reply, any Error>) -> Void) {
        self.completion = Guarded(completion)
    }

    /// Answers a call that was released without an answer: it was not reached any more.
    deinit { give(.failure(RouteError.stopped)) }

    func give(_ result: Result<Reply, any Error>) {
        let completion = completion.withLock { completion in
            defer { completion = nil }
            return completion
        }
        completion?(result)
    }
}
