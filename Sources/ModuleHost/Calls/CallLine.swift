/// How a module's calls reach the lane.
///
/// Belongs to the module.
struct CallLine {
    let dispatcher: CallDispatcher
    /// The module that calls.
    let module: ModuleID
    /// Its cell.
    let cell: Cell
    let origin: Origin

    init(_ dispatcher: CallDispatcher, for id: ModuleID, at cell: Cell) {
        self.dispatcher = dispatcher
        module = id
        self.cell = cell
        origin = .local(id)
    }

    /// Makes a call: at once on the lane, else when the lane serves it.
    @inline(__always)
    func call<Result>(_ body: (CallDispatcher, LaneThread) throws -> Result) throws -> Result {
        if let thread = dispatcher.gate.lane.hold {
            do { return try body(dispatcher, thread) } catch is LaneLost {}
        }
        return try callFromElsewhere(body)
    }

    /// A late module calls from its own thread, and waits.
    private func callFromElsewhere<Result>(
        _ body: (CallDispatcher, LaneThread) throws -> Result
    ) throws -> Result {
        let served = dispatcher.gate.lane.serve { thread in
            Swift.Result { try body(dispatcher, thread) }
        }
        guard let served else { throw RouteError.stopped }
        return try served.get()
    }

    /// Runs host code that changes what belongs to the lane.
    func asHost<Result>(_ body: (CallDispatcher) throws -> Result) throws -> Result {
        try call { dispatcher, thread in
            try dispatcher.asHost(on: thread) { Swift.Result { try body(dispatcher) } }.get()
        }
    }

    /// Makes a call once what was accepted before is done, and hands what comes of it to the module.
    ///
    /// - Parameters:
    ///   - body: The call.
    ///   - completion: Code of the module that calls; is not called any more once that is gone.
    func enqueue<Reply: Sendable>(
        _ body: @escaping @Sendable (CallDispatcher, LaneThread) throws -> Reply,
        completion: @escaping (Result<Reply, any Error>) -> Void
    ) {
        let (gate, cell) = (dispatcher.gate, cell)
        let confined = LaneConfined(completion)
        CallJob.enqueue(dispatcher, body) { result in
            gate.lane.enqueue(
                LaneErrand(gate: gate, cell: cell) {
                    confined.value(result)
                } completion: { _ in
                })
        }
    }
}

/// How code that is not on the lane calls.
struct RemoteCallLine: Sendable {
    let dispatcher: LaneConfined<CallDispatcher>
    let origin: Origin

    init(_ line: CallLine) {
        dispatcher = LaneConfined(line.dispatcher)
        origin = line.origin
    }

    func call<Reply: Sendable>(
        _ body: @escaping @Sendable (CallDispatcher, LaneThread) throws -> Reply
    ) async throws -> Reply {
        try await withCheckedThrowingContinuation { continuation in
            CallJob.enqueue(dispatcher.value, body) { continuation.resume(with: $0) }
        }
    }
}

/// A call that the lane makes for somebody who does not stand on it.
///
/// It is answered exactly once: also where the lane is lost in it, at the end of the deadline, or is
/// closed before it comes to it.
final class CallJob<Reply: Sendable>: LaneJob {
    private let dispatcher: LaneConfined<CallDispatcher>
    private let body: @Sendable (CallDispatcher, LaneThread) throws -> Reply
    private let answer: Answer<Reply>

    init(
        _ dispatcher: CallDispatcher, _ answer: Answer<Reply>,
        _ body: @escaping @Sendable (CallDispatcher, LaneThread) throws -> Reply
    ) {
        self.dispatcher = LaneConfined(dispatcher)
        self.body = body
        self.answer = answer
    }

    func run(on thread: LaneThread, after cell: UInt16) {
        let dispatcher = dispatcher.value
        guard cell == 0 else {
            // The module that was called got stuck in it; whoever waits need not.
            let late = dispatcher.gate.lane.cell(cell)?.id
            return answer.give(.failure(late.map(RouteError.tookTooLong) ?? .stopped))
        }
        let result = Result { try body(dispatcher, thread) }
        answer.give(result)
    }

    func abandon() { answer.give(.failure(RouteError.stopped)) }
}

extension CallJob {
    static func enqueue(
        _ dispatcher: CallDispatcher,
        _ body: @escaping @Sendable (CallDispatcher, LaneThread) throws -> Reply,
        answer: @escaping @Sendable (Result<Reply, any Error>) -> Void
    ) {
        dispatcher.gate.lane.enqueue(CallJob(dispatcher, Answer(answer), body))
    }
}

/// Where the outcome of a call goes, once.
final class Answer<Reply: Sendable>: Sendable {
    private let completion: Guarded<(@Sendable (Result<Reply, any Error>) -> Void)?>

    init(_ completion: @escaping @Sendable (Result<Reply, any Error>) -> Void) {
        self.completion = Guarded(completion)
    }

    /// Whoever is let go unanswered was not reached any more.
    deinit { give(.failure(RouteError.stopped)) }

    func give(_ result: Result<Reply, any Error>) {
        let completion = completion.withLock { completion in
            defer { completion = nil }
            return completion
        }
        completion?(result)
    }
}
